#include "grid.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>

#include "../error.hpp"
#include "../special/functions.hpp"
#include "lattice.hpp"

namespace bsvm {

namespace {

constexpr double kStep = 1.25;       // standard deviations: the sum over them is good to 1e-5
constexpr double kBent = 0.15;       // how far slopes may be from a parabola's
constexpr double kMostSide = 0.9;    // weight of the outer two of three nodes
constexpr size_t kMostSteps = 40;    // a side
constexpr double kDrop = 4.6;        // how far the log density falls until it counts no more
constexpr Index kMostFactorial = 6;  // hyper-parameters of which all corners are visited
constexpr int kMostAttempts = 6;
constexpr double kLeastCurved = 0.05;  // a standard deviation of 4.5
constexpr double kLeastWeight = 0.003;  // of the outer two of three nodes
constexpr double kLeastShare = 0.01;   // of an even share
constexpr Index kMostLattice = 3;      // hyper-parameters
constexpr double kRadius = 1.1;      // of the design, in units of sqrt(h)

// Minus second derivatives that a density near its top can have: eigenvalues of a size and sign
// that a step of design() makes sense with.
Mat mended(const Mat& curvature) {
  if (!curvature.allFinite()) return Mat::Identity(curvature.rows(), curvature.cols());
  const Eigen::SelfAdjointEigenSolver<Mat> eigen(curvature);
  const Vec values = eigen.eigenvalues().cwiseAbs().cwiseMax(kLeastCurved);
  return eigen.eigenvectors() * values.asDiagonal() * eigen.eigenvectors().transpose();
}

Node at(Conditional& conditional, double theta, const Node& from) {
  return visit(conditional, Vec::Constant(1, theta), from);
}

// How the mean changes with theta, from the last two nodes.
void follow(const Node& before, Node& last) {
  if (last.state.layout.p != before.state.layout.p || last.slope.size() > 0) return;
  last.slope = (last.state.mean() - before.state.mean()) / (last.theta[0] - before.theta[0]);
}

// The log density of the next node less the top's: on the parabola through the last three.
double next_height(const Node& top, const std::vector<Node>& nodes) {
  const size_t m = nodes.size();
  if (m < 2) return 0;
  const double last = nodes[m - 1].log_density, before = nodes[m - 2].log_density;
  const double first = m < 3 ? top.log_density : nodes[m - 3].log_density;
  return 3 * last - 3 * before + first - top.log_density;
}

// Nodes from the top's on one side, the top's excluded. `open`: the density counts where it is too
// far to go on.
std::vector<Node> walk(Conditional& conditional, const Node& top, double step,
                       std::vector<Node> nodes, bool& open) {
  open = false;
  while (next_height(top, nodes) > -kDrop) {
    const Node& last = nodes.empty() ? top : nodes.back();
    open = nodes.size() == kMostSteps || last.theta[0] + step - top.theta[0] > kFarthest;
    if (open) break;
    Node next = at(conditional, last.theta[0] + step, last);
    if (next.log_density == kNothing) break;
    follow(last, next);
    nodes.push_back(std::move(next));
  }
  return nodes;
}

// A parabola through the log densities at -a, 0 and a from the top: its slope at 0 and twice its
// bend.
struct Parabola {
  double slope, bend;
  Parabola(const Node& left, const Node& top, const Node& right, double a)
      : slope((right.log_density - left.log_density) / (2 * a)),
        bend((right.log_density + left.log_density - 2 * top.log_density) / (a * a)) {}
};

// Is the density nearly the parabola's, a Gaussian? Where nodes know the slope of their log density
// it must be the parabola's too.
bool is_parabola(const Parabola& through, const Node& left, const Node& right, double a) {
  if (left.pull.size() == 0 || right.pull.size() == 0 || !(through.bend < 0)) return false;
  const auto misses = [&](const Node& node, double at) {
    return std::abs(node.pull[0] - through.slope - through.bend * at) > -kBent * through.bend * a;
  };
  return !misses(left, -a) && !misses(right, a);
}

// Three nodes with the Gaussian's mean and variance. False if they can't have them.
bool three_nodes(const Parabola& through, const Node& left, const Node& top, const Node& right,
                 double a, Approximation& out) {
  const double variance = -1 / through.bend, mean = through.slope * variance;
  const double side = (variance + mean * mean) / (a * a), tilt = mean / a;
  if (!(side < kMostSide && side > std::abs(tilt) + kLeastWeight)) return false;
  out.nodes = {left, top, right};
  out.weights = Eigen::Vector3d((side - tilt) / 2, 1 - side, (side + tilt) / 2);
  out.evidence = top.log_density + 0.5 * (mean * through.slope + kLog2Pi + std::log(variance));
  return true;
}

// Nodes at equal steps, `right` and `left` those that are there already.
void steps(Conditional& conditional, const Node& top, double step, std::vector<Node> right,
           std::vector<Node> left, Approximation& out) {
  bool right_open = false, left_open = false;
  right = walk(conditional, top, step, std::move(right), right_open);
  left = walk(conditional, top, -step, std::move(left), left_open);
  out.unbounded = {right_open};
  std::reverse(left.begin(), left.end());
  out.nodes = std::move(left);
  out.nodes.push_back(top);
  out.nodes.insert(out.nodes.end(), right.begin(), right.end());
  out.weights.resize(static_cast<Index>(out.nodes.size()));
  for (size_t k = 0; k < out.nodes.size(); ++k) out.weights[k] = out.nodes[k].log_density;
  const double best = out.weights.maxCoeff();
  out.weights = (out.weights.array() - best).exp();
  out.evidence = best + std::log(step * out.weights.sum());
}

// One hyper-parameter. The first step is mended until two of them fall about as far as a
// Gaussian's.
void line(Conditional& conditional, const Node& top, double sd, Approximation& out) {
  double step = std::min(kStep * sd, kLongestStep);
  std::vector<Node> right, left;
  for (int attempt = 1;; ++attempt) {
    right = {at(conditional, top.theta[0] + step, top)};
    left = {at(conditional, top.theta[0] - step, top)};
    const double fall = 2 * top.log_density - right[0].log_density - left[0].log_density;
    if (attempt == kMostAttempts || !mend_step(fall, kStep, kLongestStep, step)) break;
  }
  for (auto* side : {&right, &left})
    if (side->back().log_density == kNothing) side->clear();
  if (right.empty() || left.empty())
    return steps(conditional, top, step, std::move(right), std::move(left), out);
  const Parabola through(left[0], top, right[0], step);
  if (is_parabola(through, left[0], right[0], step) &&
      three_nodes(through, left[0], top, right[0], step, out))
    return;
  steps(conditional, top, step, std::move(right), std::move(left), out);
}

// Columns: points at a distance of kRadius sqrt(h): along the axes, then the corners.
Mat design(Index h) {
  const Index corners = h <= kMostFactorial ? Index{1} << h : 0;
  Mat out = Mat::Zero(h, 2 * h + corners);
  for (Index k = 0; k < h; ++k) {
    out(k, 2 * k) = kRadius * std::sqrt(static_cast<double>(h));
    out(k, 2 * k + 1) = -out(k, 2 * k);
  }
  for (Index c = 0; c < corners; ++c)
    for (Index k = 0; k < h; ++k) out(k, 2 * h + c) = (c >> k) & 1 ? kRadius : -kRadius;
  return out;
}

// In units.
void composite(Conditional& conditional, const Vec& unit, const Node& top, const Mat& curvature,
               Approximation& out) {
  const Index h = top.theta.size();
  const Mat points = design(h);
  const Eigen::LLT<Mat> root(curvature);
  out.nodes = {top};
  const double share = 1 / (static_cast<double>(points.cols()) * kRadius * kRadius);
  out.weights = Vec::Constant(points.cols() + 1, share);
  out.weights[0] = 1 - 1 / (kRadius * kRadius);
  Vec heights(points.cols() + 1);
  heights[0] = top.log_density;
  for (Index k = 0; k < points.cols(); ++k) {
    const Vec away = root.matrixU().solve(points.col(k));
    out.nodes.push_back(visit(conditional, top.theta + unit.cwiseProduct(away), top));
    heights[k + 1] = out.nodes.back().log_density + 0.5 * points.col(k).squaredNorm();
  }
  const double best = heights.maxCoeff();
  out.weights.array() *= (heights.array() - best).exp();
  const double logdet = 2 * root.matrixLLT().diagonal().array().log().sum();
  out.evidence = best + 0.5 * (static_cast<double>(h) * kLog2Pi - logdet) +
                 std::log(out.weights.sum()) + unit.array().log().sum();
}

// Nodes that count for nothing go.
void drop_light(Approximation& out) {
  const double least = kLeastShare * out.weights.mean();
  size_t kept = 0;
  for (size_t k = 0; k < out.nodes.size(); ++k) {
    if (!(out.weights[k] >= least)) continue;
    if (kept < k) out.nodes[kept] = std::move(out.nodes[k]);
    out.weights[kept++] = out.weights[k];
  }
  if (kept == 0)
    throw NumericalFailure("The posterior density of the variances is beyond what numbers hold.");
  out.nodes.resize(kept);
  out.weights = Vec(out.weights.head(kept)) / out.weights.head(kept).sum();
}

// Weighted covariance of theta.
Mat spread(const Approximation& of) {
  const Index h = of.nodes[0].theta.size();
  Vec mean = Vec::Zero(h);
  Mat out = Mat::Zero(h, h);
  for (size_t k = 0; k < of.nodes.size(); ++k) mean += of.weights[k] * of.nodes[k].theta;
  for (size_t k = 0; k < of.nodes.size(); ++k) {
    const Vec from = of.nodes[k].theta - mean;
    out += of.weights[k] * from * from.transpose();
  }
  return out;
}

}  // namespace

void keep_only(const Node& top, Approximation& out) {
  const Index h = top.theta.size();
  out.nodes = {top};
  out.weights = Vec::Ones(1);
  out.evidence = top.log_density;
  out.theta_covariance = Mat::Zero(h, h);
  out.unbounded.assign(h, false);
}

void explore(Conditional& conditional, const FreeUnits& units, const Node& top,
             Approximation& out) {
  const Index h = top.theta.size();
  out.unbounded.assign(h, false);
  if (!std::isfinite(top.log_density))
    throw NumericalFailure("The log density at its highest point is beyond what numbers hold.");
  if (h == 0) {
    keep_only(top, out);
    return conditional.finish(out.nodes);
  }
  const Vec& unit = units.unit;
  const Mat curvature =
      mended(unit.asDiagonal() * conditional.curvature(top) * unit.asDiagonal());
  if (h == 1) line(conditional, top, 1 / std::sqrt(curvature(0, 0)), out);
  else if (h <= kMostLattice) lattice(conditional, units, top, curvature, out);
  else composite(conditional, unit, top, curvature, out);
  drop_light(out);
  out.theta_covariance = spread(out);
  conditional.finish(out.nodes);
}

}  // namespace bsvm
