#pragma once
#include <functional>
#include <vector>

#include "linalg/cholesky.hpp"
#include "model/problem.hpp"
#include "model/result.hpp"
#include "model/row_sums.hpp"
#include "model/state.hpp"

namespace bsvm {

// q(b, u) on the outside scale, where powers of two are undone.
struct OutsideMoments {
  Vec mean;               // (p)
  Mat covariance;         // (p, p)
  Vec scatter;            // (p) the part of its diagonal that groups do not follow; or none
  GroupPosterior groups;  // regression as (q p, m): B_g itself
};

// Moments of groups from the inside to the outside scale, by the units of the columns (p) and of a
// level's effects (q).
void groups_outside(ConstVecRef unit, ConstVecRef group_unit, GroupPosterior& groups);

// A prior and where its hyper-parameters stand in the State.
struct PriorPart {
  const PriorSlot& slot;
  bool group;         // of group effects, not of dense columns
  Index start, size;

  double count() const {
    return static_cast<double>(static_cast<Index>(slot.columns.size()) * slot.levels) +
           slot.unseen;
  }
  Index free_size() const {
    return slot.prior->free_size(static_cast<Index>(slot.columns.size()));
  }
  bool selects() const { return slot.prior->selects(); }
  bool parameter() const { return slot.parameter; }
};

[[noreturn]] void refuse_sums();       // that are not finite
[[noreturn]] void refuse_precision();  // that is not positive definite

// The Cholesky factor of the precision that `fill` writes: for draws, which may come to where
// nothing but a vague prior holds a coefficient and the precision is singular to rounding. There
// some roundings' worth is added to its diagonal.
void factor_precision(const std::function<void(Mat&)>& fill, Mat& out, Host& host);

// The coefficient side of q(b, u) prod q(hyper): priors, linear systems, and
// the parts of the bound that no row knows of.
class Coefficients {
 public:
  // extra: how many coefficients of the State belong to the source (RowSource::extra).
  // covariance: will their State hold one?
  explicit Coefficients(const Model& problem, Index extra = 0, bool covariance = true);

  Layout layout() const { return layout_; }
  Index extra() const { return extra_; }
  const Vec& tilt() const { return tilt_; }  // (p) inside

  // Priors at their starting values, nothing known of the coefficients.
  State start(ConstVecRef mean) const;

  // What is unknown in the design: its global part moves along with the coefficients.
  const Latent& latent() const { return *problem_.latent; }

  // What the coefficients would become: computed from the sums of a pass.
  struct Proposal {
    Mat inverse_factor;  // (p, p) of the new covariance, as in State
    Vec step;            // (p) step of the mean
    double gradient;     // norm of the objective's gradient in q's own metric, parameters held
  };
  Proposal propose(const State& state, RowSums& sums, Host& host) const;
  // The same where the rows' weight is their curvature too (Use::expected).
  Proposal propose_natural(const State& state, RowSums& sums, Host& host) const;

  // The objective's gradient in the mean, groups eliminated.
  Vec gradient(const State& state, RowSums& sums) const;

  // The best q of the hyper-parameters given the coefficients' second moments
  // (the groups' are `group_moments`, from settle()), and the bound less the rows' share.
  // The step to it is taken `reach` times as far.
  void update_priors(State& state, const Mat& group_moments, double reach) const;

  // The same with the dense coefficients' E b^2 (p), inside, and the log determinant of their
  // covariance, where the State does not hold it.
  void update_priors(State& state, ConstVecRef square, double logdet, const Mat& group_moments,
                     double reach) const;

  // The dense coefficients' alone, boldly: their E b^2 (p) change with the prior variance to the
  // power `follow` (p).
  void update_boldly(State& state, ConstVecRef square, ConstVecRef follow) const;

  // The same for hyper-parameters that are known, theta (prior/prior.hpp), prior by prior:
  // writes them into the State; and the bound less the rows' share with its gradient in theta,
  // log p(theta) included.
  Index free_size() const;
  Vec free(const State& state) const;
  void fix_priors(State& state, ConstVecRef theta) const;
  double value_at(const State& state, const Mat& group_moments, ConstVecRef theta,
                  VecRef gradient) const;
  // The theta that is best for these moments of the coefficients, and for the sums of the rows where
  // these have shares of variances; of parameters of the likelihood and of blocks, which rows
  // decide, as it is.
  Vec best_theta(const State& state, const RowSums& sums, const Mat& group_moments,
                 ConstVecRef theta) const;

