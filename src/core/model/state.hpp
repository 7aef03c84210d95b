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
  Index variables = 0, given = 0;  // of the imputation model (data/unknowns.hpp), or none
  Index indicators = 0, probits = 0;  // of its mechanism, or none
  Index parameters = 0;  // of the likelihood and the blocks (Problem::parameters())

  Index mean() const { return 9; }
  Index step() const { return mean() + p; }
  Index inverse_factor() const { return step() + p; }
  Index factor() const { return covariance ? p : 0; }
  Index group_prior() const { return inverse_factor() + factor() * factor(); }
  Index hyper_start() const { return group_prior() + q * q; }
  Index scatter_start() const { return hyper_start() + hyper; }
  Index law_start() const { return scatter_start() + scatter; }
  Index law() const { return probit() + probits * (indicators + probits); }
  Index probit() const { return variables * (2 * variables + given); }
  Index parameter_start() const { return law_start() + law(); }
  Index size() const { return parameter_start() + parameters; }
};

// Everything global that a run moves, in one vector, to be sent to wherever the
// rows are. What belongs to a group stays with the rows (data/units.hpp), so the
// State's size does not depend on the number of groups; a checkpoint is this and
// the groups.
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
  // Parameters of the likelihood and then of the blocks, as free numbers: what the rows need to know
  // of `hyper`.
  Eigen::Map<Vec> parameters() { return {x.data() + layout.parameter_start(), layout.parameters}; }
  Eigen::Map<const Vec> parameters() const {
    return {x.data() + layout.parameter_start(), layout.parameters};
  }
  // Of the imputation model (missing/imputation_model.hpp), which says what they mean: (d, d), the
  // same, and (k, d).
  Eigen::Map<Vec> law() { return {x.data() + layout.law_start(), layout.law()}; }
  Eigen::Map<const Vec> law() const { return {x.data() + layout.law_start(), layout.law()}; }
  Eigen::Map<Mat> law_precision() { return law_square(0); }
  Eigen::Map<const Mat> law_precision() const { return law_square(0); }
  Eigen::Map<Mat> law_formed() { return law_square(1); }
  Eigen::Map<const Mat> law_formed() const { return law_square(1); }
  Eigen::Map<Mat> law_mean() {
    return {law_square(2).data(), layout.given, layout.variables};
  }
  Eigen::Map<const Mat> law_mean() const {
    return {law_square(2).data(), layout.given, layout.variables};
  }
  // (q, J) and (q, q) of the mechanism (missing/mechanism.hpp).
  Eigen::Map<Mat> law_probit() {
    return {x.data() + layout.law_start() + layout.probit(), layout.probits, layout.indicators};
  }
  Eigen::Map<const Mat> law_probit() const {
    return {x.data() + layout.law_start() + layout.probit(), layout.probits, layout.indicators};
  }
  Eigen::Map<Mat> law_probit_spread() {
    return {law_probit().data() + law_probit().size(), layout.probits, layout.probits};
  }
  Eigen::Map<const Mat> law_probit_spread() const {
    return {law_probit().data() + law_probit().size(), layout.probits, layout.probits};
  }

 private:
  Eigen::Map<Mat> law_square(Index number) {
    const Index d = layout.variables;
    return {x.data() + layout.law_start() + number * d * d, d, d};
  }
  Eigen::Map<const Mat> law_square(Index number) const {
    const Index d = layout.variables;
    return {x.data() + layout.law_start() + number * d * d, d, d};
  }
};

}  // namespace bsvm
