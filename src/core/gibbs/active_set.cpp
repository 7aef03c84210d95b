#include "active_set.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.hpp"
#include "linalg/dense.hpp"
#include "linalg/eigen_modules.hpp"

namespace bsvm {

ActiveSet::ActiveSet(const Equations& equations, std::vector<Index> always,
                     std::vector<Candidate> candidates, Host& host)
    : equations_(equations), host_(host), candidates_(std::move(candidates)),
      active_(std::move(always)), owner_(active_.size(), -1) {
  for (size_t k = 0; k < candidates_.size(); ++k)
    if (candidates_[k].in) {
      active_.push_back(candidates_[k].column);
      owner_.push_back(static_cast<Index>(k));
    }
  factorise();
}

// L, Z and what follows from them, from A itself.
void ActiveSet::factorise() {
  const Index a = static_cast<Index>(active_.size()), m = static_cast<Index>(candidates_.size());
  const Mat columns = equations_.columns(active_);
  const Vec diagonal = equations_.diagonal(), &h = equations_.linear();
  z_.resize(m, a);
  w_.resize(a);
  d_.resize(m);
  r_.resize(m);
  for (Index i = 0; i < a; ++i) w_[i] = h[active_[i]];
  factor_precision([&](Mat& out) {
    out.resize(a, a);
    for (Index i = 0; i < a; ++i) out.row(i) = columns.row(active_[i]);
  }, factor_, host_);
  solve_lower(factor_, w_);
  for (Index k = 0; k < m; ++k) {
    z_.row(k) = columns.row(candidates_[k].column);
    d_[k] = diagonal[candidates_[k].column];
    r_[k] = h[candidates_[k].column];
  }
  z_ = divided_transposed(z_, factor_);
  d_ -= z_.rowwise().squaredNorm();
  r_ -= z_ * w_;
}

double ActiveSet::log_ratio(Index k) const {
  const Candidate& own = candidates_[k];
  const double prior = own.log_odds + 0.5 * std::log(own.precision);
  if (!own.in) {
    const double d = std::max(d_[k], own.precision);  // never less, but for rounding
    return prior + 0.5 * (r_[k] * r_[k] / d - std::log(d));
  }
  if (host_.interrupted()) throw Interrupted();
  const Index place = std::find(owner_.begin(), owner_.end(), k) - owner_.begin(),
              rest = static_cast<Index>(active_.size()) - place;
  Vec x = Vec::Unit(rest, 0);
  solve_lower(factor_.block(place, place, rest, rest), x);
  const double variance = x.squaredNorm(), mean = x.dot(w_.segment(place, rest));
  return prior + 0.5 * (mean * mean / variance + std::log(variance));
}

void ActiveSet::flip(Index k) {
  if (host_.interrupted()) throw Interrupted();
  if (candidates_[k].in) remove(k);
  else add(k);
}

void ActiveSet::grow() {
  const Index room = 2 * static_cast<Index>(active_.size()) + 8;
  factor_.conservativeResize(room, room);
  z_.conservativeResize(Eigen::NoChange, room);
  w_.conservativeResize(room);
}

void ActiveSet::add(Index k) {
  const Index a = static_cast<Index>(active_.size());
  if (a == w_.size()) grow();
  Candidate& own = candidates_[k];
  const double root = std::sqrt(std::max(d_[k], own.precision));
  const Vec row = z_.row(k).head(a);
  factor_.row(a).head(a) = row;
  factor_(a, a) = root;
  w_[a] = r_[k] / root;
  const Mat column = equations_.columns({own.column});
  for (size_t j = 0; j < candidates_.size(); ++j)
    z_(static_cast<Index>(j), a) = column(candidates_[j].column, 0);
  z_.col(a).noalias() -= z_.leftCols(a) * row;
  z_.col(a) /= root;
  d_ -= z_.col(a).cwiseAbs2();
  r_ -= w_[a] * z_.col(a);
  active_.push_back(own.column);
  owner_.push_back(k);
  own.in = true;
}

void ActiveSet::remove(Index k) {
  const Index place = std::find(owner_.begin(), owner_.end(), k) - owner_.begin(),
              last = static_cast<Index>(active_.size()) - 1;
  rotate_out(place);
  active_.erase(active_.begin() + place);
  owner_.erase(owner_.begin() + place);
  candidates_[k].in = false;
  d_ += z_.col(last).cwiseAbs2();
  r_ += w_[last] * z_.col(last);
  z_.row(k).head(last) = factor_.row(last).head(last);
  d_[k] = factor_(last, last) * factor_(last, last);
  r_[k] = factor_(last, last) * w_[last];
}

// Moves a row of L to the end, the rows below up, and turns the columns so that L is triangular
// again; w and Z turn with them.
void ActiveSet::rotate_out(Index place) {
  const Index last = static_cast<Index>(active_.size()) - 1;
  Vec row = Vec::Zero(last + 1);
  row.head(place + 1) = factor_.row(place).head(place + 1);
  for (Index i = place; i < last; ++i) factor_.row(i).head(i + 2) = factor_.row(i + 1).head(i + 2);
  factor_.row(last).head(last + 1) = row;
  for (Index i = place; i < last; ++i) {
    Eigen::JacobiRotation<double> turn;
    turn.makeGivens(factor_(i, i), factor_(i, i + 1));
    factor_.middleRows(i, last - i + 1).applyOnTheRight(i, i + 1, turn);
    z_.applyOnTheRight(i, i + 1, turn);
    w_.applyOnTheLeft(i, i + 1, turn.adjoint());
  }
}

void ActiveSet::scan(Draws& random) {
  std::vector<Index> order(candidates_.size());
  std::iota(order.begin(), order.end(), Index{0});
  for (size_t left = order.size(); left > 0; --left) {
    const double at = random.uniform() * static_cast<double>(left);
    std::swap(order[left - 1], order[static_cast<size_t>(at)]);
    const Index k = order[left - 1];
    const double ratio = log_ratio(k);
    if (std::log(random.uniform()) < (candidates_[k].in ? -ratio : ratio)) flip(k);
  }
}

// The reverse move takes the same candidates out and in, with the same chance of being chosen.
void ActiveSet::swap(Draws& random) {
  const Index always = std::count(owner_.begin(), owner_.end(), -1),
              in = static_cast<Index>(owner_.size()) - always;
  if (in == 0 || in == static_cast<Index>(candidates_.size())) return;
  flip(owner_[always + static_cast<Index>(random.uniform() * static_cast<double>(in))]);
  flip(draw_out(random));
}

// One of the candidates that are out, from p(g with it in).
Index ActiveSet::draw_out(Draws& random) const {
  const Index m = static_cast<Index>(candidates_.size());
  Vec weight(m);
  for (Index k = 0; k < m; ++k)
    weight[k] = candidates_[k].in ? -std::numeric_limits<double>::infinity() : log_ratio(k);
  weight = (weight.array() - weight.maxCoeff()).exp();
  double left = random.uniform() * weight.sum();
  Index chosen = 0, k = 0;
  for (; k < m && left >= 0; ++k) {
    left -= weight[k];
    if (weight[k] > 0) chosen = k;
  }
  return chosen;
}

Vec ActiveSet::solve(ConstVecRef noise) const {
  const Index a = static_cast<Index>(active_.size());
  Vec own = w_.head(a), out = Vec::Zero(noise.size());
  for (Index i = 0; i < a; ++i) own[i] += noise[active_[i]];
  solve_transposed(factor_.topLeftCorner(a, a), own);
  for (Index i = 0; i < a; ++i) out[active_[i]] = own[i];
  return out;
}

// ---- the State's -----------------------------------------------------------------------------

namespace {

constexpr int kScans = 1, kSwaps = 1;  // a sweep

// Of all priors that select, in their order.
std::vector<Candidate> candidates_of(const Coefficients& side, const State& state) {
  const Vec precision = side.precision(state);
  std::vector<Candidate> out;
  for (const PriorPart& part : side.parts()) {
    if (!part.selects()) continue;
    const double log_odds = part.slot.prior->log_odds(side.hyper(state, part));
    const auto g = side.inclusion(state, part);
    for (Index k = 0; k < g.size(); ++k) {
      const Index j = side.extra() + part.slot.columns[k];
      out.push_back({j, log_odds, precision[j], g[k] != 0});
    }
  }
  return out;
}

std::vector<Index> all_but(const std::vector<Candidate>& candidates, Index columns) {
  std::vector<bool> may_leave(columns, false);
  for (const Candidate& candidate : candidates) may_leave[candidate.column] = true;
  std::vector<Index> out;
  for (Index j = 0; j < columns; ++j)
    if (!may_leave[j]) out.push_back(j);
  return out;
}

void write_inclusion(const Coefficients& side, const std::vector<Candidate>& candidates,
                     State& state) {
  size_t next = 0;
  for (const PriorPart& part : side.parts()) {
    if (!part.selects()) continue;
    auto g = side.inclusion(state, part);
    for (Index k = 0; k < g.size(); ++k) g[k] = candidates[next++].in;
  }
}

}  // namespace

Vec draw_selected(const Coefficients& side, const Equations& equations, State& state, Host& host) {
  const Index p = state.layout.p;
  const std::vector<Candidate> before = candidates_of(side, state);
  ActiveSet active_set(equations, all_but(before, p), before, host);
  Draws moves(state.key(), Purpose::dense, 1), random(state.key(), Purpose::dense, 0);
  for (int k = 0; k < kScans; ++k) active_set.scan(moves);
  for (int k = 0; k < kSwaps; ++k) active_set.swap(moves);
  Vec noise(p);
  for (Index j = 0; j < p; ++j) noise[j] = random.normal();
  const Vec drawn = active_set.solve(noise);
  state.step() = drawn - state.mean();
  state.mean() = drawn;
  write_inclusion(side, active_set.candidates(), state);
  return active_set.solve(Vec::Zero(p));
}

SummedEquations::SummedEquations(const Coefficients& side, const State& state, RowSums& sums)
    : precision_(symmetric(sums.weight())) {
  if (!sums.x.allFinite()) refuse_sums();
  precision_.diagonal() += side.precision(state);
  linear_ = side.gradient(state, sums) + precision_ * state.mean();
}

Mat SummedEquations::columns(const std::vector<Index>& which) const {
  Mat out(precision_.rows(), static_cast<Index>(which.size()));
  for (size_t k = 0; k < which.size(); ++k)
    out.col(static_cast<Index>(k)) = precision_.col(which[k]);
  return out;
}

}  // namespace bsvm
