#include "grid.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "lattice.hpp"
#include "linalg/dense.hpp"
#include "line.hpp"
#include "special/functions.hpp"

namespace bsvm {

namespace {

constexpr Index kMostFactorial = 6;  // hyper-parameters of which all corners are visited
constexpr double kLeastGridCurved = 0.05;  // a standard deviation of 4.5
constexpr double kLeastNodeShare = 0.01;   // of an even share
constexpr Index kMostLattice = 3;      // hyper-parameters
constexpr double kRadius = 1.1;      // of the design, in units of sqrt(h)
constexpr double kThirdMoments = 3;  // the square of where a cubic is seen with its own weight

// Minus second derivatives that a density near its top can have: eigenvalues of a size and sign
// that a step of design() makes sense with.
Mat mended(const Mat& curvature) {
  if (!curvature.allFinite()) return Mat::Identity(curvature.rows(), curvature.cols());
  const SymmetricEigen eigen(curvature);
  return eigen.with(eigen.values.cwiseAbs().cwiseMax(kLeastGridCurved));
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

// How much a departure from the Gaussian at a point counts. Without corners a design of many
// hyper-parameters sees it far out, where c r^3 of an axis is much more than near the top, and one
// point had all the weight. Times 3 over the squared radius it moves the mean along the axis as
// c r^3 does, by 3 c, and the evidence as q r^4 does, by 3 q.
double counted(Index h) {
  if (h <= kMostFactorial) return 1;
  return kThirdMoments / (kRadius * kRadius * static_cast<double>(h));
}

// In units.
void composite(Conditional& conditional, const Vec& unit, const Node& top, const Mat& curvature,
               Approximation& out) {
  const Index h = top.theta.size();
  const Mat points = design(h);
  const Factor root(curvature);
  out.nodes = {top};
  const double share = 1 / (static_cast<double>(points.cols()) * kRadius * kRadius);
  out.weights = Vec::Constant(points.cols() + 1, share);
  out.weights[0] = 1 - 1 / (kRadius * kRadius);
  Vec heights(points.cols() + 1);
  heights[0] = top.log_density;
  for (Index k = 0; k < points.cols(); ++k) {
    Vec away = points.col(k);
    solve_transposed(root.lower(), away);
    out.nodes.push_back(visit(conditional, top.theta + unit.cwiseProduct(away), top));
    heights[k + 1] = out.nodes.back().log_density + 0.5 * points.col(k).squaredNorm();
  }
  heights = heights[0] + counted(h) * (heights.array() - heights[0]);
  const double best = heights.maxCoeff();
  out.weights.array() *= (heights.array() - best).exp();
  out.evidence = best + 0.5 * (static_cast<double>(h) * kLog2Pi - root.logdet()) +
                 std::log(out.weights.sum()) + unit.array().log().sum();
}

// Nodes that count for nothing go; where theta is the log of one standard deviation, those that
// count for nothing in its square either.
void drop_light(bool logarithm, Approximation& out) {
  Vec squares = out.weights;
  if (logarithm)
    for (size_t k = 0; k < out.nodes.size(); ++k)
      squares[k] *= std::exp(2 * (out.nodes[k].theta[0] - out.nodes[0].theta[0]));
  const double least = kLeastNodeShare * out.weights.mean(), few = kLeastNodeShare * squares.mean();
  size_t kept = 0;
  for (size_t k = 0; k < out.nodes.size(); ++k) {
    if (!(out.weights[k] >= least || (logarithm && squares[k] >= few))) continue;
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
             Approximation& out, const LogPrior& prior) {
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
  if (h == 1) line(conditional, top, 1 / std::sqrt(curvature(0, 0)), prior, out);
  else if (h <= kMostLattice) lattice(conditional, units, top, curvature, out);
  else composite(conditional, unit, top, curvature, out);
  drop_light(h == 1 && units.logarithm[0], out);
  out.theta_covariance = spread(out);
  conditional.finish(out.nodes);
}

}  // namespace bsvm
