#include "gaussian_twin.hpp"

#include <cmath>
#include <cstring>
#include <stdexcept>

#include "expectation.hpp"

namespace bsvm_test {

namespace {

// E max(u, 0), u ~ N(a, v).
Real expected_excess(Real a, Real v) {
  const Real s = std::sqrt(v);
  return a * upper_tail(-a / s) + s * std::exp(log_normal(a / s, 1));
}

Real log_gaussian(const VecL& x, const MatL& precision) {
  const Real logdet = 2 * lower_factor(precision).diagonal().array().log().sum();
  return 0.5L * (logdet - static_cast<Real>(x.size()) * std::log(2 * kPi) -
                 x.dot(product(precision, x).col(0)));
}

}  // namespace

const RowLaw& law_of(const char* likelihood) {
  if (std::strcmp(likelihood, "hinge") == 0) return kPseudo;
  if (std::strcmp(likelihood, "hinge_normalized") == 0) return kNormalised;
  throw std::logic_error("There is no twin of this likelihood.");
}

Real GaussianTwin::log_joint(const VecL& b) const {
  const VecL f = rows.offset + product(rows.c, b).col(0);
  Real sum = log_gaussian(b, rows.prior);
  for (Index i = 0; i < f.size(); ++i) sum += rows.weight[i] * law->log_p(rows.y[i], f[i]);
  return sum;
}

Real GaussianTwin::expected(Real y, Real m, Real v) const {
  if (law == &kPseudo) return -2 * expected_excess(1 - y * m, v);
  return expectation([&](Real g) { return law->log_p(1, g); }, y * m, v);
}

Real GaussianTwin::bound(const VecL& mean, const MatL& root) const {
  const VecL m = rows.offset + product(rows.c, mean).col(0);
  const MatL spread = product(rows.c, root);
  Real sum = log_gaussian(mean, rows.prior) -
             0.5L * product(product(root.transpose(), rows.prior), root).trace();
  for (Index i = 0; i < m.size(); ++i)
    sum += rows.weight[i] * expected(rows.y[i], m[i], spread.row(i).squaredNorm());
  const Real logdet =
      2 * lower_factor(product(root, root.transpose())).diagonal().array().log().sum();
  return sum + 0.5L * (static_cast<Real>(size()) * (1 + std::log(2 * kPi)) + logdet);
}

VecL GaussianTwin::gradient(const VecL& mean, const MatL& root) const {
  const Real h = 1e-6L;
  std::vector<Real> out;
  const auto difference = [&](const VecL& a, const MatL& t) {
    const MatL turn = product(root, t);
    const VecL step = product(root, a);
    out.push_back((bound(mean + h * step, root + h * turn) -
                   bound(mean - h * step, root - h * turn)) / (2 * h));
  };
  const MatL nothing = MatL::Zero(size(), size());
  for (Index j = 0; j < size(); ++j) difference(VecL::Unit(size(), j), nothing);
  for (Index j = 0; j < size(); ++j)
    for (Index i = j; i < size(); ++i) {
      MatL t = nothing;
      t(i, j) = 1;
      difference(VecL::Zero(size()), t);
    }
  return Eigen::Map<VecL>(out.data(), static_cast<Index>(out.size()));
}

VecL GaussianTwin::slope(const VecL& mean, const MatL& covariance) const {
  const VecL m = rows.offset + product(rows.c, mean).col(0);
  const MatL spread = product(rows.c, covariance);
  VecL own(m.size());
  for (Index i = 0; i < m.size(); ++i) {
    const Real s = std::sqrt(spread.row(i).dot(rows.c.row(i)));
    own[i] = rows.weight[i] * 2 * rows.y[i] * upper_tail((rows.y[i] * m[i] - 1) / s);
  }
  return product(rows.c.transpose(), own).col(0) - product(rows.prior, mean).col(0);
}

MatL GaussianTwin::precision(const VecL& mean, const MatL& covariance) const {
  const VecL m = rows.offset + product(rows.c, mean).col(0);
  const MatL spread = product(rows.c, covariance);
  VecL omega(m.size());
  for (Index i = 0; i < m.size(); ++i) {
    const Real s = std::sqrt(spread.row(i).dot(rows.c.row(i)));
    omega[i] = rows.weight[i] * 2 * std::exp(log_normal((1 - rows.y[i] * m[i]) / s, 1)) / s;
  }
  return rows.precision(omega);
}

GaussianTwin gaussian_twin(const Data& data, const char* likelihood, const Vec& variance,
                           const Vec& group_variance) {
  GaussianTwin out{Oracle(data, data.design(), data.z), &law_of(likelihood)};
  out.rows.prior.setZero();
  out.rows.prior.diagonal().head(variance.size()) = variance.cwiseInverse().cast<Real>();
  if (group_variance.size() > 0)
    out.rows.set_group_prior(Mat(group_variance.cwiseInverse().asDiagonal()));
  return out;
}

Estimate simulated_bound(const GaussianTwin& twin, const VecL& mean, const MatL& root, int draws) {
  Noise noise(41);
  const Index p = twin.size();
  const Real logdet = root.diagonal().array().abs().log().sum();
  Real sum = 0, squares = 0;
  for (int k = 0; k < draws; ++k) {
    Vec z(p);
    for (Index j = 0; j < p; ++j)  // Box and Muller
      z[j] = std::sqrt(-2 * std::log(noise.uniform())) * std::cos(2 * M_PI * noise.uniform());
    const Real log_q =
        -0.5L * (z.squaredNorm() + static_cast<Real>(p) * std::log(2 * kPi)) - logdet;
    const Real value = twin.log_joint(mean + product(root, z.cast<Real>()).col(0)) - log_q;
    sum += value;
    squares += value * value;
  }
  const Real average = sum / draws;
  return {average, std::sqrt((squares / draws - average * average) / draws)};
}

}  // namespace bsvm_test
