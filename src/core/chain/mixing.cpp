#include "mixing.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "random/slice.hpp"

namespace bsvm {

Mixing::Mixing(const Model& problem, const Coefficients& side, bool together)
    : side_(side), p_(problem.columns()), q_(problem.effects()) {
  Scale all;
  for (const PriorPart& part : side.parts()) {
    if (part.parameter()) continue;
    const Index effects = part.slot.prior->effects();
    if (part.size > 0) scales_.push_back({{&part}});
    for (Index a = 0; effects > 1 && a < effects; ++a) scales_.push_back({{&part}, a});
    all.parts.push_back(&part);
  }
  if (together && all.parts.size() > 1) scales_.push_back(all);
  widths_ = Vec::Constant(static_cast<Index>(scales_.size()) + p_, 0.5);
  shifts_ = Vec::Zero(widths_.size());
}

Vec Mixing::place(const State& state) const {
  Vec out = Vec::Zero(widths_.size());
  out.tail(p_) = state.mean().tail(p_);
  const Vec theta = side_.free(state);
  Index free = 0;
  for (const PriorPart& part : side_.parts()) {
    for (size_t k = 0; part.free_size() == 1 && k < scales_.size(); ++k)
      if (scales_[k].parts.size() == 1 && scales_[k].parts[0] == &part)
        out[static_cast<Index>(k)] = theta[free];
    free += part.free_size();
  }
  return out;
}

void Mixing::run(State& state, LineSource& source, Mat& group_moments, bool tune, bool all,
                 Host& host) {
  Draws random(state.key(), Purpose::move, 0);
  const Index scales = static_cast<Index>(scales_.size());
  const Vec included = side_.included(state).tail(p_);
  Vec precision;  // of the dense coefficients, once the scales have moved
  for (Index k = 0; k < widths_.size(); ++k) {
    if (host.interrupted()) throw Interrupted();
    if (k == scales) precision = side_.precision(state).tail(p_);
    if (widths_[k] < 0 && !all) continue;
    if (k < scales ? is_out(scales_[k], state) : included[k - scales] == 0) continue;
    const double width = std::abs(widths_[k]);
    const double moved =
        k < scales ? scale(scales_[k], width, state, source, group_moments, random)
                   : shift(k - scales, precision[k - scales], width, state, source, random);
    shifts_[k] = moved;
    // A width of three mean moves is about right for a bell.
    if (tune)
      widths_[k] = std::copysign(0.95 * width + 0.05 * std::max(3 * std::abs(moved), 1e-10),
                                 widths_[k]);
  }
  side_.refresh(state);
}

// A block none of whose coefficients is in: there is nothing to scale.
bool Mixing::is_out(const Scale& move, const State& state) const {
  const PriorPart& part = *move.parts[0];
  return move.parts.size() == 1 && part.selects() && side_.inclusion(state, part).sum() == 0;
}

Line Mixing::line_of(const Scale& move, const State& state) const {
  Line line{Vec::Zero(p_), Vec::Zero(q_)};
  for (const PriorPart* part : move.parts)
    for (Index a : part->slot.columns) {
      if (part->group) line.effect[a] = 1;
      else line.dense[a] = state.mean().tail(p_)[a];
    }
  if (move.effect < 0) return line;
  line.effect.setZero();
  line.effect[move.parts[0]->slot.columns[move.effect]] = 1;
  return line;
}

double Mixing::scale(const Scale& move, double width, State& state, LineSource& source,
                     Mat& group_moments, Draws& random) const {
  const Vec square = state.mean().cwiseAbs2();
  std::vector<Moments> moments;
  for (const PriorPart* part : move.parts)
    moments.push_back(side_.moments(*part, square, group_moments));
  const auto log_prior = [&](size_t k, double t) {
    const PriorPart& part = *move.parts[k];
    const auto hyper = side_.hyper(state, part);
    return move.effect < 0 ? part.slot.prior->log_scaled(moments[k], hyper, t)
                           : part.slot.prior->log_stretched(move.effect, hyper, t);
  };
  const Line line = line_of(move, state);
  source.aim(line);
  const double log_t = slice([&](double s) {
    double sum = source.along(std::exp(s) - 1);
    for (size_t k = 0; k < move.parts.size(); ++k) sum += log_prior(k, std::exp(s));
    return sum;
  }, width, random);
  const double t = std::exp(log_t);
  source.move(t - 1);
  state.mean().tail(p_) += (t - 1) * line.dense;
  const Vec factor = (line.effect.array() * (t - 1) + 1).matrix();
  group_moments = factor.asDiagonal() * group_moments * factor.asDiagonal();
  for (const PriorPart* part : move.parts) {
    if (move.effect < 0) part->slot.prior->scale(side_.hyper(state, *part), t);
    else part->slot.prior->stretch(move.effect, side_.hyper(state, *part), t);
  }
  return log_t;
}

double Mixing::shift(Index j, double precision, double width, State& state,
                     LineSource& source, Draws& random) const {
  Line line{Vec::Zero(p_), Vec::Zero(q_)};
  line.dense[j] = 1;
  const Index at = state.layout.p - p_ + j;
  const double now = state.mean()[at];
  source.aim(line);
  const double t = slice([&](double x) {
    return source.along(x) - 0.5 * precision * (now + x) * (now + x);
  }, width, random);
  source.move(t);
  state.mean()[at] += t;
  return t;
}

}  // namespace bsvm
