#pragma once
#include <cmath>
#include <map>
#include <string>

#include "pair_law.hpp"
#include "parameter_data.hpp"

// Numbers with errors of the epsilon-insensitive density, whose scale and tube are inferred.
namespace bsvm_test {

inline void infer_both(Problem& problem) {
  problem.likelihood = Registry<Likelihood>::make("eps_insensitive", Params());
  problem.priors.push_back(parameter_slot("half_t", {{"df", 3}, {"scale", 1.5}}));
  problem.priors.push_back(parameter_slot("beta", {{"shape1", 1.5}, {"shape2", 2}}));
  check(problem);
}

// Errors of scale 0.6 and kappa 1.2.
inline Data numbers(Shape shape) {
  Data data = simulate(shape);
  Noise noise(31);
  const Vec b = Vec::LinSpaced(shape.p, 1, -0.5);
  const Real scale = 0.6, epsilon = 1.2 * scale;
  const PairLaw law{1 / scale, 1 / scale, epsilon, epsilon};
  for (Index i = 0; i < shape.n; ++i) {
    Real low = -30, high = 30;
    const double at = noise.uniform();
    for (int k = 0; k < 80; ++k) {
      const Real middle = (low + high) / 2;
      (law.cdf(middle) < at ? low : high) = middle;
    }
    data.y[i] = data.design().row(i).dot(b) + data.offset[i] + static_cast<double>(low);
    if (shape.groups > 0) data.y[i] += 0.5 * std::sin(7.0 * data.group[i]);
  }
  return data;
}

inline Shape shape_of(Index n, Index p, Index groups = 0) {
  Shape out;
  out.n = n;
  out.p = p;
  out.q = groups > 0 ? 1 : 0;
  out.groups = groups;
  return out;
}

// log p of both parameters, theta their logarithms, by what their distributions are.
inline Real log_prior(Real log_s, Real log_kappa) {
  const Real kappa = std::exp(log_kappa), nu = 1 / (1 + kappa);
  const Real half_t = log_half_t_square(std::exp(2 * log_s), 3, 1.5L) + std::log(2.0L) + 2 * log_s;
  return half_t + 0.5L * std::log(nu) + std::log(1 - nu) + std::lgamma(3.5L) -
         std::lgamma(1.5L) - std::lgamma(2.0L) + log_kappa - 2 * std::log1p(kappa);
}

inline PairLaw law_at(Real log_s, Real log_kappa) {
  const Real s = std::exp(log_s), epsilon = s * std::exp(log_kappa);
  return {1 / s, 1 / s, epsilon, epsilon};
}

// Of a normal q of all coefficients, whose priors are N(0, 4).
struct Bound {
  const Data& data;
  OutsideMoments q;
  bool augmented;

  Real operator()(Real log_s, Real log_kappa) const {
    const PairLaw law = law_at(log_s, log_kappa);
    const Mat design = data.design();
    Real sum = log_prior(log_s, log_kappa);
    for (Index i = 0; i < data.shape.n; ++i) {
      const Real off = data.y[i] - data.offset[i] - design.row(i).dot(q.mean),
                 v = design.row(i) * q.covariance * design.row(i).transpose();
      sum += data.weight[i] * (augmented ? latent(law, off, v) : expected_pair(law, off, v).value);
    }
    const Index p = q.mean.size();
    for (Index j = 0; j < p; ++j)
      sum += 0.5L * (std::log(2 * kPi) + 1) + log_normal(q.mean[j], 4) - q.covariance(j, j) / 8;
    return sum + std::log(Real(lower_factor(q.covariance.cast<Real>()).diagonal().prod()));
  }

  static Real latent(const PairLaw& law, Real off, Real v) {
    const Real u1 = off - law.e1, u2 = -off - law.e2;
    return law.constant() - law.a / 2 * (u1 + std::sqrt(u1 * u1 + v)) -
           law.b / 2 * (u2 + std::sqrt(u2 * u2 + v));
  }
};

inline Problem fixed_prior(const Data& data) {
  return to_problem(data, {normal_prior(4, range(0, data.shape.p))}, {});
}

// Of b, log s and log kappa, of a problem with one coefficient, by sums over a grid that covers all
// but what is negligible.
struct GridMoments {
  VecL mean, sd;
};
inline GridMoments grid_moments(const Data& data) {
  const Mat design = data.design();
  Real mass = 0;
  VecL mean = VecL::Zero(3), square = VecL::Zero(3);
  for (double log_s = -3.5; log_s < 1.5; log_s += 0.08)
    for (double log_kappa = -8; log_kappa < 4; log_kappa += 0.15) {
      const PairLaw law = law_at(log_s, log_kappa);
      const Real prior = log_prior(log_s, log_kappa);
      for (double b = -1; b < 3; b += 0.04) {
        Real log_p = prior + log_normal(b, 4);
        for (Index i = 0; i < data.shape.n; ++i)
          log_p += data.weight[i] * law.log_p(data.y[i] - data.offset[i] - b * design(i, 0));
        const Real share = std::exp(log_p + 2 * static_cast<Real>(data.shape.n));
        const VecL at = (VecL(3) << b, log_s, log_kappa).finished();
        mass += share;
        mean += share * at;
        square += share * at.cwiseAbs2();
      }
    }
  mean /= mass;
  return {mean, (square / mass - mean.cwiseAbs2()).cwiseSqrt()};
}

}  // namespace bsvm_test
