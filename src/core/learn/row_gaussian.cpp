#include "row_gaussian.hpp"

#include <cmath>

#include "base/error.hpp"
#include "linalg/cholesky.hpp"

namespace bsvm {

namespace {

[[noreturn]] void refuse_rows() {
  throw NumericalFailure("The covariance of the linear predictors is not positive definite.");
}

}  // namespace

Vec RowPrior::times(const Vec& a) const {
  Vec out = own.cwiseProduct(a);
  if (in_full()) out.noalias() += covariance.selfadjointView<Eigen::Lower>() * a;
  else out.noalias() += features * Vec(features.transpose() * a);
  if (variance.size() > 0)
    out.noalias() += fixed * variance.cwiseProduct(Vec(fixed.transpose() * a));
  return out;
}

RowGaussian::RowGaussian(const RowPrior& prior, const Vec& noise, Host& host)
    : full_(prior.in_full()) {
  if (full_) in_full(prior, noise, host);
  else by_features(prior, noise, host);
  for (Index j = 0; j < prior.variance.size(); ++j)
    log_determinant_ += std::log(prior.variance[j]);
}

void RowGaussian::in_full(const RowPrior& prior, const Vec& noise, Host& host) {
  lower_ = prior.covariance;
  lower_.diagonal() += prior.own + noise;
  if (!lower_.allFinite() || !cholesky(lower_, host)) refuse_rows();
  log_determinant_ = 2 * lower_.diagonal().array().log().sum();
  columns_ = prior.fixed;
  if (prior.variance.size() == 0) return;
  across_ = prior.fixed;
  solve_lower(lower_, across_);
  Mat small = across_.transpose() * across_;
  small.diagonal() += prior.variance.cwiseInverse();
  solve_transposed(lower_, across_);
  small_ = Factor(small);
  if (!small_.positive()) refuse_rows();
  log_determinant_ += small_.logdet();
}

void RowGaussian::by_features(const RowPrior& prior, const Vec& noise, Host& host) {
  const Index m = prior.features.cols(), q = prior.variance.size();
  const Vec own = prior.own + noise;
  precision_ = own.cwiseInverse();
  columns_.resize(own.size(), m + q);
  columns_ << prior.features, prior.fixed;
  lower_ = columns_.transpose() * (precision_.asDiagonal() * columns_);
  lower_.diagonal().head(m).array() += 1;
  lower_.diagonal().tail(q) += prior.variance.cwiseInverse();
  if (!lower_.allFinite() || !cholesky(lower_, host)) refuse_rows();
  log_determinant_ =
      own.array().log().sum() + 2 * lower_.diagonal().array().log().sum();
  across_ = divided_transposed(precision_.asDiagonal() * columns_, lower_);
}

Mat RowGaussian::solve(const Mat& r) const {
  if (!full_) return precision_.asDiagonal() * r - across_ * (across_.transpose() * r);
  Mat out = r;
  solve_lower(lower_, out);
  solve_transposed(lower_, out);
  if (across_.cols() > 0) out.noalias() -= across_ * small_.solve(Mat(across_.transpose() * r));
  return out;
}

RowGaussian::Predicted RowGaussian::predict(const Vec& z) const {
  Predicted out;
  if (full_) {
    out.alpha = z;
    if (columns_.cols() > 0) {
      out.coefficients = small_.solve(Vec(across_.transpose() * z));
      out.alpha.noalias() -= columns_ * out.coefficients;
    }
  } else {
    out.coefficients = across_.transpose() * z;
    solve_transposed(lower_, out.coefficients);
    out.alpha = precision_.cwiseProduct(z - columns_ * out.coefficients);
    return out;
  }
  solve_lower(lower_, out.alpha);
  solve_transposed(lower_, out.alpha);
  return out;
}

Mat RowGaussian::inverse(Host& host) const {
  if (!full_) {
    Mat out = -across_ * across_.transpose();
    out.diagonal() += precision_;
    return out;
  }
  Mat out = squared_transposed(inverse_lower(lower_, host), host);
  if (across_.cols() > 0) out.noalias() -= across_ * small_.solve(Mat(across_.transpose()));
  return out;
}

Vec RowGaussian::diagonal(Host& host) const {
  if (!full_) return precision_ - across_.rowwise().squaredNorm();
  Vec out = inverse_lower(lower_, host).colwise().squaredNorm();
  if (across_.cols() > 0)
    out -= across_.cwiseProduct(small_.solve(Mat(across_.transpose())).transpose())
               .rowwise().sum();
  return out;
}

}  // namespace bsvm
