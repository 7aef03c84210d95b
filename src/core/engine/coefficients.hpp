#pragma once
#include "../linalg/cholesky.hpp"
#include "../model/problem.hpp"
#include "../model/result.hpp"
#include "../model/row_sums.hpp"
#include "../model/state.hpp"

namespace bsvm {

// q(b, u) on the outside scale, where powers of two are undone.
struct OutsideMoments {
  Vec mean;               // (p)
  Mat covariance;         // (p, p)
  GroupPosterior groups;  // regression as (q p, m): B_g itself
};

// The coefficient side of q(b, u) prod q(hyper): priors, linear systems, and
// the parts of the bound that no row knows of.
class Coefficients {
 public:
  explicit Coefficients(const Problem& problem);

  Layout layout() const { return layout_; }

  // Priors at their starting values, nothing known of the coefficients.
  State start(ConstVecRef mean) const;

  // What the coefficients would become: computed from the sums of a pass.
  struct Proposal {
    Mat inverse_factor;  // (p, p) of the new covariance, as in State
    Vec step;            // (p) step of the mean
    double gradient;     // norm of the objective's gradient in q's own metric
  };
  Proposal propose(const State& state, RowSums& sums, Host& host) const;

  // The best q of the hyper-parameters given the coefficients' second moments
  // (the groups' are `group_moments`, from settle()), and the bound less the rows' share.
  // The step to it, in their logarithms, is taken `reach` times as far.
  void update_priors(State& state, const Mat& group_moments, double reach) const;

  OutsideMoments outside(const Result& result) const;

  Vec precision(const State& state) const;  // (p) prior precision, inside scale

 private:
  double entropy(const State& state) const;
  double relative_change(const State& state, const Mat& next, Host& host) const;
  void refresh_group_prior(State& state) const;

  const Problem& problem_;
  Layout layout_;
  Vec unit_, group_unit_;               // powers of two between inside and outside
};

}  // namespace bsvm
