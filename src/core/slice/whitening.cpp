#include "whitening.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "coefficients/prior_density.hpp"
#include "gaussian/make_conditional.hpp"
#include "linalg/dense.hpp"

namespace bsvm {

namespace {

constexpr double kWidestSd = 3;                     // of a theta that the rows do not bound
constexpr double kMostFollowing = 1e6;              // swept effects times coefficients
constexpr double kSteps[] = {-3, -1.5, 0, 1.5, 3};  // of a path, in standard deviations

Mat covariance_of(const Node& node) {
  const Mat factor = node.state.inverse_factor().triangularView<Eigen::Lower>();
  return factor.transpose() * factor;
}

Mat root_of(const Mat& covariance) { return positive_factor(covariance).lower(); }

// The node where theta has most density, and theta's spread there.
struct Middle {
  Node node;
  Vec sd;          // (h)
  Mat covariance;  // (h, h) of these, independent but for parameters among one another
  Mat slope;       // (d, h) of the coefficients' mean in theta
};

// Where a node can't be computed, one without density.
Node beside(Conditional& conditional, const Node& top, const Vec& by) {
  try {
    return conditional.at(top.theta + by, top);
  } catch (const NumericalFailure&) {
    Node out = top;
    out.log_density = -std::numeric_limits<double>::infinity();
    return out;
  }
}

// Parameters of a likelihood or a block, such as a scale and a shape, may be strongly correlated.
void take_parameters(const Model& problem, const Mat& spread, Middle& out) {
  const Index first = PriorDensity(problem).parameter_first(), size = problem.parameters();
  const Vec sd = spread.diagonal().segment(first, size).cwiseSqrt(),
            share = sd.cwiseMin(kWidestSd).cwiseQuotient(sd);
  out.covariance.block(first, first, size, size) =
      share.asDiagonal() * spread.block(first, first, size, size) * share.asDiagonal();
}

// The top is highest in coefficients and theta together, or by a bound; second differences of the
// density of theta say where that is highest.
Middle find_middle(const Model& problem, Conditional& conditional, const Node& top) {
  const Index d = top.state.layout.p, h = top.theta.size();
  const Mat curvature = h > 0 ? conditional.curvature(top) : Mat(0, 0);
  const Mat spread = positive_factor(curvature).inverse();
  Middle out{top, spread.diagonal().cwiseSqrt().cwiseMin(kWidestSd), Mat(), Mat(d, h)};
  Vec middle = top.theta;
  for (Index k = 0; k < h; ++k) {
    const double step = out.sd[k];
    const Vec by = step * Vec::Unit(h, k);
    const Node up = beside(conditional, top, by), down = beside(conditional, top, -by);
    const double rise = (up.log_density - down.log_density) / (2 * step),
                 bend = (2 * top.log_density - up.log_density - down.log_density) / (step * step);
    out.slope.col(k) = (up.state.mean() - down.state.mean()) / (2 * step);
    if (!std::isfinite(rise) || !out.slope.col(k).allFinite()) {
      out.slope.col(k).setZero();
      continue;
    }
    if (bend > 0) out.sd[k] = std::min(kWidestSd, 1 / std::sqrt(bend));
    middle[k] += std::min(std::max(rise * out.sd[k] * out.sd[k], -3 * step), 3 * step);
  }
  out.covariance = out.sd.cwiseAbs2().asDiagonal();
  take_parameters(problem, spread, out);
  try {
    if (h > 0) out.node = conditional.at(middle, top);
  } catch (const NumericalFailure&) {  // the top will do
  }
  return out;
}

// x's means, and how the swept effects follow b and spread about that.
struct Layers {
  Vec centre;  // (x)
  Mat slope;   // (swept, d)
  Vec spread;  // (swept) of one effect a level
};

class Whitener {
 public:
  Whitener(const Problem& problem, const MakeSource& make_source, int threads, Host& host)
      : problem_(problem), unit_(PriorDensity(problem).unit()),
        conditional_(
            make_conditional(problem, make_source, Centre::mode, Options(), threads, host)) {}

  Whitening run() {
    const Node top = conditional_->climb();
    if (conditional_->progress().end == Termination::interrupted) throw Interrupted();
    const Middle middle = find_middle(problem_, *conditional_, top);
    find_places(top.state.layout.p);
    take_moments(middle);
    const double numbers = static_cast<double>(out_.swept.size() * out_.at.size());
    if (problem_.effects() == 0 || (effects_ == 1 && numbers < kMostFollowing)) take_paths(middle);
    return std::move(out_);
  }

