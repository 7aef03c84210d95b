#include "ecm_learner.hpp"

#include <cmath>
#include <sstream>

#include "base/error.hpp"
#include "gaussian/bfgs.hpp"
#include "kernel/points.hpp"

namespace bsvm {

namespace {

constexpr double kLeastNoise = 1e-6;  // of lambda: rows on their margin would have no noise at all
constexpr double kGain = 1e-6;        // nats that are not worth another look
constexpr int kLooks = 2;             // that a step takes, or fewer

EcmRows rows_of(const AdditiveModel& model) {
  return {model.n, model.y, model.weight, model.offset};
}

// Rows and columns of a matrix times numbers.
Mat on_both_sides(const Vec& times, const Mat& of) {
  return times.asDiagonal() * of * times.asDiagonal();
}

}  // namespace

EcmLearner::EcmLearner(AdditiveModel model, EcmScheme scheme, Host& host)
    : model_(std::move(model)), scheme_(std::move(scheme)), host_(host),
      ecm_(rows_of(model_), scheme_.loss) {
  Index at = 0;
  for (const Summand& summand : model_.summands) {
    if (!summand.kernel)
      throw InvalidInput("prior", "ECM learns amplitudes of Gaussian-process terms alone.");
    first_.push_back(at);
    at += summand.size();
  }
  if (static_cast<Index>(model_.numbers.size()) != at)
    throw InvalidInput("likelihood", "ECM learns numbers of kernels alone.");
  for (const Mat& points : scheme_.points) {
    first_point_.push_back(at);
    at += points.size();
  }
}

Vec EcmLearner::start() const {
  std::vector<double> out;
  for (const FreeNumber& number : model_.numbers) out.push_back(number.start);
  for (const Mat& points : scheme_.points)
    out.insert(out.end(), points.data(), points.data() + points.size());
  return Eigen::Map<const Vec>(out.data(), static_cast<Index>(out.size()));
}

Mat EcmLearner::points_at(const Vec& x, size_t k) const {
  const Mat& like = scheme_.points[k];
  return Eigen::Map<const Mat>(x.data() + first_point_[k], like.rows(), like.cols());
}

// ---- the prior of f -----------------------------------------------------------------------------

void EcmLearner::make(const Vec& x) {
  made_.resize(model_.summands.size());
  for (size_t k = 0; k < made_.size(); ++k) {
    const Summand& summand = model_.summands[k];
    const Vec theta = x.segment(first_[k] + 1, summand.size() - 1);
    const Vec& times = summand.multiplier;
    Made& out = made_[k];
    if (in_full(k)) {
      out.covariance.resize(model_.n, model_.n);
      summand.kernel->values(summand.inputs, summand.inputs, theta, out.covariance);
      if (times.size() > 0) out.covariance = on_both_sides(times, out.covariance);
      continue;
    }
    const Mat v = points_at(x, k);
    Mat k_mm(v.cols(), v.cols());
    out.cross.resize(model_.n, v.cols());
    summand.kernel->values(v, v, theta, k_mm);
    summand.kernel->values(summand.inputs, v, theta, out.cross);
    out.diagonal = summand.kernel->diagonal(summand.inputs, theta);
    if (times.size() > 0) {
      out.cross = times.asDiagonal() * out.cross;
      out.diagonal = times.cwiseAbs2().cwiseProduct(out.diagonal);
    }
    out.root = covariance_root(k_mm, host_);
    out.features = divided_transposed(out.cross, out.root);
    out.own = (out.diagonal - out.features.rowwise().squaredNorm()).cwiseMax(0.0);
  }
}

// With as many features as rows, or with a summand in full, as a covariance.
RowPrior EcmLearner::prior(const Vec& x) {
  make(x);
  Index columns = 0;
  bool full = false;
  for (size_t k = 0; k < made_.size(); ++k) {
    full = full || in_full(k);
    columns += made_[k].features.cols();
  }
  full = full || columns + model_.fixed.cols() >= model_.n;
  RowPrior out;
  out.fixed = model_.fixed;
  out.variance = model_.variance;
  out.own = Vec::Zero(model_.n);
  if (full) out.covariance = Mat::Zero(model_.n, model_.n);
  else out.features.resize(model_.n, columns);
  Index at = 0;
  for (size_t k = 0; k < made_.size(); ++k) {
    const double sd = std::exp(x[first_[k]]);
    const Made& one = made_[k];
    if (in_full(k)) {
      out.covariance += sd * sd * one.covariance;
      continue;
    }
    out.own += sd * sd * one.own;
    if (full) out.covariance.noalias() += sd * sd * one.features * one.features.transpose();
    else out.features.middleCols(at, one.features.cols()) = sd * one.features;
    at += one.features.cols();
  }
  return out;
}

// ---- the evidence -------------------------------------------------------------------------------

EcmLearner::Evidence EcmLearner::evidence(const Vec& x) {
  if (host_.interrupted()) throw Interrupted();
  const RowPrior prior = this->prior(x);
  const RowGaussian rows(prior, ecm_.noise(kLeastNoise), host_);
  const Vec z = ecm_.target(kLeastNoise), alpha = rows.predict(z).alpha;
  Evidence out{x, Vec::Zero(x.size()), -0.5 * (z.dot(alpha) + rows.log_determinant())};
  Mat p;
  for (size_t k = 0; k < made_.size(); ++k)
    if (in_full(k) && p.size() == 0) {
      p = -0.5 * rows.inverse(host_);
      p.noalias() += 0.5 * alpha * alpha.transpose();
    }
  const Vec diagonal = p.size() > 0 ? Vec(p.diagonal())
                                    : Vec(0.5 * (alpha.cwiseAbs2() - rows.diagonal(host_)));
  for (size_t k = 0; k < made_.size(); ++k) {
    if (in_full(k)) pull_full(k, x, p, out.gradient);
    else pull_points(k, x, rows, alpha, diagonal, out.gradient);
  }
  if (!std::isfinite(out.value) || !out.gradient.allFinite())
    throw NumericalFailure("The evidence is beyond what numbers hold.");
  return out;
}

void EcmLearner::pull_full(size_t k, const Vec& x, const Mat& p, Vec& gradient) const {
  const Summand& summand = model_.summands[k];
  const Index first = first_[k], size = summand.size() - 1;
  const double variance = std::exp(2 * x[first]);
  gradient[first] = 2 * variance * made_[k].covariance.cwiseProduct(p).sum();
  if (size == 0) return;
  const Vec& times = summand.multiplier;
  gradient.segment(first + 1, size) =
      variance * summand.kernel->pull(summand.inputs, summand.inputs, x.segment(first + 1, size),
                                      times.size() > 0 ? on_both_sides(times, p) : p);
}

// across: P0 R'. The points stand on both sides of K_mm.
void EcmLearner::pull_points(size_t k, const Vec& x, const RowGaussian& rows, const Vec& alpha,
                             const Vec& diagonal, Vec& gradient) const {
  const Summand& summand = model_.summands[k];
  const Made& made = made_[k];
  const Index first = first_[k], size = summand.size() - 1;
  const double variance = std::exp(2 * x[first]);
  const Mat ratio = divided_lower(made.features, made.root);
  Mat across = 0.5 * (alpha * Vec(ratio.transpose() * alpha).transpose() - rows.solve(ratio));
  across -= diagonal.asDiagonal() * ratio;
  gradient[first] = 2 * variance * (across.cwiseProduct(made.cross).sum() +
                                    diagonal.dot(made.diagonal));
  const Vec theta = x.segment(first + 1, size);
  const Mat v = points_at(x, k), of_points = -ratio.transpose() * across;
  Vec of_rows = diagonal;
  const Vec& times = summand.multiplier;
  if (times.size() > 0) {
    across = times.asDiagonal() * across;
    of_rows = times.cwiseAbs2().cwiseProduct(of_rows);
  }
  const Kernel& kernel = *summand.kernel;
  if (size > 0)
    gradient.segment(first + 1, size) =
        variance * (2 * kernel.pull(summand.inputs, v, theta, across) +
                    kernel.pull(v, v, theta, of_points) +
                    kernel.diagonal_pull(summand.inputs, theta, of_rows));
  if (!scheme_.move_points) return;
  const Mat moves = 2 * variance * (kernel.input_pull(summand.inputs, v, theta, across) +
                                    kernel.input_pull(v, v, theta, of_points));
  gradient.segment(first_point_[k], moves.size()) =
      Eigen::Map<const Vec>(moves.data(), moves.size());
}

// ---- a round ------------------------------------------------------------------------------------

// Not of a number that is given.
Vec EcmLearner::uphill(const Evidence& at) const {
  Vec out = bsvm::uphill(model_.numbers, at.theta, at.gradient);
  for (size_t k = 0; k < model_.numbers.size(); ++k)
    if (!model_.numbers[k].prior) out[static_cast<Index>(k)] = 0;
  return out;
}

EcmLearner::Evidence EcmLearner::raised(Evidence from) {
  Climb<Evidence> of;
  of.look = [&](const Vec& theta, const Evidence&) { return evidence(theta); };
  of.uphill = [&](const Evidence& at) { return uphill(at); };
  of.bounded = [&](const Vec& theta) { return bounded(model_.numbers, theta); };
  of.gain = kGain;
  of.most = kLooks * scheme_.iterations;
  bool converged = true;
  return bfgs(std::move(from), of, LimitedMetric(), converged);
}

double EcmLearner::largest_change(const Vec& from, const Vec& to) const {
  const auto numbers = static_cast<Index>(model_.numbers.size());
  return numbers > 0 ? (to - from).head(numbers).cwiseAbs().maxCoeff() : 0;
}

EcmLearned EcmLearner::run() {
  EcmLearned out;
  Vec x = bounded(model_.numbers, start());
  for (int round = 1; round <= scheme_.rounds; ++round) {
    const RowPrior prior = this->prior(x);
    for (int k = 0; k < scheme_.iterations; ++k) {
      if (host_.interrupted()) throw Interrupted();
      ecm_.update(prior, host_);
    }
    const Evidence before = evidence(x), now = raised(before);
    out.rounds.push_back(
        {before.value, now.value, ecm_.point().gamma, largest_change(x, now.theta)});
    x = now.theta;
    std::ostringstream text;
    text.precision(6);
    text << "round " << round << ": log evidence given the scales " << now.value;
    host_.progress(text.str());
  }
  out.theta = x.head(static_cast<Index>(model_.numbers.size()));
  for (size_t k = 0; k < scheme_.points.size(); ++k)
    out.points.push_back(in_full(k) ? Mat() : points_at(x, k));
  out.gamma = ecm_.point().gamma;
  return out;
}

}  // namespace bsvm
