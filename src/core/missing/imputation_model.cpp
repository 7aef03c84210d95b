#include "imputation_model.hpp"

#include <cmath>

#include "factor.hpp"
#include "random/draws.hpp"
#include "special/functions.hpp"

namespace bsvm {

namespace {

// log of the multivariate gamma function, without its power of pi.
double log_gamma_product(double x, Index d) {
  double sum = 0;
  for (Index j = 0; j < d; ++j) sum += log_gamma(x - 0.5 * static_cast<double>(j));
  return sum;
}

}  // namespace

ImputationModel::ImputationModel(const Unknowns& unknowns, Index n)
    : d_(unknowns.d), k_(unknowns.k), n_(static_cast<double>(n)),
      mean_variance_(unknowns.mean_variance), scale_(unknowns.scale), df_(unknowns.df),
      unknowns_(unknowns), slots_(unknowns) {
  if (d_ == 0) return;
  const SymmetricEigen eigen(unknowns.gram);
  gram_vectors_ = eigen.vectors;
  gram_values_ = eigen.values.cwiseMax(0);
}

// Standard normal variables.
void ImputationModel::start(State& state) const {
  state.latent().setZero();
  slots_.precision(state).setIdentity();
  slots_.formed(state).setIdentity();
  slots_.probit_spread(state).setIdentity();
}

ImputationModel::Spectrum ImputationModel::spectrum(ConstMatRef precision) const {
  const SymmetricEigen eigen(precision);
  Spectrum out{eigen.vectors, gram_values_ * eigen.values.transpose()};
  out.values.array() += 1 / mean_variance_;
  return out;
}

// B solves B / mean_variance + Z'Z B P = (Z'x) P.
Mat ImputationModel::mean_given(ConstMatRef precision, const Spectrum& of, ConstMatRef zx) const {
  const Mat turned = gram_vectors_.transpose() * (zx * precision) * of.vectors;
  return gram_vectors_ * turned.cwiseQuotient(of.values) * of.vectors.transpose();
}

Mat ImputationModel::spread(const Spectrum& of) const {
  const Vec along = (of.values.cwiseInverse().transpose() * gram_values_);
  return of.vectors * along.asDiagonal() * of.vectors.transpose();
}

Mat ImputationModel::about(const RowSums& sums, ConstMatRef mean) const {
  const Mat cross = mean.transpose() * slots_.cross(sums);
  const Mat square = slots_.square(sums).selfadjointView<Eigen::Lower>();
  const Mat out = square - cross - cross.transpose() + mean.transpose() * unknowns_.gram * mean;
  return 0.5 * (out + out.transpose());
}

// (q, q) precision of each phi_j.
Mat ImputationModel::probit_precision(const RowSums& sums) const {
  const Index g = static_cast<Index>(unknowns_.by_given.size()), q = unknowns_.probits();
  const Mat square = slots_.square(sums).selfadjointView<Eigen::Lower>();
  Mat out(q, q);
  for (Index a = 0; a < q; ++a)
    for (Index b = 0; b <= a; ++b) {
      double& to = out(b, a);
      if (a < g) to = unknowns_.gram(unknowns_.by_given[a], unknowns_.by_given[b]);
      else if (b < g) to = slots_.cross(sums)(unknowns_.by_given[b], unknowns_.by[a - g]);
      else to = square(unknowns_.by[a - g], unknowns_.by[b - g]);
      out(a, b) = to;
    }
  out.diagonal().array() += 1 / unknowns_.probit_variance;
  return out;
}

void ImputationModel::update(const RowSums& sums, State& state) const {
  if (slots_.indicators() > 0) {
    slots_.probit_spread(state) = factor_of(probit_precision(sums)).inverse();
    slots_.probit(state) = slots_.probit_spread(state) * slots_.latent(sums);
  }
  const Spectrum of = spectrum(slots_.precision(state));
  slots_.mean(state) = mean_given(slots_.precision(state), of, slots_.cross(sums));
  slots_.formed(state) = Mat(slots_.precision(state));
  Mat scale = about(sums, slots_.mean(state)) + spread(of);
  scale.diagonal().array() += scale_;
  slots_.precision(state) = degrees() * factor_of(scale).inverse();
}

double ImputationModel::change(const RowSums& sums, const State& state) const {
  State next = state;
  update(sums, next);
  const Spectrum of = spectrum(slots_.formed(state));
  const Mat step =
      gram_vectors_.transpose() * (slots_.mean(next) - slots_.mean(state)) * of.vectors;
  const Factor before = factor_of(slots_.precision(state));
  Mat ratio = solved_lower(before.lower(), slots_.precision(next));
  ratio = solved_lower(before.lower(), ratio.transpose());
  ratio.diagonal().array() -= 1;
  double square = step.cwiseAbs2().cwiseProduct(of.values).sum() +
                  0.5 * degrees() * ratio.squaredNorm();
  if (slots_.indicators() > 0) {
    const Mat moved = slots_.probit(next) - slots_.probit(state);
    square += moved.cwiseProduct(probit_precision(sums) * moved).sum();
  }
  return square;
}

// With Sigma^{-1} ~ Wishart(m, Psi_q^{-1}): P = m Psi_q^{-1}.
double ImputationModel::value(const State& state) const {
  const double d = static_cast<double>(d_), m = degrees();
  const Spectrum of = spectrum(slots_.formed(state));
  const auto precision = slots_.precision(state);
  const double logdet_p = factor_of(precision).logdet();
  double expected = logdet_p + d * std::log(2 / m);  // E log |Sigma^{-1}|
  for (Index j = 0; j < d_; ++j) expected += digamma(0.5 * (m - static_cast<double>(j)));

  const double rows = 0.5 * n_ * (expected - d * kLog2Pi) -
                      0.5 * precision.cwiseProduct(spread(of)).sum();
  const double square = slots_.mean(state).squaredNorm() + of.values.cwiseInverse().sum();
  const double coefficients = static_cast<double>(k_ * d_);
  const double means = 0.5 * (coefficients * (1 - std::log(mean_variance_)) -
                              of.values.array().log().sum() - square / mean_variance_);
  double covariance = -0.5 * n_ * expected - 0.5 * scale_ * precision.trace() + 0.5 * m * d +
                      0.5 * df_ * d * std::log(scale_) - 0.5 * m * (d * std::log(m) - logdet_p) +
                      0.5 * d * n_ * std::log(2.0) + log_gamma_product(0.5 * m, d_);
  if (df_ > d - 1) covariance -= log_gamma_product(0.5 * df_, d_);
  return rows + means + covariance + probit_value(state);
}

double ImputationModel::probit_value(const State& state) const {
  if (slots_.indicators() == 0) return 0;
  const double q = static_cast<double>(slots_.probits()),
               number = static_cast<double>(slots_.indicators());
  const Mat spread = slots_.probit_spread(state);
  const double log_ratio = factor_of(spread).logdet() - q * std::log(unknowns_.probit_variance);
  return 0.5 * (number * (q + log_ratio) -
                (slots_.probit(state).squaredNorm() + number * spread.trace()) /
                    unknowns_.probit_variance);
}

// Bartlett's decomposition: with L L' the scale, Sigma^{-1} = L^{-T} T T' L^{-1}, T lower
// triangular.
void ImputationModel::draw(const RowSums& sums, State& state) const {
  Draws random(state.key(), Purpose::unknown, 0);
  const Spectrum of = spectrum(slots_.precision(state));
  Mat noise(k_, d_);
  for (Index j = 0; j < d_; ++j)
    for (Index a = 0; a < k_; ++a) noise(a, j) = random.normal() / std::sqrt(of.values(a, j));
  slots_.mean(state) = mean_given(slots_.precision(state), of, slots_.cross(sums)) +
                     gram_vectors_ * noise * of.vectors.transpose();
  Mat scale = about(sums, slots_.mean(state));
  scale.diagonal().array() += scale_;
  Mat t = Mat::Zero(d_, d_);
  for (Index j = 0; j < d_; ++j) {
    const double shape = 0.5 * (degrees() - static_cast<double>(j));
    t(j, j) = std::exp(0.5 * (std::log(2.0) + random.log_gamma_draw(shape)));
    for (Index i = j + 1; i < d_; ++i) t(i, j) = random.normal();
  }
  Mat root = t;
  solve_transposed(factor_of(scale).lower(), root);
  slots_.precision(state) = root * root.transpose();
  if (slots_.indicators() == 0) return;
  const Factor factor = factor_of(probit_precision(sums));
  Mat phi = solved_lower(factor.lower(), slots_.latent(sums));
  for (Index j = 0; j < phi.cols(); ++j)
    for (Index a = 0; a < phi.rows(); ++a) phi(a, j) += random.normal();
  solve_transposed(factor.lower(), phi);
  slots_.probit(state) = phi;
  slots_.probit_spread(state).setZero();
}

Mat ImputationModel::covariance(const State& state) const {
  const double left = degrees() - static_cast<double>(d_) - 1;
  return inverse(state) * (degrees() / std::max(1.0, left));
}

Vec ImputationModel::drawn(const State& state) const {
  const Mat phi = slots_.probit(state);
  Vec out(d_ * (k_ + d_) + phi.size());
  if (d_ == 0) return out;
  const Mat mean = slots_.mean(state), sigma = inverse(state);
  out << Eigen::Map<const Vec>(mean.data(), mean.size()),
      Eigen::Map<const Vec>(sigma.data(), sigma.size()),
      Eigen::Map<const Vec>(phi.data(), phi.size());
  return out;
}

Mat ImputationModel::inverse(const State& state) const {
  return factor_of(slots_.precision(state)).inverse();
}

}  // namespace bsvm
