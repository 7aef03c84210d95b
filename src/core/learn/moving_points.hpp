#pragma once
#include <vector>

#include "additive.hpp"

namespace bsvm {

// Inducing inputs V that go to where the bound of an additive model is highest, with the amplitudes
// and the likelihood's numbers; kernels stay as they are. With alpha the rows' slopes and W their
// weights at the best q, S the covariance there of what coefficients explain of f, and s^2 K a
// summand's covariance (kernels.md, section 2),
//
//   d bound / d K_nm = 2 s^2 P R',   d bound / d K_mm = -s^2 R P R',   R = K_mm^{-1} K_mn,
//   P = (alpha alpha' + W S W) / 2,
//
// where the variances left over, -W/2 each, have taken away the -W of the full form. The bound has
// nothing to gain from inducing inputs at the same place, so that they stay apart.
class MovingPoints {
 public:
  // Of the summands that are `moving`, whose inducing inputs are given.
  MovingPoints(AdditiveModel model, std::vector<bool> moving, Host& host);

  struct Value {
    Vec theta;     // the model's numbers, then the inputs in units of the distances between them
    Vec gradient;  // of all
    Additive::Value at;

    double objective() const { return at.objective(); }
  };

  Vec start() const;
  // `tolerance` as RowNewton has it.
  Value at(ConstVecRef theta, const Value* near, double tolerance);

  struct Moved {
    Value value;
    std::vector<Mat> points;  // (d, m) of each summand, (0, 0) of those that stay
    double before = 0;        // the objective at the start
    bool converged = false;
    int evaluations = 0;
  };
  Moved climb();

 private:
  Mat points(ConstVecRef theta, size_t j) const;
  Mat gradient_of(const Additive::Value& at, size_t j) const;

  Additive model_;
  Host& host_;
  std::vector<size_t> moving_;  // the summands
  std::vector<Index> number_;   // where the numbers of each of these begin
  std::vector<double> unit_;    // of their inputs
  Index numbers_ = 0;
};

}  // namespace bsvm
