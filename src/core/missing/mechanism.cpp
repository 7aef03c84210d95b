#include "mechanism.hpp"

#include <algorithm>
#include <cmath>

#include "random/truncated_normal.hpp"
#include "special/functions.hpp"
#include "special/normal_law.hpp"

namespace bsvm {

namespace {

double sign_of(const std::vector<Index>& missing, Index variable) {
  return std::binary_search(missing.begin(), missing.end(), variable) ? -1 : 1;
}

// log Phi(x).
double log_cdf(double x) {
  if (x > 0) return std::log1p(-std::exp(log_mills(x) - 0.5 * (x * x + kLog2Pi)));
  return log_mills(-x) - 0.5 * (x * x + kLog2Pi);
}

}  // namespace

Mechanism::Mechanism(const Unknowns& unknowns)
    : unknowns_(unknowns), slots_(unknowns), place_(unknowns.d, -1) {
  const Index first = static_cast<Index>(unknowns.by_given.size());
  for (size_t k = 0; k < unknowns.by.size(); ++k)
    place_[unknowns.by[k]] = first + static_cast<Index>(k);
}

void Mechanism::prepare(const State& state) {
  phi_ = slots_.probit(state);
  spread_ = slots_.probit_spread(state);
  second_ = static_cast<double>(phi_.cols()) * spread_ + phi_ * phi_.transpose();
}

Vec Mechanism::regressors(const double* given, Index n, ConstVecRef x) const {
  Vec out(unknowns_.probits());
  Index at = 0;
  for (const Index a : unknowns_.by_given) out[at++] = given[a * n];
  for (const Index j : unknowns_.by) out[at++] = x[j];
  return out;
}

double Mechanism::expect(ConstVecRef t, const std::vector<Index>& missing, VecRef latent) const {
  const Vec mean = phi_.transpose() * t;
  double value = -0.5 * static_cast<double>(mean.size()) * t.dot(spread_ * t);
  for (Index j = 0; j < mean.size(); ++j) {
    const double sign = sign_of(missing, unknowns_.indicators[j]), x = sign * mean[j];
    value += log_cdf(x);
    latent[j] = mean[j] + sign * std::exp(-0.5 * (x * x + kLog2Pi) - log_cdf(x));
  }
  return value;
}

void Mechanism::draw(ConstVecRef t, const std::vector<Index>& missing, Draws& random,
                     VecRef latent) const {
  const Vec mean = phi_.transpose() * t;
  for (Index j = 0; j < mean.size(); ++j) {
    const double sign = sign_of(missing, unknowns_.indicators[j]);
    latent[j] = mean[j] + sign * normal_above(-sign * mean[j], random);
  }
}

Mat Mechanism::precision(const std::vector<Index>& missing) const {
  const Index k = static_cast<Index>(missing.size());
  Mat out = Mat::Zero(k, k);
  for (Index a = 0; a < k; ++a)
    for (Index b = 0; b < k; ++b)
      if (place_[missing[a]] >= 0 && place_[missing[b]] >= 0)
        out(a, b) = second_(place_[missing[a]], place_[missing[b]]);
  return out;
}

Vec Mechanism::slope(const std::vector<Index>& missing, ConstVecRef t, ConstVecRef latent) const {
  const Vec all = phi_ * latent - second_ * t;
  Vec out = Vec::Zero(static_cast<Index>(missing.size()));
  for (size_t b = 0; b < missing.size(); ++b)
    if (place_[missing[b]] >= 0) out[static_cast<Index>(b)] = all[place_[missing[b]]];
  return out;
}

}  // namespace bsvm
