#include "path_move.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../random/slice.hpp"

namespace bsvm {

PathMove::PathMove(const Whitening::Path& path, const Coefficients& side)
    : path_(path), side_(side), b_(path.centre.size()), margin_(path.centre.size()) {
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

double PathMove::log_root(const Place& at) const {
  return ((1 - at.share) * path_.root[at.first].diagonal() +
          at.share * path_.root[at.first + 1].diagonal())
      .array()
      .log()
      .sum();
}

// Coefficients and margins at a value of the path.
void PathMove::reach(Index value, const State& state, const Margins& rows) {
  if (b_[value].size() > 0) return;
  b_[value] = path_.centre[value] + path_.root[value].triangularView<Eigen::Lower>() * z_;
  margin_[value] = rows.margin() + rows.change(b_[value] - state.mean());
}

double PathMove::log_prior(const Vec& b, double theta) const {
  double out = 0;
  const Vec square = b.cwiseAbs2();
  Vec free = Vec::Constant(1, theta), gradient(1);
  for (const PriorPart& part : side_.parts()) {
    const bool own = &part == part_;
    if (part.free_size() > 0 && !own) continue;  // its coefficients are another's
    const auto at = free.head(own ? 1 : 0);
    out += part.slot.prior->log_joint(side_.moments(part, square, Mat()), at,
                                      gradient.head(own ? 1 : 0));
  }
  return out;
}

void PathMove::run(State& state, Margins& rows, Draws& random) {
  Vec theta(1);
  part_->slot.prior->free(side_.hyper(state, *part_), theta);
  const Place here = place(theta[0]);
  const Mat root = (1 - here.share) * path_.root[here.first] + here.share * path_.root[here.first + 1];
  z_ = root.triangularView<Eigen::Lower>().solve(state.mean() - between(path_.centre, here));
  for (auto* each : {&b_, &margin_})
    for (Vec& one : *each) one.resize(0);
  const auto log_density = [&](double t) {
    const double to = theta[0] + t;
    if (!possible_variance(std::exp(2 * to))) return -std::numeric_limits<double>::infinity();
    const Place at = place(to);
    reach(at.first, state, rows);
    reach(at.first + 1, state, rows);
    return rows.value_between(margin_[at.first], margin_[at.first + 1], at.share) +
           log_prior(between(b_, at), to) + log_root(at);
  };
  const double width = path_.theta[3] - path_.theta[1];
  const double t = slice(log_density, width, random);
  if (t == 0) return;
  const Place at = place(theta[0] + t);
  state.mean() = between(b_, at);
  rows.margin() = between(margin_, at);
  theta[0] += t;
  part_->slot.prior->fix(theta, side_.hyper(state, *part_));
}

}  // namespace bsvm
