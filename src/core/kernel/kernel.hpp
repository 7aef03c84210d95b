#pragma once
#include <memory>

#include "base/params.hpp"
#include "base/registry.hpp"
#include "base/types.hpp"

namespace bsvm {

// A covariance function k(x, v) of two inputs, points of d coordinates, which are the columns of
// matrices here. Its mean variance over the rows it was made for is one: amplitudes are not its
// business. Implementations register by name, are made from numbers and arrays, and are checked by
// the tests of the contract, which loop over the registry.
class Kernel {
 public:
  virtual ~Kernel() = default;

  // d, as given when it was made.
  virtual Index variables() const = 0;

  // Free numbers theta: logarithms of positive parameters, in the order that each file says. Any
  // finite numbers give a kernel.
  virtual Index size() const = 0;

  // out (n, m): of n inputs x (d, n) and m inputs v (d, m).
  virtual void values(const Mat& x, const Mat& v, ConstVecRef theta, Mat& out) const = 0;

  // (n): k(x_i, x_i).
  virtual Vec diagonal(const Mat& x, ConstVecRef /*theta*/) const { return Vec::Ones(x.cols()); }

  // (size): sum_ij weight_ij dk(x_i, v_j)/dtheta, for any weights (n, m).
  virtual Vec pull(const Mat& x, const Mat& v, ConstVecRef theta, const Mat& weight) const = 0;

  // (size): sum_i weight_i dk(x_i, x_i)/dtheta.
  virtual Vec diagonal_pull(const Mat& /*x*/, ConstVecRef /*theta*/, const Vec& /*weight*/) const {
    return Vec::Zero(size());
  }

  // (d, m): sum_i weight_ij dk(x_i, v_j)/dv_j.
  virtual Mat input_pull(const Mat& x, const Mat& v, ConstVecRef theta,
                         const Mat& weight) const = 0;
};

// (n, m), at least: values of inputs x (d, n) and v (d, m), where each row of x has the same bits
// whatever rows stand beside it. What is more than n rows means nothing.
Mat values_of_rows(const Kernel& kernel, const Mat& x, const Mat& v, ConstVecRef theta);

// (a, b): squared distances between the columns of x (d, a) and v (d, b), never below zero.
Mat squared_distances(const Mat& x, const Mat& v);

}  // namespace bsvm
