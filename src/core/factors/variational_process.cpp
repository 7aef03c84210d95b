// A Gaussian process of the scores as classifier (001, section 5, there VB-EM): by features h of
// inducing points V,
//
//   f_n = offset_n + t_n'alpha + sd h(w_n)'b + e_n,   b ~ N(0, I),
//   e_n ~ N(0, sd^2 (k(w_n, w_n) - |h(w_n)|^2)),      h(w) = L^{-1} k(V, w),   L L' = k(V, V),
//
// e_n independent, with its prior for its q. The kernel's numbers theta and log sd are points, with
// their priors. In h a score is its mean alone: q(w_n) = N(m_n, S_n) with S_n as x has it, and m_n
// climbs, by limited-memory BFGS in coordinates that whiten what x says of it. Other coordinates
// would change the kernel, so that scores start where x alone has them.
#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "gaussian/bfgs.hpp"
#include "kernel/points.hpp"
#include "variational_posterior.hpp"

namespace bsvm {

namespace {

constexpr int kWarmRounds = 5;
constexpr int kScoreLooks = 12;
constexpr double kScoreGain = 1e-7;
constexpr double kNumberShift = 1e-4, kMostNumber = 50, kNumberGain = 1e-5;
constexpr int kNumberLooks = 4, kCoefficientRounds = 2;

// Whitened mean scores of the labelled rows, their share of the bound, and the gradient.
struct ScoreTrial {
  Vec theta, gradient;
  double value;
  double objective() const { return value; }
};

// Numbers of the process, and q(b) near its best for them.
struct NumberTrial {
  Vec theta, gradient;
  ClassifierPosterior::Coefficients coefficients;
  double value;
  double objective() const { return value; }
};

}  // namespace

void FactorPosterior::set_numbers(const Vec& theta, double log_sd) {
  Host nobody;
  Mat k(shared_.points.cols(), shared_.points.cols());
  shared_.model.process.kernel->values(shared_.points, shared_.points, theta, k);
  root_ = covariance_root(k, nobody);
  theta_ = theta;
  log_sd_ = log_sd;
  refresh_features();
}

Mat FactorPosterior::features_at(const Mat& w, Vec& left_over) const {
  const Kernel& kernel = *shared_.model.process.kernel;
  Mat h(shared_.points.cols(), w.cols());
  kernel.values(shared_.points, w, theta_, h);
  solve_lower(root_, h);
  const double sd = std::exp(log_sd_);
  left_over = sd * sd * (kernel.diagonal(w, theta_) - h.colwise().squaredNorm().transpose())
                            .cwiseMax(0.0);
  return sd * h;
}

void FactorPosterior::refresh_features() {
  Vec left_over;
  const Mat features = features_at((feedback() ? w_ : known_scores()).mean.transpose(), left_over);
  classifier_.set_features(features.transpose(), left_over);
}

double FactorPosterior::process_value() const {
  if (linear()) return 0;
  const ProcessPart& process = shared_.model.process;
  Vec gradient(1);
  double out = 0;
  if (process.variance->free_size(1) > 0)
    out += process.variance->log_joint(Moments(), Vec::Constant(1, log_sd_), gradient);
  for (Index k = 0; k < theta_.size(); ++k)
    if (process.numbers[static_cast<size_t>(k)])
      out += process.numbers[static_cast<size_t>(k)]->log_joint(Moments(), theta_.segment(k, 1),
                                                                gradient);
  return out;
}

void FactorPosterior::join() {
  refresh_features();
  for (int k = 0; k < kWarmRounds; ++k) update_classifier();
  joined_ = shared_.model.feedback;
}

// By BFGS, with coefficients at their best for the numbers: held, they would hold the numbers where
// they are. At that best the slope is the one with coefficients held, by differences.
void FactorPosterior::update_numbers() {
  const ProcessPart& process = shared_.model.process;
  const ScorePosterior w = feedback() ? w_ : known_scores();
  std::vector<Index> inferred;  // places in theta, and of log sd after these
  for (Index k = 0; k < theta_.size(); ++k)
    if (process.numbers[static_cast<size_t>(k)]) inferred.push_back(k);
  if (process.variance->free_size(1) > 0) inferred.push_back(theta_.size());
  refresh_features();
  if (inferred.empty()) return;
  Vec all(theta_.size() + 1);
  all << theta_, log_sd_;
  const auto move = [&](const Vec& numbers) {
    for (size_t j = 0; j < inferred.size(); ++j) all[inferred[j]] = numbers[static_cast<Index>(j)];
    set_numbers(all.head(theta_.size()), all[theta_.size()]);
  };
  const auto value = [&](const Vec& numbers) {
    move(numbers);
    return classifier_.value(w) + process_value();
  };
  const auto look = [&](const Vec& theta, const NumberTrial& near) {
    NumberTrial out;
    out.theta = theta;
    move(theta);
    classifier_.set(near.coefficients);
    for (int k = 0; k < kCoefficientRounds; ++k) classifier_.update_coefficients(w);
    out.coefficients = classifier_.coefficients();
    out.value = classifier_.value(w) + process_value();
    out.gradient.resize(theta.size());
    for (Index j = 0; j < theta.size(); ++j) {
      const Vec by = kNumberShift * Vec::Unit(theta.size(), j);
      out.gradient[j] = (value(theta + by) - value(theta - by)) / (2 * kNumberShift);
    }
    return out;
  };
  NumberTrial start;
  start.theta.resize(static_cast<Index>(inferred.size()));
  for (size_t j = 0; j < inferred.size(); ++j)
    start.theta[static_cast<Index>(j)] = all[inferred[j]];
  start.coefficients = classifier_.coefficients();
  start = look(start.theta, start);
  Climb<NumberTrial> climb;
  climb.look = look;
  climb.uphill = [](const NumberTrial& of) { return of.gradient; };
  climb.bounded = [](const Vec& theta) {
    return Vec(theta.cwiseMax(-kMostNumber).cwiseMin(kMostNumber));
  };
  climb.gain = kNumberGain;
  climb.most = kNumberLooks;
  climb.numbers = start.theta.size();
  bool converged;
  const NumberTrial best = bfgs(start, climb, FullMetric(start.theta.size()), converged);
  move(best.theta);
  classifier_.set(best.coefficients);
}

void FactorPosterior::update_process_scores() {
  const Index k = shared_.model.factors, r = static_cast<Index>(shared_.labelled.size());
  const Scores given(loadings_.sums(), shared_.place);
  const Mat before = w_.mean;
  w_ = scores_given_x(shared_, loadings_.sums());
  for (const Index n : shared_.labelled) w_.mean.row(n) = before.row(n);
  if (k == 0 || r == 0) return refresh_features();
  const auto row = [&](Index i) { return shared_.labelled[static_cast<size_t>(i)]; };
  const double sd = std::exp(log_sd_);
  const auto look = [&](const Vec& theta, const ScoreTrial&) {
    ScoreTrial out{theta, Vec(theta.size()), 0};
    Mat inputs(k, r);  // labelled scores
    for (Index i = 0; i < r; ++i) {
      Vec m = theta.segment(i * k, k);
      solve_transposed(given.root(row(i)), m);
      inputs.col(i) = m + given.mean().row(row(i)).transpose();
      w_.mean.row(row(i)) = inputs.col(i).transpose();
    }
    refresh_features();
    out.value = classifier_.rows_value(w_) - 0.5 * theta.squaredNorm();
    Mat slopes = sd * classifier_.feature_slopes(w_);
    solve_transposed(root_, slopes);
    const Mat pulled =
        shared_.model.process.kernel->input_pull(shared_.points, inputs, theta_, slopes);
    for (Index i = 0; i < r; ++i) {
      Vec own = pulled.col(i);
      solve_lower(given.root(row(i)), own);
      out.gradient.segment(i * k, k) = own - theta.segment(i * k, k);
    }
    return out;
  };
  Vec start(r * k);
  for (Index i = 0; i < r; ++i)
    start.segment(i * k, k) = transposed_product(
        given.root(row(i)), Vec((w_.mean.row(row(i)) - given.mean().row(row(i))).transpose()));
  Climb<ScoreTrial> climb;
  climb.look = look;
  climb.uphill = [](const ScoreTrial& of) { return of.gradient; };
  climb.bounded = [](const Vec& theta) { return theta; };
  climb.gain = kScoreGain;
  climb.most = kScoreLooks;
  bool converged;
  const ScoreTrial best = bfgs(look(start, ScoreTrial()), climb, LimitedMetric(), converged);
  look(best.theta, best);
}

}  // namespace bsvm
