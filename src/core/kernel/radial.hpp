#pragma once
#include "kernel.hpp"

namespace bsvm {

// phi(r2), r2 = sum_d (x_d - v_d)^2 / l_d^2, of any phi with phi(0) = 1. theta: log l, one for all
// variables or, with `ard`, one for each, then the logarithms of parameters of phi.
//
// With H = weight o phi'(r2) the slope in log l_d is -2 sum_ij H_ij (x_id - v_jd)^2 / l_d^2, by
// sums of H's rows and columns and one product X H; that in v_j is 2 sum_i H_ij (v_j - x_i) / l^2.
class Radial : public Kernel {
 public:
  Radial(const Params& params, Index shapes);

  Index variables() const override { return variables_; }
  Index size() const override { return scales() + shapes_; }
  void values(const Mat& x, const Mat& v, ConstVecRef theta, Mat& out) const override;
  Vec pull(const Mat& x, const Mat& v, ConstVecRef theta, const Mat& weight) const override;
  Mat input_pull(const Mat& x, const Mat& v, ConstVecRef theta, const Mat& weight) const override;

 private:
  // r2 <- phi(r2), at the logarithms of its parameters.
  virtual void profile(ConstVecRef shape, Eigen::Ref<Arr> r2) const = 0;
  // weight <- weight phi'(r2), of which those at r2 = 0 are not used; to pull is added the sum of
  // weight dphi/dshape.
  virtual void times_slope(ConstVecRef shape, const Eigen::Ref<const Arr>& r2,
                           Eigen::Ref<Arr> weight, VecRef pull) const = 0;

  Index scales() const { return ard_ ? variables_ : 1; }
  Vec inverse_scales(ConstVecRef theta) const;  // (d) 1/l_d

  Index variables_, shapes_;
  bool ard_;
};

// `variables`, a whole number from one on.
Index variables_of(const Params& params);

// exp(theta) or exp(-theta) of which squares, and squares times those of inputs, are finite.
double bounded_exp(double theta);

}  // namespace bsvm