  // The gradient in theta of the rows' share of the bound by their shares of variances.
  Vec left_over_pull(const RowSums& sums, ConstVecRef theta) const;
  bool leaves() const { return layout_.leaving > 0; }

  // ---- parameters of the likelihood and of blocks: they stand together in theta

  Index parameters() const { return layout_.parameters; }
  std::vector<Index> single_parameters() const { return problem_.single_parameters(); }
  Index parameter_first() const { return parameter_first_; }  // where they start in theta
  // log p of them, and its gradient.
  double log_parameters(ConstVecRef parameters, VecRef gradient) const;
  // From the sums of a pass at a State, at q as it is: the bound's gradient in them; its norm in
  // the metric of minus the second derivatives; and Newton's step, at most `longest` in each.
  Vec parameter_pull(const State& state, const RowSums& sums) const;
  double parameter_gradient(const State& state, const RowSums& sums) const;
  Vec parameter_step(const State& state, const RowSums& sums, double longest = 1) const;
  void set_parameters(State& state, ConstVecRef parameters) const;

  OutsideMoments outside(const State& state, const GroupPosterior& groups) const;

  // Draws the coefficients given the rows' latent scales: state.mean becomes the draw,
  // state.step how far it went. Returns their conditional mean.
  Vec draw(State& state, RowSums& sums, Host& host) const;
  // Draws the hyper-parameters given the coefficients; group_moments from settle().
  void draw_priors(State& state, const Mat& group_moments) const;
  Vec drawn(const State& state) const;  // what is kept of their draws, prior by prior

  Mat outside_root(const State& state) const;  // L^{-1} of the State's coefficients
  const Vec& units() const { return unit_; }  // (p) outside is inside times these
  Vec outside_mean(ConstVecRef mean) const;  // (p) of the problem's dense coefficients
  void to_outside(VecRef effects) const;     // (all levels' effects)

  const std::vector<PriorPart>& parts() const { return parts_; }
  Moments moments(const PriorPart& part, ConstVecRef square, const Mat& group_square) const;
  Vec second_moments(const State& state) const;  // (p) E b^2, inside
  static Eigen::Map<Vec> hyper(State& state, const PriorPart& part) {
    return {state.hyper().data() + part.start, part.size};
  }
  static Eigen::Map<const Vec> hyper(const State& state, const PriorPart& part) {
    return {state.hyper().data() + part.start, part.size};
  }
  // The g of a prior that selects, draws or under q probabilities; and those of all coefficients
  // (p), inside, one where no prior selects.
  static Eigen::Map<Vec> inclusion(State& state, const PriorPart& part) {
    const Index m = static_cast<Index>(part.slot.columns.size());
    return {hyper(state, part).data() + part.size - m, m};
  }
  static Eigen::Map<const Vec> inclusion(const State& state, const PriorPart& part) {
    const Index m = static_cast<Index>(part.slot.columns.size());
    return {hyper(state, part).data() + part.size - m, m};
  }
  Vec included(const State& state) const;

  Vec precision(const State& state) const;  // prior precision of the State's, inside scale
  void refresh(State& state) const;  // group_prior() and parameters(), after `hyper` changed

 private:
  Index free_start(Index part) const;  // in theta
  double best_leaving(const PriorPart& part, const Moments& moments, double theta,
                      double slope) const;
  double entropy(const State& state, double logdet) const;
  double relative_change(const State& state, const Mat& factor, Host& host) const;
  Vec newton_step(const State& state, const RowSums& sums) const;

  const Model& problem_;
  Index extra_;                  // the State's coefficients before the problem's own
  Index parameter_first_ = 0;
  Layout layout_;
  std::vector<PriorPart> parts_;
  Vec tilt_;                     // (p) inside
  Vec unit_, group_unit_;        // powers of two between inside and outside
};

}  // namespace bsvm
