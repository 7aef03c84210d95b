#pragma once
#include <cmath>
#include <map>

#include "base/registry.hpp"
#include "linalg/dense.hpp"
#include "prior/prior.hpp"
#include "random/wishart.hpp"

namespace bsvm_test {

using namespace bsvm;

// Two responses with a covariance that has half-t(4, 1) standard deviations, and
// epsilon-insensitive residuals: draws from the prior.

inline const std::map<std::string, double> kHuangWand{
    {"effects", 2}, {"df", 4}, {"scale_1", 1}, {"scale_2", 1}};

inline std::unique_ptr<Prior> huang_wand() {
  return Registry<Prior>::make("huang_wand", Params("huang_wand", kHuangWand));
}

// The lower root.
inline Mat draw_covariance_root(Draws& random) {
  Mat rates = Mat::Zero(2, 2), out = rates;
  for (Index j = 0; j < 2; ++j) rates(j, j) = std::sqrt(2 * 4 / random.inverse_gamma(0.5, 1));
  inverse_wishart(4 + 2 - 1, rates.data(), 2, random, out.data());
  out(0, 1) = 0;
  return out;
}

// A root as free numbers (prior/prior.hpp).
inline Vec free_numbers(const Mat& root) {
  return Eigen::Vector3d(std::log(root(0, 0)), root(1, 0), std::log(root(1, 1)));
}

// The variance of a tube of scale one.
inline double unit_variance(double nu) {
  const double kappa = (1 - nu) / nu;
  return (1 - nu) * kappa * kappa / 3 + nu * (kappa * kappa + 2 * kappa + 2);
}

// Its share in the variance of both residuals.
inline double tube_share(double scale, double nu, double variance) {
  const double own = scale * scale * unit_variance(nu);
  return own / (own + variance);
}

// nu ~ Beta(2, 2), and the scale with a uniform share.
inline void draw_tube_numbers(double variance, Draws& random, double& scale, double& nu) {
  const double g = random.gamma(2);
  nu = g / (g + random.gamma(2));
  const double w = random.uniform();
  scale = std::sqrt(w / (1 - w) * variance / unit_variance(nu));
}

inline double draw_tube(double scale, double nu, Draws& random) {
  const double width = scale * (1 - nu) / nu;
  const double size = random.uniform() < nu ? width - scale * std::log(random.uniform())
                                            : width * random.uniform();
  return random.uniform() < 0.5 ? size : -size;
}

}  // namespace bsvm_test
