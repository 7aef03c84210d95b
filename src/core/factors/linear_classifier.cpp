#include "classifier.hpp"

#include <algorithm>
#include <cmath>

#include "classifier_numbers.hpp"
#include "random/slice.hpp"
#include "rows/lanes.hpp"
#include "special/functions.hpp"

namespace bsvm {

namespace {

constexpr double kWidth = 5;      // of a slice, in standard deviations of a nearby normal density
constexpr double kScaleWidth = 0.5, kFarthestScale = 20;  // logarithms
// Without feedback b must follow all else at once (Plummer 2015): so often it is drawn.
constexpr int kRoundsAlone = 4;
constexpr Index kRowsOfLane = 256;
constexpr double kStartApart = 0.1;

// A row's precision in f, once what is unknown of f is taken out of it again.
double row_precision(const Likelihood& likelihood, double y, double weight) {
  const double k = likelihood.averaged(y, y, 1, weight).curvature;
  return k < 1 ? std::clamp(k / (1 - k), 1e-4, 1e8) : 1e8;
}

// Of the labelled rows: c_n = (t_n, m_n), and the mean and variance of f_n at b and at b + t delta,
// mean + t along, variance + 2 t cross + t^2 square.
struct LinearRows {
  const SharedFactors& shared;
  const Scores& scores;
  Mat design;  // (rows, d + K)
  Vec y, weight, mean, variance, along, cross, square;
  std::vector<Index> incomplete;  // places among the labelled rows

  LinearRows(const SharedFactors& of, const Scores& given, const Vec& b)
      : shared(of), scores(given),
        design(static_cast<Index>(of.labelled.size()), of.model.coefficients()), y(design.rows()),
        weight(design.rows()), variance(Vec::Zero(design.rows())), along(variance),
        cross(variance), square(variance) {
    const Vec offset = of.offset();
    Vec own(design.rows());
    for (Index i = 0; i < design.rows(); ++i) {
      const Index n = row(i);
      design.row(i) << of.model.covariates.row(n), given.mean().row(n);
      y[i] = of.model.y[n];
      weight[i] = of.weight(n);
      own[i] = offset[n];
      if (!given.complete(n)) incomplete.push_back(i);
    }
    mean = own + design * b;
    if (!of.model.feedback) return;
    const Vec beta = b.tail(of.model.factors);
    variance.setConstant(beta.dot(given.covariance() * beta));
    for (const Index i : incomplete) variance[i] = beta.dot(given.covariance(row(i)) * beta);
  }

  Index row(Index i) const { return shared.labelled[static_cast<size_t>(i)]; }

  void aim(const Vec& b, const Vec& delta) {
    along = design * delta;
    if (!shared.model.feedback) return;
    const Vec beta = b.tail(shared.model.factors), to = delta.tail(shared.model.factors);
    const auto aim_one = [&](const Mat& covariance, double& linear, double& quadratic) {
      const Vec moved = covariance * to;
      linear = beta.dot(moved);
      quadratic = to.dot(moved);
    };
    double linear, quadratic;
    aim_one(scores.covariance(), linear, quadratic);
    cross.setConstant(linear);
    square.setConstant(quadratic);
    for (const Index i : incomplete) aim_one(scores.covariance(row(i)), cross[i], square[i]);
  }

  void move(double t) {
    mean += t * along;
    variance += t * (2 * cross + t * square);
  }

  double log_likelihood(const Likelihood& likelihood, double t) const {
    double sum = 0;
    for (Index i = 0; i < y.size(); ++i) {
      const double v = variance[i] + t * (2 * cross[i] + t * square[i]);
      sum += likelihood.averaged(y[i], mean[i] + t * along[i], std::max(v, kLeastLeftover),
                                 weight[i]).value;
    }
    return sum;
  }
};

// b = (alpha, beta). Given x alone, scores integrated out,
//
//   f_n ~ N(offset_n + t_n'alpha + m_n'beta, beta'S_n beta),
//
// so that b is drawn by slices of sum_n log E p(y_n | f_n) + log p(b), with no score in between.
// Then scores w_0 ~ N(m_n, S_n), f_n given y_n exactly, and w_n = w_0 + S_n beta (f_n - f_n(w_0)) /
// beta'S_n beta (Matheron's rule).
class LinearClassifier : public Classifier {
 public:
  LinearClassifier(const SharedFactors& shared, Draws& random)
      : shared_(shared), b_(start(shared.model, random)), priors_(shared.model, random),
        numbers_(shared.model, random) {}

