#include "mixing.hpp"

#include <algorithm>
#include <cmath>

#include "slice.hpp"

namespace bsvm {

Mixing::Mixing(const Problem& problem, const Coefficients& side)
    : side_(side), p_(problem.columns()), q_(problem.effects()) {
  Parts all;
  for (const PriorPart& part : side.parts()) {
    if (part.size > 0) scales_.push_back({&part});
    all.push_back(&part);
  }
  if (all.size() > 1) scales_.push_back(all);
  widths_ = Vec::Constant(static_cast<Index>(scales_.size()) + p_, 0.5);
}

void Mixing::run(State& state, DrawSource& source, Mat& group_moments, bool tune) {
  Draws random(state.key(), Purpose::move, 0);
  const Index scales = static_cast<Index>(scales_.size());
  for (Index k = 0; k < widths_.size(); ++k) {
    const double moved =
        k < scales ? scale(scales_[k], widths_[k], state, source, group_moments, random)
                   : shift(k - scales, widths_[k], state, source, random);
    // A width of three mean moves is about right for a bell.
    if (tune) widths_[k] = 0.95 * widths_[k] + 0.05 * std::max(3 * std::abs(moved), 1e-10);
  }
  side_.refresh_group_prior(state);
}

Line Mixing::line_of(const Parts& parts, const State& state) const {
  Line line{Vec::Zero(p_), Vec::Zero(q_)};
  for (const PriorPart* part : parts)
    for (Index a : part->slot.columns) {
      if (part->group) line.effect[a] = 1;
      else line.dense[a] = state.mean().tail(p_)[a];
    }
  return line;
}

double Mixing::scale(const Parts& parts, double width, State& state, DrawSource& source,
                     Mat& group_moments, Draws& random) const {
  const Vec square = state.mean().cwiseAbs2();
  std::vector<Moments> moments;
  for (const PriorPart* part : parts)
    moments.push_back(side_.moments(*part, square, group_moments));
  const Line line = line_of(parts, state);
  source.aim(state, line);
  const double log_t = slice([&](double s) {
    const double t = std::exp(s);
    double sum = source.along(t - 1);
    for (size_t k = 0; k < parts.size(); ++k)
      sum += parts[k]->slot.prior->log_scaled(moments[k], side_.hyper(state, *parts[k]), t);
    return sum;
  }, width, random);
  const double t = std::exp(log_t);
  source.move(state, t - 1);
  state.mean().tail(p_) += (t - 1) * line.dense;
  const Vec factor = (line.effect.array() * (t - 1) + 1).matrix();
  group_moments = factor.asDiagonal() * group_moments * factor.asDiagonal();
  for (const PriorPart* part : parts) part->slot.prior->scale(side_.hyper(state, *part), t);
  return log_t;
}

double Mixing::shift(Index j, double width, State& state, DrawSource& source,
                     Draws& random) const {
  Line line{Vec::Zero(p_), Vec::Zero(q_)};
  line.dense[j] = 1;
  const Index at = state.layout.p - p_ + j;
  const double precision = side_.precision(state)[at], now = state.mean()[at];
  source.aim(state, line);
  const double t = slice([&](double x) {
    return source.along(x) - 0.5 * precision * (now + x) * (now + x);
  }, width, random);
  source.move(state, t);
  state.mean()[at] += t;
  return t;
}

}  // namespace bsvm
