#include "path_move.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "linalg/dense.hpp"
#include "random/slice.hpp"

namespace bsvm {

PathMove::PathMove(const Whitening& white, const Whitening::Path& path, const Coefficients& side)
    : white_(white), path_(path), side_(side), e_(white.swept.size()), x_(path.centre.size()),
      f_(path.centre.size()) {
  Index first = 0;
  for (const PriorPart& part : side.parts()) {
    if (first == path.free && part.free_size() > 0) part_ = &part;
    first += part.free_size();
  }
}

PathMove::Place PathMove::place(double theta) const {
  const Index last = path_.theta.size() - 2;
  Index k = 0;
  while (k < last && theta > path_.theta[k + 1]) ++k;
  const double share = (theta - path_.theta[k]) / (path_.theta[k + 1] - path_.theta[k]);
  return {k, std::min(std::max(share, 0.0), 1.0)};
}

// (z, e) of x.
void PathMove::find_noise(const Vec& x, const Place& at) {
  const Vec away = x - mix(path_.centre, at);
  z_.resize(white_.at.size());
  for (Index k = 0; k < z_.size(); ++k) z_[k] = away[white_.at[k]];
  const Mat root = mix(path_.root, at);
  solve_lower(root, z_);
  const Vec spread = mix(path_.spread, at),
            follow = (1 - at.share) * (path_.follow[at.first] * z_) +
                     at.share * (path_.follow[at.first + 1] * z_);
  for (Index k = 0; k < e_.size(); ++k) e_[k] = (away[white_.swept[k]] - follow[k]) / spread[k];
}

double PathMove::log_volume(const Place& at) const {
  const auto& low = path_.root[at.first];
  const auto& high = path_.root[at.first + 1];
  double sum = mix(path_.spread, at).array().log().sum();
  for (Index k = 0; k < low.rows(); ++k)
    sum += std::log((1 - at.share) * low(k, k) + at.share * high(k, k));
  return sum;
}

// x and f at a value of the path.
void PathMove::reach(Index value, const Vec& x, const Predictors& rows) {
  if (x_[value].size() > 0) return;
  Vec& to = x_[value];
  to = path_.centre[value];
  const Vec b = lower_product(path_.root[value], z_);
  for (Index k = 0; k < b.size(); ++k) to[white_.at[k]] += b[k];
  const Vec u = path_.follow[value] * z_ + path_.spread[value].cwiseProduct(e_);
  for (Index k = 0; k < u.size(); ++k) to[white_.swept[k]] += u[k];
  f_[value] = rows.f() + rows.change(to - x);
}

double PathMove::log_prior(const Vec& x, const Predictors& rows, const Vec& theta) const {
  const Index p = x.size() - rows.effects().size();
  const Vec square = x.head(p).cwiseAbs2();
  const Mat group_moments = rows.group_moments(x.tail(x.size() - p));
  double out = 0;
  Index first = 0;
  for (const PriorPart& part : side_.parts()) {
    Vec gradient(part.free_size());
    out += part.slot.prior->log_joint(side_.moments(part, square, group_moments),
                                      theta.segment(first, gradient.size()), gradient);
    first += gradient.size();
  }
  return out;
}

void PathMove::run(State& state, Predictors& rows, Draws& random) {
  Vec theta = side_.free(state), x(state.mean().size() + rows.effects().size());
  x << state.mean(), rows.effects();
  const double now = theta[path_.free];
  find_noise(x, place(now));
  for (auto* each : {&x_, &f_})
    for (Vec& one : *each) one.resize(0);
  const double t = slice([&](double by) {
    theta[path_.free] = now + by;
    if (!possible_variance(std::exp(2 * theta[path_.free])))
      return -std::numeric_limits<double>::infinity();
    const Place at = place(theta[path_.free]);
    reach(at.first, x, rows);
    reach(at.first + 1, x, rows);
    return rows.value_between(f_[at.first], f_[at.first + 1], at.share) +
           log_prior(mix(x_, at), rows, theta) + log_volume(at);
  }, path_.theta[3] - path_.theta[1], random);
  if (t == 0) return;
  const Place at = place(now + t);
  x = mix(x_, at);
  state.mean() = x.head(state.mean().size());
  rows.effects() = x.tail(rows.effects().size());
  rows.f() = mix(f_, at);
  part_->slot.prior->fix(Vec::Constant(1, now + t), side_.hyper(state, *part_));
  side_.refresh(state);
}

}  // namespace bsvm
