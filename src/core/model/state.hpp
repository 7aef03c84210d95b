#pragma once
#include "base/types.hpp"
#include "random/draws.hpp"

namespace bsvm {

// Names for slices of the State's one vector.
struct Layout {
  Index p = 0;      // dense coefficients
  Index q = 0;      // effects a group has
  Index hyper = 0;  // hyper-parameters of all priors together
  Index scatter = 0;  // p where some coefficients are selected, else 0
  bool covariance = true;  // does the State hold the coefficients' covariance?
  Index latent = 0;       // numbers of what is unknown in the rows' design (a latent), which
  Index latent_sums = 0;  // lays them out itself; and of those that its rows add up; or none
  Index parameters = 0;   // of the likelihood and the blocks (Model::parameters())
  Index leaving = 0;      // priors of whose variance rows have shares (Model::leaving)
  Index large = 0;        // levels that are cut into pieces (Model::large)

  Index mean() const { return 9; }
  Index step() const { return mean() + p; }
  Index inverse_factor() const { return step() + p; }
  Index factor() const { return covariance ? p : 0; }
  Index group_prior() const { return inverse_factor() + factor() * factor(); }
  Index hyper_start() const { return group_prior() + q * q; }
  Index scatter_start() const { return hyper_start() + hyper; }
  Index latent_start() const { return scatter_start() + scatter; }
  Index parameter_start() const { return latent_start() + latent; }
  Index leaving_start() const { return parameter_start() + parameters; }
  Index slopes() const { return leaving_start() + leaving; }
  Index large_start() const { return slopes() + 1; }
  Index large_precision() const { return large_start() + large * q; }
  Index large_regression() const { return large_precision() + large * q * q; }
  Index size() const { return large_regression() + large * p * q; }
};

// Everything global that a run moves, in one vector, to be sent to wherever the
// rows are. What belongs to a group stays with the rows (data/group_states.hpp), but for groups that
// are cut into pieces, so the State's size does not depend on the number of others; a checkpoint is
// this and the groups.
struct State {
  Layout layout;
  Vec x;

  explicit State(const Layout& l) : layout(l), x(Vec::Zero(l.size())) { spread() = 1; }

  // Is there a covariance yet? Before the first pass there is none.
  double& begun() { return x[0]; }
  bool begun() const { return x[0] != 0; }
  // The share of `step` that `mean` includes.
  double& fraction() { return x[1]; }
  double fraction() const { return x[1]; }
  // Sum over groups of log det A_gg under the current covariance.
  double& group_logdet() { return x[2]; }
  double group_logdet() const { return x[2]; }
  // How much of the row's weight is mixed into its curvature, in (0, 1].
  double& damping() { return x[3]; }
  double damping() const { return x[3]; }

  // The bound less the rows' share of it.
  double& prior_value() { return x[4]; }
  double prior_value() const { return x[4]; }

  // What keys the random numbers of a draw, whole numbers below 2^53: the same draws
  // wherever the rows are and however a run was cut.
  double& seed() { return x[5]; }
  double& chain() { return x[6]; }
  double& sweep() { return x[7]; }
  DrawKey key() const {
    return {static_cast<std::uint64_t>(x[5]), static_cast<std::uint32_t>(x[6]),
            static_cast<std::uint64_t>(x[7])};
  }

  // The variance of every linear predictor while there is no covariance.
  double& spread() { return x[8]; }
  double spread() const { return x[8]; }

  Eigen::Map<Vec> mean() { return {x.data() + layout.mean(), layout.p}; }
  Eigen::Map<const Vec> mean() const { return {x.data() + layout.mean(), layout.p}; }
  Eigen::Map<Vec> step() { return {x.data() + layout.step(), layout.p}; }
  Eigen::Map<const Vec> step() const { return {x.data() + layout.step(), layout.p}; }
  // (p, p) lower triangular L^{-1}, with L L' the precision of the dense coefficients
  // (groups' effects integrated out): their covariance is L^{-T} L^{-1}.
  Eigen::Map<Mat> inverse_factor() {
    return {x.data() + layout.inverse_factor(), layout.factor(), layout.factor()};
  }
  Eigen::Map<const Mat> inverse_factor() const {
    return {x.data() + layout.inverse_factor(), layout.factor(), layout.factor()};
  }
  // (q, q) prior precision of a group's effects.
  Eigen::Map<Mat> group_prior() {
    return {x.data() + layout.group_prior(), layout.q, layout.q};
  }
  Eigen::Map<const Mat> group_prior() const {
    return {x.data() + layout.group_prior(), layout.q, layout.q};
  }
  Eigen::Map<Vec> hyper() { return {x.data() + layout.hyper_start(), layout.hyper}; }
  Eigen::Map<const Vec> hyper() const {
    return {x.data() + layout.hyper_start(), layout.hyper};
  }
  // (p) or none: variances of the coefficients in addition to the covariance above, independent
  // of all else: what indicators of selected coefficients contribute (coefficients/selection.hpp).
  Eigen::Map<Vec> scatter() { return {x.data() + layout.scatter_start(), layout.scatter}; }
  Eigen::Map<const Vec> scatter() const {
    return {x.data() + layout.scatter_start(), layout.scatter};
  }
  // Parameters of the likelihood and then of the blocks, as free numbers: what rows need to know of
  // `hyper`.
  Eigen::Map<Vec> parameters() { return {x.data() + layout.parameter_start(), layout.parameters}; }
  Eigen::Map<const Vec> parameters() const {
    return {x.data() + layout.parameter_start(), layout.parameters};
  }
  // Variances of the priors of which rows have shares.
  Eigen::Map<Vec> leaving() { return {x.data() + layout.leaving_start(), layout.leaving}; }
  Eigen::Map<const Vec> leaving() const {
    return {x.data() + layout.leaving_start(), layout.leaving};
  }
  // Which derivatives in parameters are wanted: none, the first (1) or the second ones too (2). They cost
  // as much as several passes.
  double& slopes() { return x[layout.slopes()]; }
  double slopes() const { return x[layout.slopes()]; }
  // Filled in by LargeLevels on the way to the rows. Of each large level as in GroupStates: E u (q, large), then A_gg (q q, large), then B_g' (p q, large).
  Eigen::Map<Mat> large_effect() { return {x.data() + layout.large_start(), layout.q, layout.large}; }
  Eigen::Map<const Mat> large_effect() const {
    return {x.data() + layout.large_start(), layout.q, layout.large};
  }
  Eigen::Map<Mat> large_precision() {
    return {x.data() + layout.large_precision(), layout.q * layout.q, layout.large};
  }
  Eigen::Map<const Mat> large_precision() const {
    return {x.data() + layout.large_precision(), layout.q * layout.q, layout.large};
  }
  Eigen::Map<Mat> large_regression() {
    return {x.data() + layout.large_regression(), layout.p * layout.q, layout.large};
  }
  Eigen::Map<const Mat> large_regression() const {
    return {x.data() + layout.large_regression(), layout.p * layout.q, layout.large};
  }
  Eigen::Map<Vec> latent() { return {x.data() + layout.latent_start(), layout.latent}; }
  Eigen::Map<const Vec> latent() const {
    return {x.data() + layout.latent_start(), layout.latent};
  }
};

}  // namespace bsvm