  void draw(const Scores& scores, const DrawKey& now, int, Host&) override;
  Mat draw_scores(const Scores& scores, const DrawKey& now, int threads, Host& host) override;
  Vec draw_translation(Mat precision, Vec linear, const DrawKey& now, int, Host&) override;

  LinkMoments links(const Scores& scores, int) const override {
    return linear_links(scores, beta(), shared_.model.feedback);
  }
  double leftover(const Scores& scores, const LinkMoments&) const override {
    return shared_.model.feedback ? beta().dot(direction(scores)) : 0;
  }
  Vec direction(const Scores& scores) const override { return scores.covariance() * beta(); }
  Vec alpha() const override { return b_.head(shared_.model.d()); }
  Vec coefficients() const override { return b_; }

  NamedNumbers drawn() const override {
    NamedNumbers out = priors_.drawn();
    for (const auto& number : numbers_.drawn()) out.push_back(number);
    return out;
  }

  void visit(Archive& archive) override {
    archive.part(b_);
    priors_.visit(archive);
    numbers_.visit(archive);
  }

 private:
  static Vec start(const FactorModel& model, Draws& random) {
    Vec out(model.coefficients());
    for (Index k = 0; k < out.size(); ++k) out[k] = kStartApart * random.normal();
    return out;
  }

  Vec beta() const { return b_.tail(shared_.model.factors); }
  const Likelihood& likelihood() const { return numbers_.likelihood(); }
  void draw_coefficients(const DrawKey& now, int round, LinearRows& rows);
  void draw_scale(size_t part, const DrawKey& now, LinearRows& rows);

