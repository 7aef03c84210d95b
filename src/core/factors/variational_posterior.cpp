// Scores w become R (w + d), loadings a become U'a, U = R^{-1}, means mu - d'a, beta U'beta and the
// intercept b0 - d'beta / unit: A w + mu and b0 + beta'w stay what they are. Of the bound
//
//   - tr(R E sum (w + d)(w + d)' R') / 2 + (N - p - 1) log |R|
//
// and the priors' shares change (a parameter expansion; Luttinen & Ilin 2010). Blocks by themselves
// would go along these directions by small steps.
#include "variational_posterior.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "gaussian/bfgs.hpp"

namespace bsvm {

namespace {

constexpr int kFirstRounds = 3;       // of loadings and classifier before scores move
constexpr int kClassifierRounds = 2;  // a step
constexpr double kStartVariance = 0.1;
constexpr int kLooks = 12;
constexpr int kLocalRounds = 4;  // of blocks a step: of local shrinkage a look takes as long as one
constexpr double kLeastGain = 1e-9;

// A linear map R = I + theta / unit, what the bound gains by it, and the gradient.
struct Turn {
  Vec theta, gradient;
  double gain;
  Mat r, inverse;
  double objective() const { return gain; }
};

}  // namespace

FactorPosterior::FactorPosterior(const SharedFactors& shared, Use use, const Mat& scores,
                                 int threads, Host& host)
    : shared_(shared), loadings_(shared), classifier_(shared, use),
      w_(scores, kStartVariance), theta_(shared.model.process.start) {
  if (!linear()) {
    Vec hyper(shared.model.process.variance->hyper_size(1)), precision(1);
    Moments shape;
    shape.square = Vec::Zero(1);
    shared.model.process.variance->start(shape, hyper);
    shared.model.process.variance->precision(hyper, precision);
    set_numbers(theta_, -0.5 * std::log(precision[0]));
  }
  for (int k = 0; k < kFirstRounds; ++k) update_loadings(threads, host);
  for (int k = 0; k < kFirstRounds && feedback(); ++k) update_classifier();
}

void FactorPosterior::step(int threads, Host& host) {
  if (!joined_) {
    translate();
    rotate();
  }
  for (int round = 0; round < (loadings_.local() ? kLocalRounds : 1); ++round) {
    update_scores(threads, host);
    if (feedback())
      for (int k = 0; k < (linear() ? kClassifierRounds : 1); ++k) update_classifier();
    update_loadings(threads, host);
  }
}

double FactorPosterior::bound() const {
  return loadings_.value() + score_value(shared_, loadings_.sums(), w_) +
         (feedback() ? classifier_.value(w_) + process_value() : 0);
}

void FactorPosterior::update_scores(int threads, Host& host) {
  if (joined_)
    update_process_scores();
  else if (feedback())
    bsvm::update_scores(shared_, loadings_.sums(), classifier_, w_, threads, host);
  else
    w_ = scores_given_x(shared_, loadings_.sums());
}

ScorePosterior FactorPosterior::known_scores() const {
  ScorePosterior out = scores_given_x(shared_, loadings_.sums());
  out.covariance.setZero();
  return out;
}

void FactorPosterior::update_classifier() {
  if (!linear()) update_numbers();
  classifier_.update(feedback() ? w_ : known_scores());
}

double FactorPosterior::classifier_bound() const {
  return classifier_.value(known_scores()) + process_value();
}

void FactorPosterior::translate() {
  const Index k = shared_.model.factors, at = shared_.intercept;
  if (k == 0 || (at < 0 && feedback())) return;
  const double variance = shared_.model.mean_variance;
  const Mat& moments = loadings_.moments();
  Mat precision = moments.bottomRightCorner(k, k) / variance;
  precision.diagonal().array() += static_cast<double>(shared_.model.n());
  Vec linear = moments.col(0).tail(k) / variance - w_.mean.colwise().sum().transpose();
  if (feedback()) {
    const double unit = shared_.model.covariates(0, at);
    const double prior = classifier_.prior_precision()[at];
    const Mat square = classifier_.square();
    precision += prior / (unit * unit) * square.bottomRightCorner(k, k);
    linear += prior / unit * square.col(at).tail(k);
  }
  const Factor factor(precision);
  if (!factor.positive()) refuse_numbers();
  const Vec d = factor.solve(linear);
  const Mat same = Mat::Identity(k, k);
  w_.transform(same, d);
  loadings_.transform(same, d);
  if (feedback()) classifier_.transform(same, d);
}

void FactorPosterior::rotate() {
  const Index k = shared_.model.factors;
  if (k == 0) return;
  const double n = static_cast<double>(shared_.model.n()),
               p = static_cast<double>(shared_.model.p());
  const double unit = std::sqrt(n + p), power = n - p - (feedback() ? 1 : 0);
  const Mat moments = w_.moments().bottomRightCorner(k, k), square = classifier_.square();
  const auto look = [&](const Vec& theta, const Turn&) {
    Turn out;
    out.theta = theta;
    out.r = Mat::Identity(k, k) + Eigen::Map<const Mat>(theta.data(), k, k) / unit;
    const Factor factor(Mat(out.r.transpose() * out.r));
    if (!factor.positive()) refuse_numbers();
    out.inverse = factor.solve(Mat(out.r.transpose()));
    const Mat& u = out.inverse;
    Mat slope;
    out.gain = -0.5 * (out.r * moments).cwiseProduct(out.r).sum() +
               0.5 * power * factor.logdet() + loadings_.prior_value(u, slope);
    if (feedback()) {
      Mat second = square;
      second.bottomRightCorner(k, k) = u.transpose() * square.bottomRightCorner(k, k) * u;
      Vec precision;
      out.gain += classifier_.prior_value(second, precision);
      slope -= square.bottomRightCorner(k, k) * u * precision.tail(k).asDiagonal();
    }
    const Mat gradient = (power * u.transpose() - out.r * moments -
                          u.transpose() * slope * u.transpose()) / unit;
    out.gradient = Eigen::Map<const Vec>(gradient.data(), gradient.size());
    return out;
  };
  Climb<Turn> climb;
  climb.look = look;
  climb.uphill = [](const Turn& of) { return of.gradient; };
  climb.bounded = [](const Vec& theta) { return theta; };
  climb.gain = kLeastGain;
  climb.most = kLooks;
  bool converged;
  const Turn best = bfgs(look(Vec::Zero(k * k), Turn()), climb, LimitedMetric(), converged);
  const Vec none = Vec::Zero(k);
  w_.transform(best.r, none);
  loadings_.transform(best.inverse, none);
  if (feedback()) classifier_.transform(best.inverse, none);
}

}  // namespace bsvm
