// With omega and s of each row times its power, c_n = (t_n, m_n) and V the covariance of c_n, which
// covariates have no part in, the bound in q(b) = N(mean, C) is stationary where
//
//   C^{-1} = P = D + sum_n omega_n E c_n c_n',   0 = sum_n (s_n E c_n - omega_n V mean) - D mean,
//
// D the priors' E 1/variance. A step goes to that C, and by P^{-1} times the gradient to that mean;
// with latent scales that is the coordinate update, else it is shortened until the bound rises.
#include "variational_classifier.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "special/functions.hpp"

namespace bsvm {

namespace {

constexpr int kHalvingsOfStep = 12;
constexpr double kRoundingOfBound = 1e-12;
constexpr double kThetaShift = 1e-3, kLongestTheta = 1, kMostTheta = 100;

Vec as_vector(const Mat& a) {
  return Eigen::Map<const Vec>(a.data(), a.size());
}

}  // namespace

ClassifierPosterior::ClassifierPosterior(const SharedFactors& shared, Use use)
    : shared_(shared), use_(use), features_(Mat::Zero(shared.model.n(), shared.points.cols())),
      left_over_(Vec::Zero(shared.model.n())),
      mean_(Vec::Zero(shared.model.coefficients() + shared.points.cols())),
      theta_(Vec::Zero(shared.model.likelihood->free_size())) {
  const Index r = static_cast<Index>(shared.labelled.size());
  const Vec offset = shared.offset();
  labels_ = {Arr(r), Arr(r), Arr(r)};
  for (Index i = 0; i < r; ++i) {
    const Index n = shared.labelled[static_cast<size_t>(i)];
    labels_.y[i] = shared.model.y[n];
    labels_.weight[i] = shared.weight(n);
    labels_.offset[i] = offset[n];
  }
  for (const CoefficientPart& part : shared.model.parts) {
    Moments shape;
    shape.count = static_cast<double>(part.places.size());
    shape.square = Vec::Zero(static_cast<Index>(part.places.size()));
    hyper_.emplace_back(part.prior->hyper_size(shape.square.size()));
    part.prior->start(shape, hyper_.back());
  }
  set_theta(theta_);
  covariance_ = prior_precision().cwiseInverse().cwiseMin(1).asDiagonal();
  logdet_ = covariance_.diagonal().array().log().sum();
}

void ClassifierPosterior::set_theta(const Vec& theta) {
  theta_ = theta;
  if (theta_.size() > 0) own_ = shared_.model.likelihood->with(theta_);
}

Vec ClassifierPosterior::prior_precision() const {
  Vec out = Vec::Ones(mean_.size());
  for (size_t k = 0; k < hyper_.size(); ++k) {
    const CoefficientPart& part = shared_.model.parts[k];
    Vec own(static_cast<Index>(part.places.size()));
    if (own.size() == 0) continue;
    part.prior->precision(hyper_[k], own);
    for (Index a = 0; a < own.size(); ++a) out[part.places[static_cast<size_t>(a)]] = own[a];
  }
  return out;
}

void ClassifierPosterior::terms(const Arr& y, const PredictorMoments& f, RowTerms& out) const {
  out.resize(y.size());
  if (y.size() > 0) likelihood().terms(use_, y, f.mean, f.variance, out);
}

Mat ClassifierPosterior::design(const ScorePosterior& w) const {
  Mat out(labels_.y.size(), mean_.size());
  for (Index i = 0; i < out.rows(); ++i) {
    const Index n = shared_.labelled[static_cast<size_t>(i)];
    if (linear()) out.row(i) << shared_.model.covariates.row(n), w.mean.row(n);
    else out.row(i) << shared_.model.covariates.row(n), features_.row(n);
  }
  return out;
}

PredictorMoments ClassifierPosterior::links(const Mat& design, const ScorePosterior& w,
                                       const Vec& mean, const Mat& covariance) const {
  const Index k = uncertain();
  const Vec beta = mean.tail(k);
  const Vec second = as_vector(covariance.bottomRightCorner(k, k) + beta * beta.transpose());
  PredictorMoments out;
  out.mean = labels_.offset + (design * mean).array();
  out.variance = (design * covariance).cwiseProduct(design).rowwise().sum().array();
  for (Index i = 0; i < design.rows(); ++i) {
    const Index n = shared_.labelled[static_cast<size_t>(i)];
    out.variance[i] += linear() ? w.covariance.col(n).dot(second) : left_over_[n];
  }
  out.variance = out.variance.max(0);
  return out;
}

double ClassifierPosterior::rows_value(const PredictorMoments& f) const {
  RowTerms own;
  terms(labels_.y, f, own);
  return (labels_.weight * own.value).sum();
}

Moments ClassifierPosterior::moments_of(size_t part, const Mat& square) const {
  const std::vector<Index>& places = shared_.model.parts[part].places;
  Moments out;
  out.square.resize(static_cast<Index>(places.size()));
  out.count = static_cast<double>(places.size());
  for (Index a = 0; a < out.square.size(); ++a) {
    const Index at = places[static_cast<size_t>(a)];
    out.square[a] = square(at, at);
  }
  return out;
}

void ClassifierPosterior::set_features(Mat features, Vec left_over) {
  features_ = std::move(features);
  left_over_ = std::move(left_over);
}

Mat ClassifierPosterior::feature_slopes(const ScorePosterior& w) const {
  const Mat rows = design(w);
  const Index m = features_.cols();
  RowTerms own;
  terms(labels_.y, links(rows, w, mean_, covariance_), own);
  const Arr omega = labels_.weight * own.weight;
  return mean_.tail(m) * (labels_.weight * own.slope).matrix().transpose() -
         (covariance_.bottomRows(m) * rows.transpose() - rows.rightCols(m).transpose()) *
             omega.matrix().asDiagonal();
}

void ClassifierPosterior::update(const ScorePosterior& w) {
  update_coefficients(w);
  update_hyper();
  if (theta_.size() > 0) update_theta(links(w));
}

void ClassifierPosterior::update_coefficients(const ScorePosterior& w) {
  if (mean_.size() == 0) return;
  const Index k = uncertain();
  const Mat rows = design(w);
  const Vec prior = prior_precision();
  RowTerms own;
  const PredictorMoments now = links(rows, w, mean_, covariance_);
  terms(labels_.y, now, own);
  const auto value = [&](const PredictorMoments& f, const Vec& mean, const Mat& covariance,
                         double logdet) {
    return rows_value(f) + 0.5 * logdet -
           0.5 * prior.dot(covariance.diagonal() + mean.cwiseAbs2());
  };
  const auto precision_of = [&](const Arr& omega, Mat& scatter) {
    Vec sum = Vec::Zero(k * k);
    for (Index i = 0; i < omega.size() && k > 0; ++i)
      sum += omega[i] * w.covariance.col(shared_.labelled[static_cast<size_t>(i)]);
    scatter = Eigen::Map<const Mat>(sum.data(), k, k);
    Mat out = rows.transpose() * omega.matrix().asDiagonal() * rows;
    out.bottomRightCorner(k, k) += scatter;
    out.diagonal() += prior;
    return out;
  };
  Mat scatter;  // sum_n omega_n V_n
  Mat precision = precision_of(labels_.weight * own.weight, scatter);
  Vec gradient = rows.transpose() * (labels_.weight * own.slope).matrix() -
                 prior.cwiseProduct(mean_);
  gradient.tail(k) -= scatter * mean_.tail(k);
  Factor factor(precision);
  // a likelihood that is not concave may have rows of negative weight
  if (!factor.positive()) {
    precision = precision_of(labels_.weight * own.weight.max(0), scatter);
    factor = Factor(precision);
  }
  if (!factor.positive()) refuse_numbers();
  const Vec step = factor.solve(gradient);
  const double before = value(now, mean_, covariance_, logdet_);
  const Mat start = Factor(covariance_).inverse();
  double share = 1;
  for (int j = 0; j < kHalvingsOfStep; ++j, share *= 0.5) {
    const Factor mixed(Mat((1 - share) * start + share * precision));
    if (!mixed.positive()) continue;
    const Vec mean = mean_ + share * step;
    const Mat covariance = mixed.inverse();
    const double there =
        value(links(rows, w, mean, covariance), mean, covariance, -mixed.logdet());
    if (!(there >= before - kRoundingOfBound * (1 + std::abs(before)))) continue;
    mean_ = mean;
    covariance_ = covariance;
    logdet_ = -mixed.logdet();
    return;
  }
}

void ClassifierPosterior::update_hyper() {
  const Mat second = square();
  for (size_t k = 0; k < hyper_.size(); ++k)
    if (!shared_.model.parts[k].places.empty())
      shared_.model.parts[k].prior->update(moments_of(k, second), 1, hyper_[k]);
}

double ClassifierPosterior::theta_value(const Vec& theta) const {
  double out = 0;
  for (Index k = 0; k < theta.size(); ++k) {
    Vec gradient(1);
    out += shared_.model.parameters[static_cast<size_t>(k)]->log_joint(
        Moments(), theta.segment(k, 1), gradient);
  }
  return out;
}

// Newton's steps by differences, one number at a time, none that lowers the bound.
void ClassifierPosterior::update_theta(const PredictorMoments& f) {
  const auto value = [&](const Vec& theta) {
    set_theta(theta);
    return rows_value(f) + theta_value(theta);
  };
  for (Index k = 0; k < theta_.size(); ++k) {
    const Vec here = theta_, unit = Vec::Unit(here.size(), k);
    const double middle = value(here), up = value(here + kThetaShift * unit),
                 down = value(here - kThetaShift * unit);
    const double slope = (up - down) / (2 * kThetaShift);
    const double bend = (2 * middle - up - down) / (kThetaShift * kThetaShift);
    double step = bend > 0 ? slope / bend : std::copysign(kLongestTheta, slope);
    step = std::clamp(step, -kLongestTheta, kLongestTheta);
    Vec best = here;
    for (int j = 0; j < kHalvingsOfStep; ++j, step *= 0.5) {
      const Vec there = here + step * unit;
      if (!(std::abs(there[k]) < kMostTheta && value(there) >= middle)) continue;
      best = there;
      break;
    }
    set_theta(best);
  }
}

double ClassifierPosterior::value(const ScorePosterior& w) const {
  double out = rows_value(links(w)) + theta_value(theta_) + 0.5 * logdet_ +
               0.5 * static_cast<double>(mean_.size()) * (1 + kLog2Pi);
  const Mat second = square();
  const Index m = features_.cols();
  out -= 0.5 * (static_cast<double>(m) * kLog2Pi + second.diagonal().tail(m).sum());
  for (size_t k = 0; k < hyper_.size(); ++k)
    if (!shared_.model.parts[k].places.empty())
      out += shared_.model.parts[k].prior->value(moments_of(k, second), hyper_[k]);
  return out;
}

double ClassifierPosterior::prior_value(const Mat& square, Vec& precision) const {
  double out = 0;
  precision = Vec::Zero(mean_.size());
  for (size_t k = 0; k < hyper_.size(); ++k) {
    const CoefficientPart& part = shared_.model.parts[k];
    if (part.places.empty()) continue;
    const Moments moments = moments_of(k, square);
    Vec hyper = hyper_[k], own(moments.square.size());
    part.prior->update(moments, 1, hyper);
    out += part.prior->value(moments, hyper);
    part.prior->precision(hyper, own);
    for (Index a = 0; a < own.size(); ++a) precision[part.places[static_cast<size_t>(a)]] = own[a];
  }
  return out;
}

void ClassifierPosterior::transform(const Mat& u, const Vec& d) {
  const Index k = u.rows(), size = mean_.size();
  if (k == 0) return;
  Mat map = Mat::Identity(size, size);
  map.bottomRightCorner(k, k) = u.transpose();
  if (shared_.intercept >= 0)
    map.row(shared_.intercept).tail(k) =
        -d.transpose() / shared_.model.covariates(0, shared_.intercept);
  mean_ = map * mean_;
  covariance_ = map * covariance_ * map.transpose();
  logdet_ += Factor(u * u.transpose()).logdet();
  update_hyper();
}

}  // namespace bsvm