  const SharedFactors& shared_;
  Vec b_;
  CoefficientPriors priors_;
  LikelihoodNumbers numbers_;
};

void LinearClassifier::draw(const Scores& scores, const DrawKey& now, int, Host&) {
  LinearRows rows(shared_, scores, b_);
  for (int k = 0; k < (shared_.model.feedback ? 1 : kRoundsAlone); ++k)
    draw_coefficients(now, k, rows);
  for (size_t k = 0; k < priors_.parts(); ++k) draw_scale(k, now, rows);
  numbers_.draw([&](const Likelihood& of) { return rows.log_likelihood(of, 0); }, now);
  priors_.draw(b_, now);
}

// Slices along the axes that make a normal density near that of b round: its precision has rows
// that all count the same, so that it depends on nothing that is drawn here.
void LinearClassifier::draw_coefficients(const DrawKey& now, int round, LinearRows& rows) {
  if (b_.size() == 0) return;
  const Vec prior = priors_.precision();
  Mat precision = rows.design.transpose() * rows.design;
  double each = 0;
  for (Index i = 0; i < rows.y.size(); ++i)
    each += row_precision(likelihood(), rows.y[i], rows.weight[i]);
  precision *= each / std::max<double>(1, static_cast<double>(rows.y.size()));
  precision.diagonal() += prior;
  Mat axes = Mat::Identity(b_.size(), b_.size());
  solve_transposed(positive_factor(precision).lower(), axes);
  Draws random(now, Purpose::dense, static_cast<std::uint64_t>(round));
  double here = rows.log_likelihood(likelihood(), 0);
  for (Index k = 0; k < axes.cols(); ++k) {
    const Vec delta = axes.col(k), weighted = prior.cwiseProduct(delta);
    const double slope = weighted.dot(b_), bend = weighted.dot(delta);
    rows.aim(b_, delta);
    double last = here;  // where the slice looked last, which is where it ends unless it stays
    const double t = slice([&](double by) {
      if (by == 0) return here;
      last = rows.log_likelihood(likelihood(), by);
      return last - by * (slope + 0.5 * by * bend);
    }, kWidth, random);
    if (t == 0) continue;
    here = last;
    rows.move(t);
    b_ += t * delta;
  }
}

// All coefficients of a part t times as large, their variances with them (Liu & Sabatti 2000):
// where rows hardly bound them, as factors that x does not determine, they go far only together.
void LinearClassifier::draw_scale(size_t part, const DrawKey& now, LinearRows& rows) {
  const CoefficientPart& own = shared_.model.parts[part];
  if (own.places.empty()) return;
  Vec delta = Vec::Zero(b_.size());
  for (const Index k : own.places) delta[k] = b_[k];
  if (!(delta.cwiseAbs().maxCoeff() > 0)) return;
  rows.aim(b_, delta);
  const Moments moments = priors_.moments(part, b_);
  Draws random(now, Purpose::move, (std::uint64_t{1} << 32) + part);
  const double s = slice([&](double by) {
    if (std::abs(by) > kFarthestScale) return kNothing;
    return rows.log_likelihood(likelihood(), std::expm1(by)) +
           own.prior->log_scaled(moments, priors_.hyper(part), std::exp(by));
  }, kScaleWidth, random);
  rows.move(std::expm1(s));
  b_ += std::expm1(s) * delta;
  priors_.scale(part, std::exp(s));
}

Mat LinearClassifier::draw_scores(const Scores& scores, const DrawKey& now, int threads,
                                  Host& host) {
  const Index n = scores.mean().rows(), k = scores.mean().cols();
  const LinkMoments moments = links(scores, threads);
  const Vec own_beta = beta();
  const Vec mean = shared_.offset() + shared_.model.covariates * alpha() + moments.mean;
  Mat out(n, k);
  const Index lanes = (n + kRowsOfLane - 1) / kRowsOfLane;
  run_lanes(lanes, threads, host, [&](Index lane, int, const Checkpoint& checkpoint) {
    checkpoint();
    const Index end = std::min(n, (lane + 1) * kRowsOfLane);
    for (Index row = lane * kRowsOfLane; row < end; ++row) {
      Draws random(now, Purpose::rows, static_cast<std::uint64_t>(row));
      Vec away(k);  // from the mean
      for (Index j = 0; j < k; ++j) away[j] = random.normal();
      solve_transposed(scores.root(row), away);
      const double v = moments.variance[row], y = shared_.model.y[row];
      if (!std::isnan(y) && v > kLeastLeftover) {
        const double f = likelihood().draw_averaged(y, mean[row], v, shared_.weight(row), random);
        away += (f - mean[row] - own_beta.dot(away)) / v * (scores.covariance(row) * own_beta);
      }
      out.row(row) = scores.mean().row(row) + away.transpose();
    }
  });
  return out;
}

// An intercept less beta'delta leaves f what it is; under a cut the intercept's prior says nothing
// of delta.
Vec LinearClassifier::draw_translation(Mat precision, Vec linear, const DrawKey& now, int, Host&) {
  const Index at = shared_.intercept;
  if (at < 0 && shared_.model.feedback) return Vec();
  const double unit = at < 0 ? 1 : shared_.model.covariates(0, at);
  if (shared_.model.feedback) {
    const double prior = priors_.precision()[at];
    precision += prior / (unit * unit) * beta() * beta().transpose();
    linear += prior * b_[at] / unit * beta();
  }
  Draws random(now, Purpose::move, 0);
  const Vec delta = draw_normal(precision, linear, random);
  if (at >= 0) b_[at] -= beta().dot(delta) / unit;
  return delta;
}

}  // namespace

std::unique_ptr<Classifier> make_linear_classifier(const SharedFactors& shared, Draws& random) {
  return std::make_unique<LinearClassifier>(shared, random);
}

}  // namespace bsvm
