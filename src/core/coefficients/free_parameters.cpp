#include "free_parameters.hpp"

#include "linalg/dense.hpp"

#include <algorithm>
#include <cmath>

namespace bsvm {

namespace {

constexpr double kStep = 1e-4;       // of a difference: log scales are about one
constexpr double kLongest = 2;       // of a step: a factor of seven in a standard deviation
constexpr int kMostSteps = 30;

}  // namespace

Vec positive_solve(const Mat& h, const Vec& g) {
  const SymmetricEigen eigen(h);
  const Vec values = eigen.values.cwiseAbs().cwiseMax(1e-8);
  return eigen.vectors * (eigen.vectors.transpose() * g).cwiseQuotient(values);
}

Mat joint_hessian(const Prior& prior, const Moments& moments, ConstVecRef theta) {
  const Index size = theta.size();
  Mat out(size, size);
  Vec up(size), down(size);
  for (Index k = 0; k < size; ++k) {
    const Vec by = kStep * Vec::Unit(size, k);
    prior.log_joint(moments, theta + by, up);
    prior.log_joint(moments, theta - by, down);
    out.col(k) = (up - down) / (2 * kStep);
  }
  return 0.5 * (out + out.transpose());
}

Vec maximise_joint(const Prior& prior, const Moments& moments, ConstVecRef theta) {
  Vec at = theta, gradient(theta.size()), unused(theta.size());
  double value = prior.log_joint(moments, at, gradient);
  for (int k = 0; k < kMostSteps; ++k) {
    Vec step = positive_solve(-joint_hessian(prior, moments, at), gradient);
    if (!step.allFinite()) break;
    if (step.norm() > kLongest) step *= kLongest / step.norm();
    double next = prior.log_joint(moments, at + step, unused);
    for (int halved = 0; !(next >= value - 1e-13 * std::abs(value)) && halved < 30; ++halved) {
      step /= 2;
      next = prior.log_joint(moments, at + step, unused);
    }
    at += step;
    value = prior.log_joint(moments, at, gradient);
    if (step.norm() < 1e-9) break;
  }
  return at;
}

FreeUnits free_units(const Model& problem, ConstVecRef theta) {
  FreeUnits out{Vec::Ones(theta.size()), std::vector<bool>(theta.size(), true)};
  Index first = 0;
  for (const auto* slots : {&problem.priors, &problem.group_priors})
    for (const PriorSlot& slot : *slots) {
      const Index q = slot.prior->effects(),
                  size = slot.prior->free_size(static_cast<Index>(slot.columns.size()));
      for (Index i = 0, k = first; q > 1 && size > 0 && i < q; ++i)
        for (Index j = 0; j <= i; ++j, ++k) {
          if (i == j) continue;
          out.unit[k] = std::exp(theta[k + i - j]);
          out.logarithm[k] = false;
        }
      first += size;
    }
  return out;
}

double log_prior(const Model& problem, ConstVecRef theta, VecRef gradient) {
  double out = 0;
  Index first = 0;
  for (const auto* slots : {&problem.priors, &problem.group_priors})
    for (const PriorSlot& slot : *slots) {
      const Index size = slot.prior->free_size(static_cast<Index>(slot.columns.size()));
      Moments nothing;
      nothing.square = Vec::Zero(slot.prior->effects() * slot.prior->effects());
      if (size > 0)
        out += slot.prior->log_joint(nothing, theta.segment(first, size),
                                     gradient.segment(first, size));
      first += size;
    }
  return out;
}

}  // namespace bsvm
