// With G_i = sum_n E (1, w_n)(1, w_n)' over the rows where x_i is seen, and D of the priors,
//
//   C_i^{-1} = E psi_i G_i + D_i,   mean_i = E psi_i C_i sum_n E (1, w_n) x_in,
//   q(psi_i) = Gamma(shape + n_i / 2, rate + E |x_i - W1 b_i|^2 / 2),
//
// the latter with all variables' sums if noise is common. Of local shrinkage, with s_ik = E a_ik^2
// and r = E rate, q(phi_ik) at its best has E 1/phi_ik = sqrt(2 r / s_ik) and leaves of the bound
//
//   E log rate - log(2 r) / 2 - sqrt(2 r s_ik),
//
// and q(rate) = Gamma(shape + p K, .) is best where, with m = p K and roots = sum sqrt(s_ik),
//   rate_of_rate r + roots sqrt(r / 2) = m / 2 + shape.
#include "variational_loadings.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "special/functions.hpp"

namespace bsvm {

namespace {

// E log p(psi) - E log q(psi) of gamma densities.
double gamma_share(double shape, double rate, double own_shape, double own_rate) {
  const double log_mean = digamma(own_shape) - std::log(own_rate);
  return shape * std::log(rate) - log_gamma(shape) + (shape - own_shape) * log_mean -
         own_shape * std::log(own_rate) + log_gamma(own_shape) +
         (own_rate - rate) * own_shape / own_rate;
}

}  // namespace

LoadingsPosterior::LoadingsPosterior(const SharedFactors& shared)
    : shared_(shared), model_(shared.model), x_(&shared.x()), squares_(shared.squares.sum()),
      extra_(0),
      rate_(model_.loadings.rate > 0 ? model_.loadings.rate
                                     : model_.loadings.shape / model_.loadings.rate_of_rate) {
  const Index k = model_.factors, size = 1 + k;
  const bool alike = !model_.loadings.local && !model_.noise.each && shared.row_gaps.empty();
  if (alike && model_.p() > model_.n()) {
    turned_ = std::make_unique<TurnedRows>(shared.x());
    x_ = &turned_->columns;
    extra_ = static_cast<double>(model_.p() - x_->cols());
  }
  b_ = Mat::Zero(size, x_->cols());
  covariance_ = Mat::Zero(size * size, alike ? 1 : x_->cols());
  const Index noises = model_.noise.each ? x_->cols() : 1;
  noise_shape_ = noise_rate_ = Vec::Ones(noises);
  if (model_.loadings.local) square_ = Mat::Ones(k, x_->cols());
  for (const auto& prior : model_.loadings.priors) {
    Moments shape;
    shape.count = all_variables();
    shape.square = Vec::Zero(1);
    hyper_.emplace_back(prior->hyper_size(1));
    prior->start(shape, hyper_.back());
  }
  moments_ = Mat::Zero(size, size);
  weighted_ = Mat::Zero(model_.noise.each ? size : 0, model_.noise.each ? size : 0);
  linear_ = Mat::Zero(model_.n(), k);
  gather();
}

Eigen::Map<const Mat> LoadingsPosterior::covariance(Index variable) const {
  const Index at = shares() ? 0 : variable;
  return {covariance_.data() + at * covariance_.rows(), b_.rows(), b_.rows()};
}

Mat LoadingsPosterior::second_of(Index i) const {
  return covariance(i) + b_.col(i) * b_.col(i).transpose();
}

double LoadingsPosterior::seen_of(Index i) const {
  const Index gap = turned_ ? -1 : shared_.gap_of[static_cast<size_t>(i)];
  return gap < 0 ? static_cast<double>(model_.n())
                 : shared_.variable_gaps[static_cast<size_t>(gap)].seen;
}

double LoadingsPosterior::psi_of(Index i) const {
  const Index at = model_.noise.each ? i : 0;
  return noise_shape_[at] / noise_rate_[at];
}

void LoadingsPosterior::update_noise(double residual) {
  if (model_.noise.each) return;
  double count = static_cast<double>(model_.n()) * extra_;
  for (Index i = 0; i < variables(); ++i) count += seen_of(i);
  noise_shape_[0] = model_.noise.shape + 0.5 * count;
  noise_rate_[0] = model_.noise.rate + 0.5 * std::max(residual, 0.0);
}

void LoadingsPosterior::update_variances() {
  if (local()) {
    for (Index i = 0; i < variables(); ++i)
      square_.col(i) = second_of(i).diagonal().tail(model_.factors);
    rate_ = best_rate(square_.cwiseSqrt().sum());
    return;
  }
  for (size_t k = 0; k < hyper_.size(); ++k) {
    Moments own;
    own.count = all_variables();
    own.square = Vec::Constant(1, moments_.diagonal()[1 + static_cast<Index>(k)]);
    model_.loadings.priors[k]->update(own, 1, hyper_[k]);
  }
}

double LoadingsPosterior::best_rate(double roots) const {
  const LoadingsPart& own = model_.loadings;
  if (own.rate > 0) return own.rate;
  const double count = all_variables() * static_cast<double>(model_.factors);
  const double half = 0.5 * roots / std::sqrt(2.0), c = 0.5 * count + own.shape;
  const double u = c / (half + std::sqrt(half * half + own.rate_of_rate * c));
  return u * u;
}

double LoadingsPosterior::local_value(double roots, double rate) const {
  const LoadingsPart& own = model_.loadings;
  const double count = all_variables() * static_cast<double>(model_.factors);
  double log_rate = std::log(rate), out = 0;
  if (!(own.rate > 0)) {
    const double shape = own.shape + count;
    log_rate += digamma(shape) - std::log(shape);
    out = gamma_share(own.shape, own.rate_of_rate, shape, shape / rate);
  }
  return out + count * (log_rate - 0.5 * std::log(2 * rate)) - std::sqrt(2 * rate) * roots;
}

double LoadingsPosterior::noise_value() const {
  double out = 0;
  for (Index i = 0; i < noise_shape_.size(); ++i) {
    const double a = noise_shape_[i], b = noise_rate_[i];
    double count = seen_of(i);
    if (!model_.noise.each) count = 2 * (a - model_.noise.shape);
    out += gamma_share(model_.noise.shape, model_.noise.rate, a, b) +
           0.5 * count * (digamma(a) - std::log(b) - kLog2Pi);
  }
  return out;
}

double LoadingsPosterior::value() const {
  const double p = all_variables(), size = static_cast<double>(b_.rows());
  double out = -0.5 * center_ + noise_value() + 0.5 * logdets_ + 0.5 * p * size * (1 + kLog2Pi) -
               0.5 * p * (kLog2Pi + std::log(model_.mean_variance)) -
               0.5 * moments_(0, 0) / model_.mean_variance;
  if (local()) return out + local_value(square_.cwiseSqrt().sum(), rate_);
  for (size_t k = 0; k < hyper_.size(); ++k) {
    Moments own;
    own.count = p;
    own.square = Vec::Constant(1, moments_.diagonal()[1 + static_cast<Index>(k)]);
    out += model_.loadings.priors[k]->value(own, hyper_[k]);
  }
  return out;
}

double LoadingsPosterior::prior_value(const Mat& u, Mat& gradient) const {
  const Index k = model_.factors;
  gradient = Mat::Zero(k, k);
  if (!local()) {
    const Mat along = moments_.bottomRightCorner(k, k) * u;
    double out = 0;
    for (Index j = 0; j < k; ++j) {
      const Prior& prior = *model_.loadings.priors[static_cast<size_t>(j)];
      Moments own;
      own.count = all_variables();
      own.square = Vec::Constant(1, u.col(j).dot(along.col(j)));
      Vec hyper = hyper_[static_cast<size_t>(j)], precision(1);
      prior.update(own, 1, hyper);
      prior.precision(hyper, precision);
      out += prior.value(own, hyper);
      gradient.col(j) = -precision[0] * along.col(j);
    }
    return out;
  }
  double roots = 0;
  for (Index i = 0; i < variables(); ++i) {
    const Mat along = second_of(i).bottomRightCorner(k, k) * u;
    for (Index j = 0; j < k; ++j) {
      const double root = std::sqrt(u.col(j).dot(along.col(j)));
      roots += root;
      gradient.col(j) -= along.col(j) / root;
    }
  }
  const double rate = best_rate(roots);
  gradient *= std::sqrt(2 * rate);
  return local_value(roots, rate);
}

void LoadingsPosterior::transform(const Mat& u, const Vec& d) {
  const Index k = model_.factors, size = 1 + k;
  Mat map = Mat::Zero(size, size);
  map(0, 0) = 1;
  map.row(0).tail(k) = -d.transpose();
  map.bottomRightCorner(k, k) = u.transpose();
  center_ += 2 * d.dot(sums_.linear.colwise().sum().transpose());
  for (Index n = 0; n < model_.n(); ++n) {
    const Index at = shared_.place[static_cast<size_t>(n)];
    const Mat& own = at < 0 ? sums_.precision : sums_.own[static_cast<size_t>(at)];
    center_ += d.dot(own * d) - d.squaredNorm();
  }
  b_ = map * b_;
  for (Index i = 0; i < covariance_.cols(); ++i) {
    const Mat own = map * covariance(i) * map.transpose();
    covariance_.col(i) = Eigen::Map<const Vec>(own.data(), own.size());
  }
  logdets_ += all_variables() * Factor(u * u.transpose()).logdet();
  for (Mat* own : {&moments_, &weighted_})
    if (own->size() > 0) *own = map * *own * map.transpose();
  linear_ = linear_ * u;
  update_variances();
  gather();
}

// What rows lack of the sums is taken from them, or, of rows that lack most, only what they have is
// summed.
void LoadingsPosterior::gather() {
  const Index k = model_.factors;
  const double scale = model_.noise.each ? 1 : psi_of(0);
  const Mat& own = model_.noise.each ? weighted_ : moments_;
  sums_.precision = Mat::Identity(k, k) + scale * own.bottomRightCorner(k, k);
  sums_.linear = scale * linear_;
  sums_.own.assign(shared_.row_gaps.size(), sums_.precision);
  const Vec cross = scale * own.col(0).tail(k);
  for (Index n = 0; n < model_.n(); ++n) {
    const Index at = shared_.place[static_cast<size_t>(n)];
    if (at < 0) {
      sums_.linear.row(n) -= cross.transpose();
      continue;
    }
    const Gaps& gaps = shared_.row_gaps[static_cast<size_t>(at)];
    Mat listed = Mat::Zero(1 + k, 1 + k);
    for (const Index i : gaps.listed) listed += psi_of(i) * second_of(i);
    Mat& precision = sums_.own[static_cast<size_t>(at)];
    const Vec own_cross = listed.col(0).tail(k);
    if (gaps.lists_seen) precision = Mat::Identity(k, k) + listed.bottomRightCorner(k, k);
    else precision -= listed.bottomRightCorner(k, k);
    sums_.linear.row(n) -= (gaps.lists_seen ? own_cross : Vec(cross - own_cross)).transpose();
  }
}

Vec LoadingsPosterior::noise() const {
  return noise_shape_.cwiseQuotient(noise_rate_);
}

Vec LoadingsPosterior::variances() const {
  Vec out(static_cast<Index>(hyper_.size())), one(1);
  for (size_t k = 0; k < hyper_.size(); ++k) {
    model_.loadings.priors[k]->precision(hyper_[k], one);
    out[static_cast<Index>(k)] = 1 / one[0];
  }
  return out;
}

Mat LoadingsPosterior::means() const {
  if (!turned_) return b_;
  return (b_ * turned_->back.transpose()) * shared_.x();
}

LoadingsPosterior::Draw LoadingsPosterior::draw(const DrawKey& now) const {
  Draw out{means(), noise(), rate_};
  Mat root;
  for (Index i = 0; i < out.b.cols(); ++i) {
    if (i == 0 || !shares()) root = Factor(covariance(i)).lower();
    Draws random(now, Purpose::design, static_cast<std::uint64_t>(i));
    Vec z(root.rows());
    for (Index j = 0; j < z.size(); ++j) z[j] = random.normal();
    out.b.col(i) += lower_product(root, z);
  }
  for (Index i = 0; i < out.psi.size(); ++i) {
    Draws random(now, Purpose::unknown, static_cast<std::uint64_t>(i));
    out.psi[i] = random.gamma(noise_shape_[i]) / noise_rate_[i];
  }
  if (local() && !(model_.loadings.rate > 0)) {
    Draws random(now, Purpose::hyper, std::uint64_t{3} << 32);
    const double shape =
        model_.loadings.shape + all_variables() * static_cast<double>(model_.factors);
    out.rate = random.gamma(shape) / shape * rate_;
  }
  return out;
}

}  // namespace bsvm
