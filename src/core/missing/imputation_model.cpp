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
      unknowns_(unknowns) {
  if (d_ == 0) return;
  const Eigen::Map<const Mat> given(unknowns.given, n, k_);
  gram_ = given.transpose() * given;
  const SymmetricEigen eigen(gram_);
  gram_vectors_ = eigen.vectors;
  gram_values_ = eigen.values.cwiseMax(0);
}

// Standard normal variables.
void ImputationModel::start(State& state) const {
  state.law().setZero();
  state.law_precision().setIdentity();
  state.law_formed().setIdentity();
  state.law_probit_spread().setIdentity();
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
  const Mat cross = mean.transpose() * sums.law_cross();
  const Mat square = sums.law_square().selfadjointView<Eigen::Lower>();
  const Mat out = square - cross - cross.transpose() + mean.transpose() * gram_ * mean;
  return 0.5 * (out + out.transpose());
}

// (q, q) precision of each phi_j.
Mat ImputationModel::probit_precision(const RowSums& sums) const {
  const Index g = static_cast<Index>(unknowns_.by_given.size()), q = unknowns_.probits();
  const Mat square = sums.law_square().selfadjointView<Eigen::Lower>();
  Mat out(q, q);
  for (Index a = 0; a < q; ++a)
    for (Index b = 0; b <= a; ++b) {
      double& to = out(b, a);
      if (a < g) to = gram_(unknowns_.by_given[a], unknowns_.by_given[b]);
      else if (b < g) to = sums.law_cross()(unknowns_.by_given[b], unknowns_.by[a - g]);
      else to = square(unknowns_.by[a - g], unknowns_.by[b - g]);
      out(a, b) = to;
    }
  out.diagonal().array() += 1 / unknowns_.probit_variance;
  return out;
}

void ImputationModel::update(const RowSums& sums, State& state) const {
  if (state.layout.indicators > 0) {
    state.law_probit_spread() = factor_of(probit_precision(sums)).inverse();
    state.law_probit() = state.law_probit_spread() * sums.law_latent();
  }
  const Spectrum of = spectrum(state.law_precision());
  state.law_mean() = mean_given(state.law_precision(), of, sums.law_cross());
  state.law_formed() = Mat(state.law_precision());
  Mat scale = about(sums, state.law_mean()) + spread(of);
  scale.diagonal().array() += scale_;
  state.law_precision() = degrees() * factor_of(scale).inverse();
}

double ImputationModel::change(const RowSums& sums, const State& state) const {
  State next = state;
  update(sums, next);
  const Spectrum of = spectrum(state.law_formed());
  const Mat step = gram_vectors_.transpose() * (next.law_mean() - state.law_mean()) * of.vectors;
  const Factor before = factor_of(state.law_precision());
  Mat ratio = solved_lower(before.lower(), next.law_precision());
  ratio = solved_lower(before.lower(), ratio.transpose());
  ratio.diagonal().array() -= 1;
  double square = step.cwiseAbs2().cwiseProduct(of.values).sum() +
                  0.5 * degrees() * ratio.squaredNorm();
  if (state.layout.indicators > 0) {
    const Mat moved = next.law_probit() - state.law_probit();
    square += moved.cwiseProduct(probit_precision(sums) * moved).sum();
  }
  return square;
}

// With Sigma^{-1} ~ Wishart(m, Psi_q^{-1}): P = m Psi_q^{-1}.
double ImputationModel::value(const State& state) const {
  const double d = static_cast<double>(d_), m = degrees();
  const Spectrum of = spectrum(state.law_formed());
  const auto precision = state.law_precision();
  const double logdet_p = factor_of(precision).logdet();
  double expected = logdet_p + d * std::log(2 / m);  // E log |Sigma^{-1}|
  for (Index j = 0; j < d_; ++j) expected += digamma(0.5 * (m - static_cast<double>(j)));

  const double rows = 0.5 * n_ * (expected - d * kLog2Pi) -
                      0.5 * precision.cwiseProduct(spread(of)).sum();
  const double square = state.law_mean().squaredNorm() + of.values.cwiseInverse().sum();
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
  if (state.layout.indicators == 0) return 0;
  const double q = static_cast<double>(state.layout.probits),
               number = static_cast<double>(state.layout.indicators);
  const Mat spread = state.law_probit_spread();
  const double log_ratio = factor_of(spread).logdet() - q * std::log(unknowns_.probit_variance);
  return 0.5 * (number * (q + log_ratio) -
                (state.law_probit().squaredNorm() + number * spread.trace()) /
                    unknowns_.probit_variance);
}

// Bartlett's decomposition: with L L' the scale, Sigma^{-1} = L^{-T} T T' L^{-1}, T lower
// triangular.
void ImputationModel::draw(const RowSums& sums, State& state) const {
  Draws random(state.key(), Purpose::unknown, 0);
  const Spectrum of = spectrum(state.law_precision());
  Mat noise(k_, d_);
  for (Index j = 0; j < d_; ++j)
    for (Index a = 0; a < k_; ++a) noise(a, j) = random.normal() / std::sqrt(of.values(a, j));
  state.law_mean() = mean_given(state.law_precision(), of, sums.law_cross()) +
                     gram_vectors_ * noise * of.vectors.transpose();
  Mat scale = about(sums, state.law_mean());
  scale.diagonal().array() += scale_;
  Mat t = Mat::Zero(d_, d_);
  for (Index j = 0; j < d_; ++j) {
    const double shape = 0.5 * (degrees() - static_cast<double>(j));
    t(j, j) = std::exp(0.5 * (std::log(2.0) + random.log_gamma_draw(shape)));
    for (Index i = j + 1; i < d_; ++i) t(i, j) = random.normal();
  }
  Mat root = t;
  solve_transposed(factor_of(scale).lower(), root);
  state.law_precision() = root * root.transpose();
  if (state.layout.indicators == 0) return;
  const Factor factor = factor_of(probit_precision(sums));
  Mat phi = solved_lower(factor.lower(), sums.law_latent());
  for (Index j = 0; j < phi.cols(); ++j)
    for (Index a = 0; a < phi.rows(); ++a) phi(a, j) += random.normal();
  solve_transposed(factor.lower(), phi);
  state.law_probit() = phi;
  state.law_probit_spread().setZero();
}

Mat ImputationModel::covariance(const State& state) const {
  const double left = degrees() - static_cast<double>(d_) - 1;
  return inverse(state) * (degrees() / std::max(1.0, left));
}

Vec ImputationModel::drawn(const State& state) const {
  const Mat phi = state.law_probit();
  Vec out(d_ * (k_ + d_) + phi.size());
  if (d_ == 0) return out;
  const Mat mean = state.law_mean(), sigma = inverse(state);
  out << Eigen::Map<const Vec>(mean.data(), mean.size()),
      Eigen::Map<const Vec>(sigma.data(), sigma.size()),
      Eigen::Map<const Vec>(phi.data(), phi.size());
  return out;
}

Mat ImputationModel::inverse(const State& state) const {
  return factor_of(state.law_precision()).inverse();
}

}  // namespace bsvm