 private:
  // The swept factor's effects adjoin; of sparse columns it is the integrated term.
  void find_places(Index d) {
    const Index all = problem_.columns() + problem_.group_coefficients();
    Index first = problem_.columns(), size = 0;
    if (problem_.multipliers) {
      effects_ = problem_.effects();
      size = problem_.group_coefficients();
    } else if (problem_.integrated >= 0) {
      for (Index t = 0; t < problem_.integrated; ++t)
        first += problem_.sparse.terms[t].levels * problem_.sparse.terms[t].effects;
      effects_ = problem_.sparse.terms[problem_.integrated].effects;
      size = problem_.sparse.terms[problem_.integrated].levels * effects_;
    }
    for (Index k = 0; k < all; ++k)
      (k >= first && k < first + size ? out_.swept : out_.at).push_back(k);
    if (static_cast<Index>(out_.at.size()) != d)
      throw InvalidInput("engine", "Slice sampling needs a grouping factor whose effects can be "
                                   "eliminated, and no sparse predictors.");
  }

  Layers layers_of(const Node& found) {
    std::vector<Node> nodes{found};
    conditional_->finish(nodes);
    const Node& node = nodes[0];
    const Index d = node.state.layout.p;
    Layers out{Vec(out_.at.size() + out_.swept.size()), Mat(out_.swept.size(), d),
               Vec(out_.swept.size())};
    for (Index k = 0; k < d; ++k) out.centre[out_.at[k]] = node.state.mean()[k];
    if (!out_.swept.empty()) take_groups(node, out);
    return out;
  }

  void take_groups(const Node& node, Layers& out) const {
    const GroupPosterior& groups = node.groups;
    const Index d = node.state.layout.p, q = groups.mean.rows(), m = groups.mean.cols();
    // An integrated factor's are on the outside scale.
    const bool outside = problem_.integrated >= 0;
    const Vec unit = outside && problem_.multipliers ? problem_.multipliers->unit() : Vec::Ones(q);
    for (Index g = 0; g < m; ++g)
      for (Index a = 0; a < q; ++a) {
        const Index k = g * q + a;
        out.centre[out_.swept[k]] = groups.mean(a, g) / unit[a];
        out.spread[k] = 1 / (std::sqrt(groups.precision(a + a * q, g)) * unit[a]);
        const double* own = groups.regression.data() + g * d * q;
        for (Index j = 0; j < d; ++j)
          out.slope(k, j) = outside ? -own[a + j * q] * unit_[j] / unit[a] : -own[j + a * d];
      }
  }

  void take_moments(const Middle& middle) {
    const Index d = middle.node.state.layout.p, h = middle.sd.size();
    const Layers layers = layers_of(middle.node);
    out_.x = layers.centre;
    out_.centre = middle.node.state.mean();
    out_.theta = middle.node.theta;
    const Mat &spread = middle.covariance, across = middle.slope * spread;
    out_.joint.resize(d + h, d + h);
    out_.joint << covariance_of(middle.node) + across * middle.slope.transpose(), across,
        across.transpose(), spread;
    out_.root = root_of(out_.joint.topLeftCorner(d, d));
    const Mat follow = layers.slope * out_.root;
    out_.axes.resize(layers.centre.size(), d);
    for (Index k = 0; k < d; ++k) out_.axes.row(out_.at[k]) = out_.root.row(k);
    for (size_t k = 0; k < out_.swept.size(); ++k)
      out_.axes.row(out_.swept[k]) = follow.row(static_cast<Index>(k));
  }

  void take_paths(const Middle& middle) {
    Index free = 0;
    for (const auto* slots : {&problem_.priors, &problem_.group_priors})
      for (const PriorSlot& slot : *slots) {
        const Index size = slot.prior->free_size(static_cast<Index>(slot.columns.size()));
        if (size == 1 && !slot.parameter) take_path(free, middle);
        free += size;
      }
  }

  // Where nodes far out can't be computed the sampler does without.
  void take_path(Index free, const Middle& middle) {
    try {
      out_.paths.push_back(path_of(free, middle));
    } catch (const NumericalFailure&) {
    }
  }

  Whitening::Path path_of(Index free, const Middle& middle) {
    Whitening::Path out{free, Vec(5), {}, {}, {}, {}};
    for (int j = 0; j < 5; ++j) {
      Vec theta = middle.node.theta;
      theta[free] += kSteps[j] * middle.sd[free];
      out.theta[j] = theta[free];
      const Node node = kSteps[j] == 0 ? middle.node : conditional_->at(theta, middle.node);
      const Layers layers = layers_of(node);
      out.centre.push_back(layers.centre);
      out.root.push_back(root_of(covariance_of(node)));
      out.follow.push_back(layers.slope * out.root.back());
      out.spread.push_back(layers.spread);
    }
    return out;
  }

  const Problem& problem_;
  Vec unit_;
  std::unique_ptr<Conditional> conditional_;
  Index effects_ = 0;
  Whitening out_;
};

}  // namespace

Whitening whiten(const Problem& problem, const MakeSource& make_source, int threads, Host& host) {
  return Whitener(problem, make_source, threads, host).run();
}

}  // namespace bsvm
