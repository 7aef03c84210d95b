#pragma once
#include "working_rows.hpp"

namespace bsvm {

// The Gaussian that WorkingRows leaves of coefficients b and effects u at given variances, as moves
// need it: how the effects follow the coefficients, the main factor's effects those of another, and
// what precision is left.
class WorkingGaussian {
 public:
  WorkingGaussian(const WorkingRows& rows, const Mat& design) : rows_(rows), design_(design) {}

  // At this prior precision of the effects: of all factors together, inside.
  void find(const Mat& group_prior);

  // Lower Cholesky factor (effects, effects) of the precision of a level's effects given all else;
  // of a factor other than the main one with that following.
  const double* factor(Index t, Index g) const { return factor_[t].col(g).data(); }
  const double* joint_factor(Index t, Index g) const { return joint_[t].col(g).data(); }
  // (main effects times effects, links) by what each linked main level follows: minus it.
  const Mat& follow(Index t) const { return follow_[t]; }

  // (u, p) minus what all effects follow the coefficients by; (n, p) what f changes by with
  // them; (p, p) the precision left of the coefficients, their own prior's apart.
  const Mat& regression() const { return regression_; }
  const Mat& lines() const { return lines_; }
  const Mat& precision() const { return precision_; }

  Mat prior_of(const FactorRows& own) const {
    return prior_.block(own.first_effect, own.first_effect, own.effects, own.effects);
  }
  Vec prior_times(const Vec& effects) const;

 private:
  void find_factors();
  void find_joint(Index t);
  void find_regression();
  void find_lines();
  void solve(const std::vector<Mat>& factor, Index t, Vec& x) const;
  Vec solve_main(const Vec& c, const Vec& others) const;
  Vec left_of_others(const Vec& x) const;
  void solve_others(const Vec& c, Vec& x) const;

  const WorkingRows& rows_;
  const Mat& design_;
  Mat prior_, regression_, lines_, precision_;
  std::vector<Mat> factor_, joint_, follow_;
};

}  // namespace bsvm
