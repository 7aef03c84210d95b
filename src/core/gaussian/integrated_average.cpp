// An Integrated's averages in place of mode and Hessian.
#include <algorithm>
#include <cmath>
#include <limits>

#include "integrated.hpp"
#include "linalg/dense.hpp"
#include "special/functions.hpp"

namespace bsvm {

namespace {

constexpr Index kMostAxes = 128;          // beyond, averages cost too much
constexpr double kNearlyBent = 0.05;      // averages differ little from the mode's values:
constexpr double kNearlyThere = 0.5;      // curvature along any axis, standard deviations
constexpr double kSettled = 0.2;          // they hardly move the node, in both
constexpr int kMostRounds = 16;
constexpr double kLongestMove = 2;        // standard deviations an axis, in one round
constexpr double kMostBent = 4;           // a precision's change in one round

}  // namespace

void Integrated::look_aside(const Vec& b, ConstVecRef theta) {
  ++progress_.passes;
  source_.sums(point(b, theta), Depth::gradient, sums_, host_);
}

// (d, d) whose rows are the node's axes. The rule sees what curves along each and nothing between
// them, so it depends on which they are. Columns of a Cholesky factor would change with the order
// of the terms and with contrasts; these do not: e_k'C'C e_l = 0 for k != l, C the rows' design, as
// well as e_k'H e_l = 0, which holds in any coordinates of b. `turn` (d, d) gives them from the
// inverse factor.
Mat Integrated::axes(const Mat& inverse_factor, Mat& turn) {
  if (gram_.size() == 0) gram_ = source_.gram();
  const Mat turned = inverse_factor * symmetric(gram_) * inverse_factor.transpose();
  turn = SymmetricEigen(turned).vectors.transpose();
  return turn * inverse_factor;
}

// From the rows' value and gradient at the node's mean.
Integrated::Average Integrated::average(const Node& node, double value, ConstVecRef gradient) {
  const double reach = std::sqrt(3.0);
  const Vec b = node.state.mean();
  const Mat inverse_factor = node.state.inverse_factor().triangularView<Eigen::Lower>();
  Mat turn;
  const Mat axes = this->axes(inverse_factor, turn);
  Average out{value, gradient, Mat(d_, d_)};
  double highest = value;
  for (Index k = 0; k < d_; ++k) {
    Vec fall = Vec::Zero(d_);
    for (const double side : {-reach, reach}) {
      look_aside(b + side * axes.row(k).transpose(), node.theta);
      out.value += (sums_.value() - value) / 6;
      highest = std::max(highest, sums_.value());
      out.gradient += (sums_.linear().head(d_) - gradient) / 6;
      fall -= side / 6 * sums_.linear().head(d_);
    }
    out.curvature.col(k) = axes * fall;
  }
  out.value = std::min(out.value, highest);  // more than three coefficients: a weight is below zero
  out.curvature = 0.5 * turn.transpose() * (out.curvature + out.curvature.transpose()) * turn;
  const Mat prior = prior_.precision(node.theta);
  const Mat turned = inverse_factor * prior * inverse_factor.transpose();
  out.value += prior_.log_density(b, node.theta) - 0.5 * turned.trace();
  out.gradient -= prior * b;
  out.curvature += turned;
  return out;
}

// The node's Gaussian as these averages have it. Of its log density what the move gains is added if
// they stay what they are, which is known for small moves only.
Integrated::Moved Integrated::move(const Average& average, Node& node) const {
  const SymmetricEigen eigen(average.curvature);
  const Vec bent = eigen.values.cwiseMax(1 / kMostBent).cwiseMin(kMostBent);
  const Mat inverse_factor = node.state.inverse_factor().triangularView<Eigen::Lower>();
  const Vec along = eigen.vectors.transpose() * (inverse_factor * average.gradient);
  const Vec step = along.cwiseQuotient(bent).cwiseMax(-kLongestMove).cwiseMin(kLongestMove);
  Moved out{(bent.array() - 1).abs().maxCoeff(), step.norm(), 0};
  if (std::max(out.bent, out.length) < kSettled)
    out.gain = 0.5 * step.dot(along) + 0.5 * (bent.array() - 1 - bent.array().log()).sum();
  node.state.mean() += inverse_factor.transpose() * (eigen.vectors * step);
  node.state.inverse_factor() =
      solved_lower(positive_factor(eigen.with(bent)).lower(), inverse_factor);
  return out;
}

double Integrated::bound(const Average& average, const Node& node) const {
  return average.value + 0.5 * static_cast<double>(d_) * (kLog2Pi + 1) +
         node.state.inverse_factor().diagonal().array().log().sum() +
         prior_.unit().array().log().sum();
}

// What the top's averages say of all nodes.
void Integrated::learn(Node& top) {
  if (d_ == 0 || d_ > kMostAxes) return;
  const Average here = average(top, top_.rows, top_.row_gradient.head(d_));
  Node moved = top;
  const Moved far = move(here, moved);
  own_average_ = far.bent > kNearlyBent || far.length > kNearlyThere;
  if (own_average_) {
    own_average_ = averaged(top);  // else other nodes keep mode and Hessian
    return;
  }
  shift_ = moved.state.mean() - top.state.mean();
  const Mat before = top.state.inverse_factor().triangularView<Eigen::Lower>();
  const Mat after = moved.state.inverse_factor().triangularView<Eigen::Lower>();
  change_ = changed(before, after);
}

// (d, d) A of A P A' = P_after, where P and P_after are the precisions of these inverse factors.
// Of many such matrices this is the one that is symmetric in the metric of P: another order of the
// coefficients, or other contrasts, leave what it does as it is. With P = L L', M = L^{-1} and
// W = L' P_after^{-1} L it is L W^{-1/2} M.
Mat Integrated::changed(const Mat& before, const Mat& after) {
  const Mat lower = solved_lower(before, Mat::Identity(before.rows(), before.cols()));
  const Mat part = after * lower;
  const SymmetricEigen w(part.transpose() * part);
  return lower * w.with(w.values.cwiseSqrt().cwiseInverse()) * before;
}

// The inverse factor of change_ P change_', P that of this one.
Mat Integrated::changed_factor(const Mat& inverse_factor) const {
  const Mat identity = Mat::Identity(d_, d_);
  const Mat root = change_ * solved_lower(inverse_factor, identity);
  return solved_lower(positive_factor(root * root.transpose()).lower(), identity);
}

// Where averages and Gaussian agree; else the best that was seen, and false.
bool Integrated::averaged(Node& node) {
  Node best = node, now = node;
  best.log_density = -std::numeric_limits<double>::infinity();
  for (int round = 0; round < kMostRounds; ++round) {
    look_aside(now.state.mean(), now.theta);
    const double value = sums_.value();
    const Vec gradient = sums_.linear().head(d_);
    const Average here = average(now, value, gradient);
    now.log_density = bound(here, now);
    record(now.log_density);
    if (!std::isfinite(now.log_density) || !here.curvature.allFinite()) break;
    if (now.log_density > best.log_density) best = now;
    const Moved far = move(here, now);
    if (std::max(far.bent, far.length) >= kSettled) continue;
    now.log_density += far.gain;
    node = now;
    return true;
  }
  node = best;
  return false;
}

}  // namespace bsvm
