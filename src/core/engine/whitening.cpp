#include "whitening.hpp"

#include <algorithm>
#include <cmath>

#include "../error.hpp"
#include "joint_prior.hpp"
#include "make_conditional.hpp"
#include "positive_factor.hpp"

namespace bsvm {

namespace {

constexpr double kWidestSd = 3;                     // of a theta that the rows do not bound
constexpr double kSteps[] = {-3, -1.5, 0, 1.5, 3};  // of a path, in standard deviations

Mat covariance_of(const Node& node) {
  const Mat factor = node.state.inverse_factor().triangularView<Eigen::Lower>();
  return factor.transpose() * factor;
}

Mat root_of(const Mat& covariance) { return positive_factor(covariance).matrixL(); }

// The node where theta has most density, and theta's standard deviations there.
struct Middle {
  Node node;
  Vec sd;     // (h)
  Mat slope;  // (d, h) of the coefficients' mean in theta
};

// The top is highest in coefficients and theta together, or by a bound; second differences of the
// density of theta say where that is highest.
Middle find_middle(Conditional& conditional, const Node& top) {
  const Index d = top.state.layout.p, h = top.theta.size();
  const Mat curvature = h > 0 ? conditional.curvature(top) : Mat(0, 0);
  const Vec about = positive_factor(curvature).solve(Mat::Identity(h, h)).diagonal().cwiseSqrt();
  Middle out{top, about.cwiseMin(kWidestSd), Mat(d, h)};
  Vec middle = top.theta;
  for (Index k = 0; k < h; ++k) {
    const double step = out.sd[k];
    const Vec by = step * Vec::Unit(h, k);
    const Node up = conditional.at(top.theta + by, top), down = conditional.at(top.theta - by, top);
    const double rise = (up.log_density - down.log_density) / (2 * step),
                 bend = (2 * top.log_density - up.log_density - down.log_density) / (step * step);
    out.slope.col(k) = (up.state.mean() - down.state.mean()) / (2 * step);
    if (bend > 0) out.sd[k] = std::min(kWidestSd, 1 / std::sqrt(bend));
    middle[k] += std::min(std::max(rise * out.sd[k] * out.sd[k], -3 * step), 3 * step);
  }
  if (h > 0) out.node = conditional.at(middle, top);
  return out;
}

void take_moments(const Middle& middle, Whitening& out) {
  const Index d = middle.node.state.layout.p, h = middle.sd.size();
  out.centre = middle.node.state.mean();
  out.theta = middle.node.theta;
  const Mat spread = middle.sd.cwiseAbs2().asDiagonal(), across = middle.slope * spread;
  out.joint.resize(d + h, d + h);
  out.joint << covariance_of(middle.node) + across * middle.slope.transpose(), across,
      across.transpose(), spread;
  out.root = root_of(out.joint.topLeftCorner(d, d));
}

std::vector<Whitening::Path> take_paths(Conditional& conditional, const Middle& middle) {
  std::vector<Whitening::Path> out;
  for (Index k = 0; k < middle.sd.size(); ++k) {
    Whitening::Path path{k, Vec(5), {}, {}};
    for (int j = 0; j < 5; ++j) {
      Vec theta = middle.node.theta;
      theta[k] += kSteps[j] * middle.sd[k];
      path.theta[j] = theta[k];
      const Node node = kSteps[j] == 0 ? middle.node : conditional.at(theta, middle.node);
      path.centre.push_back(node.state.mean());
      path.root.push_back(root_of(covariance_of(node)));
    }
    out.push_back(std::move(path));
  }
  return out;
}

// Of the swept effects, inside: their means, and minus their regression on b.
struct Swept {
  std::vector<Index> at;
  Vec mean;
  Mat slope;  // (effects, d)
};

Swept swept_of(const Problem& problem, const Node& top, const Vec& unit) {
  Swept out;
  const GroupPosterior& groups = top.groups;
  const bool integrated = problem.integrated >= 0;
  Index first = problem.columns();
  for (Index t = 0; integrated && t < problem.integrated; ++t)
    first += problem.sparse.terms[t].levels * problem.sparse.terms[t].effects;
  const Index d = top.state.layout.p, q = groups.mean.rows(), m = groups.mean.cols();
  out.mean = Eigen::Map<const Vec>(groups.mean.data(), q * m);
  out.slope.resize(q * m, d);
  for (Index k = 0; k < q * m; ++k) out.at.push_back(first + k);
  for (Index g = 0; g < m; ++g) {
    const double* own = groups.regression.data() + g * d * q;
    if (integrated) out.slope.middleRows(g * q, q) = -Eigen::Map<const Mat>(own, q, d);
    else out.slope.middleRows(g * q, q) = -Eigen::Map<const Mat>(own, d, q).transpose();
  }
  if (!integrated) return out;
  const Vec own_unit = problem.multipliers ? problem.multipliers->unit() : Vec::Ones(q);
  for (Index k = 0; k < q * m; ++k) {
    out.mean[k] /= own_unit[k % q];
    out.slope.row(k) = out.slope.row(k).cwiseProduct(unit.transpose()) / own_unit[k % q];
  }
  return out;
}

}  // namespace

Whitening whiten(const Problem& problem, int threads, Host& host) {
  const auto conditional = make_conditional(problem, Centre::mode, Options(), threads, host);
  const Node top = conditional->climb();
  if (conditional->progress().end == Termination::interrupted) throw Interrupted();
  const Middle middle = find_middle(*conditional, top);
  std::vector<Node> nodes{middle.node};
  conditional->finish(nodes);
  Whitening out;
  take_moments(middle, out);
  if (problem.group_coefficients() == 0) out.paths = take_paths(*conditional, middle);
  const Index all = problem.columns() + problem.group_coefficients(), d = out.centre.size();
  out.x = Vec::Zero(all);
  out.axes = Mat::Zero(all, d);
  Vec unit = Vec::Ones(d);
  if (problem.integrated >= 0) unit = JointPrior(problem).unit();
  std::vector<bool> taken(all, false);
  if (problem.group_coefficients() > 0) {
    const Swept swept = swept_of(problem, nodes[0], unit);
    const Mat axes = swept.slope * out.root;
    for (size_t k = 0; k < swept.at.size(); ++k) {
      taken[swept.at[k]] = true;
      out.x[swept.at[k]] = swept.mean[k];
      out.axes.row(swept.at[k]) = axes.row(k);
    }
  }
  for (Index k = 0; k < all; ++k)
    if (!taken[k]) out.at.push_back(k);
  if (static_cast<Index>(out.at.size()) != d)
    throw InvalidInput("engine", "Slice sampling needs a grouping factor whose effects can be "
                                 "eliminated, and no sparse predictors.");
  for (Index k = 0; k < d; ++k) {
    out.x[out.at[k]] = out.centre[k];
    out.axes.row(out.at[k]) = out.root.row(k);
  }
  return out;
}

}  // namespace bsvm
