#pragma once
#include <cmath>

#include "linalg/dense.hpp"
#include "prior/prior.hpp"

namespace bsvm {

// Prior hyper-parameters to start from, apart by chain so that their agreement says something.
inline Vec dispersed(const Prior& prior, double count, Draws& random) {
  Moments shape;
  shape.count = count;
  shape.square = Vec::Zero(prior.effects() * prior.effects());
  Vec hyper(prior.hyper_size(static_cast<Index>(count)));
  prior.start(shape, hyper);
  prior.scale(hyper, std::exp(random.normal()));
  return hyper;
}

// Moments of joint effects of `levels` with this sum of u u'.
inline Moments joint_moments(const Mat& sum, double levels) {
  Moments out;
  out.square = Eigen::Map<const Vec>(sum.data(), sum.size());
  out.count = levels * static_cast<double>(sum.rows());
  return out;
}

// The residual covariance Sigma of a chain, under its prior.
class Covariance {
 public:
  Covariance(const Prior& prior, Vec hyper) : prior_(prior), hyper_(std::move(hyper)) { read(); }

  const Mat& inverse() const { return inverse_; }  // (q, q)
  const Mat& root() const { return root_; }        // lower, Sigma = root root'
  double variance(Index j) const { return root_.row(j).squaredNorm(); }
  const Prior& prior() const { return prior_; }
  const Vec& hyper() const { return hyper_; }

  void restore(ConstVecRef hyper) {
    hyper_ = hyper;
    read();
  }
  // Given the sum of e e' over `rows`.
  void draw(const Mat& squares, double rows, Draws& random) {
    prior_.draw(joint_moments(squares, rows), random, hyper_);
    read();
  }
  // Sigma -> D Sigma D, D one but for t at j; and the prior's share of that move's log density, as
  // Prior::log_stretched() has it.
  void stretch(Index j, double t) {
    prior_.stretch(j, hyper_, t);
    read();
  }
  double log_stretched(Index j, double t) const { return prior_.log_stretched(j, hyper_, t); }
  // The same of all together, Sigma -> t^2 Sigma.
  void scale(double t) {
    prior_.scale(hyper_, t);
    read();
  }
  double log_scaled(double t) const { return prior_.log_scaled(Moments(), hyper_, t); }

 private:
  // The root is known as free numbers (prior/prior.hpp).
  void read() {
    const Index q = prior_.effects();
    Vec precision(q * q), free(q * (q + 1) / 2);
    prior_.precision(hyper_, precision);
    inverse_ = Eigen::Map<const Mat>(precision.data(), q, q);
    prior_.free(hyper_, free);
    root_ = Mat::Zero(q, q);
    for (Index i = 0, at = 0; i < q; ++i)
      for (Index j = 0; j <= i; ++j, ++at) root_(i, j) = i == j ? std::exp(free[at]) : free[at];
  }

  const Prior& prior_;
  Vec hyper_;
  Mat inverse_, root_;
};

}  // namespace bsvm
