#include "classifier.hpp"

#include <algorithm>
#include <cmath>

#include "random/slice.hpp"
#include "rows/lanes.hpp"
#include "special/functions.hpp"

namespace bsvm {

namespace {

// Likelihoods divide by the standard deviation of f: below this variance it does not matter.
constexpr double kLeastLeftover = 1e-20;
constexpr double kWidth = 5;      // of a slice, in standard deviations of a nearby normal density
constexpr double kParameterWidth = 0.5, kScaleWidth = 0.5, kFarthestScale = 20;  // logarithms
constexpr double kFarthestParameter = 100;
// Without feedback b must follow all else at once (Plummer 2015): so often it is drawn.
constexpr int kRoundsAlone = 4;
constexpr Index kRowsOfLane = 256;
constexpr double kStartApart = 0.1;

// A row's precision in f, once what is unknown of f is taken out of it again.
double row_precision(const Likelihood& likelihood, double y, double weight) {
  const double k = likelihood.averaged(y, y, 1, weight).curvature;
  return k < 1 ? std::clamp(k / (1 - k), 1e-4, 1e8) : 1e8;
}

}  // namespace

// Of the labelled rows: c_n = (t_n, m_n), and the mean and variance of f_n at b and at b + t delta,
// mean + t along, variance + 2 t cross + t^2 square.
struct Classifier::Rows {
  const SharedFactors& shared;
  const Scores& scores;
  Mat design;  // (rows, d + K)
  Vec y, weight, mean, variance, along, cross, square;
  std::vector<Index> incomplete;  // places among the labelled rows

  Rows(const SharedFactors& of, const Scores& given, const Vec& b)
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

Classifier::Classifier(const SharedFactors& shared, Draws& random)
    : shared_(shared), b_(shared.model.coefficients()),
      theta_(shared.model.likelihood->free_size()) {
  for (Index k = 0; k < b_.size(); ++k) b_[k] = kStartApart * random.normal();
  for (const CoefficientPart& part : shared.model.parts) {
    const Index m = static_cast<Index>(part.places.size());
    Moments shape;
    shape.count = static_cast<double>(m);
    shape.square = Vec::Zero(m);
    hyper_.emplace_back(part.prior->hyper_size(m));
    part.prior->start(shape, hyper_.back());
    part.prior->scale(hyper_.back(), std::exp(random.normal()));
  }
  for (Index k = 0; k < theta_.size(); ++k) theta_[k] = 0.3 * random.normal();
  set_parameters(theta_);
}

void Classifier::set_parameters(const Vec& theta) {
  theta_ = theta;
  if (theta_.size() > 0) own_ = shared_.model.likelihood->with(theta_);
}

double Classifier::leftover_of(const Mat& covariance) const {
  if (!shared_.model.feedback) return 0;
  const Vec own = beta();
  return own.dot(covariance * own);
}

Vec Classifier::links(const Scores& scores) const {
  return shared_.offset() + shared_.model.covariates * alpha() + scores.mean() * beta();
}

void Classifier::shift(double by) {
  const Index at = shared_.intercept;
  if (at >= 0) b_[at] += by / shared_.model.covariates(0, at);
}

Vec Classifier::prior_precision() const {
  Vec out(b_.size());
  for (size_t k = 0; k < hyper_.size(); ++k) {
    const CoefficientPart& part = shared_.model.parts[k];
    Vec own(static_cast<Index>(part.places.size()));
    if (own.size() == 0) continue;
    part.prior->precision(hyper_[k], own);
    for (Index a = 0; a < own.size(); ++a) out[part.places[static_cast<size_t>(a)]] = own[a];
  }
  return out;
}

void Classifier::draw(const Scores& scores, const DrawKey& now) {
  Rows rows(shared_, scores, b_);
  for (int k = 0; k < (shared_.model.feedback ? 1 : kRoundsAlone); ++k)
    draw_coefficients(now, k, rows);
  for (size_t k = 0; k < hyper_.size(); ++k) draw_scale(k, now, rows);
  if (theta_.size() > 0) draw_parameters(now, rows);
  draw_hyper(now);
}

// Slices along the axes that make a normal density near that of b round: its precision has rows
// that all count the same, so that it depends on nothing that is drawn here.
void Classifier::draw_coefficients(const DrawKey& now, int round, Rows& rows) {
  if (b_.size() == 0) return;
  const Vec prior = prior_precision();
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

Moments Classifier::moments_of(size_t part) const {
  const std::vector<Index>& places = shared_.model.parts[part].places;
  Moments out;
  out.square.resize(static_cast<Index>(places.size()));
  out.count = static_cast<double>(places.size());
  for (Index a = 0; a < out.square.size(); ++a)
    out.square[a] = std::pow(b_[places[static_cast<size_t>(a)]], 2);
  return out;
}

// All coefficients of a part t times as large, their variances with them (Liu & Sabatti 2000):
// where rows hardly bound them, as factors that x does not determine, they go far only together.
void Classifier::draw_scale(size_t part, const DrawKey& now, Rows& rows) {
  const CoefficientPart& own = shared_.model.parts[part];
  if (own.places.empty()) return;
  Vec delta = Vec::Zero(b_.size());
  for (const Index k : own.places) delta[k] = b_[k];
  if (!(delta.cwiseAbs().maxCoeff() > 0)) return;
  rows.aim(b_, delta);
  const Moments moments = moments_of(part);
  Draws random(now, Purpose::move, (std::uint64_t{1} << 32) + part);
  const double s = slice([&](double by) {
    if (std::abs(by) > kFarthestScale) return kNothing;
    return rows.log_likelihood(likelihood(), std::expm1(by)) +
           own.prior->log_scaled(moments, hyper_[part], std::exp(by));
  }, kScaleWidth, random);
  rows.move(std::expm1(s));
  b_ += std::expm1(s) * delta;
  own.prior->scale(hyper_[part], std::exp(s));
}

void Classifier::draw_parameters(const DrawKey& now, const Rows& rows) {
  for (Index k = 0; k < theta_.size(); ++k) {
    Draws random(now, Purpose::hyper, (std::uint64_t{4} << 32) + static_cast<std::uint64_t>(k));
    const Vec here = theta_;
    const Prior& prior = *shared_.model.parameters[static_cast<size_t>(k)];
    const double moved = slice([&](double by) {
      Vec theta = here, gradient(1);
      theta[k] += by;
      if (std::abs(theta[k]) > kFarthestParameter) return kNothing;
      const auto there = shared_.model.likelihood->with(theta);
      return rows.log_likelihood(*there, 0) +
             prior.log_joint(Moments(), theta.segment(k, 1), gradient);
    }, kParameterWidth, random);
    set_parameters(here + moved * Vec::Unit(here.size(), k));
  }
}

void Classifier::draw_hyper(const DrawKey& now) {
  for (size_t k = 0; k < hyper_.size(); ++k) {
    const CoefficientPart& part = shared_.model.parts[k];
    if (part.places.empty()) continue;
    Draws random(now, Purpose::hyper, k);
    part.prior->draw(moments_of(k), random, hyper_[k]);
  }
}

NamedNumbers Classifier::drawn() const {
  NamedNumbers out;
  for (size_t k = 0; k < hyper_.size(); ++k)
    for (const auto& number : shared_.model.parts[k].prior->drawn(hyper_[k]))
      out.push_back({"part_" + std::to_string(k + 1) + "." + number.first, number.second});
  for (Index k = 0; k < theta_.size(); ++k)
    out.push_back({"theta_" + std::to_string(k + 1), theta_[k]});
  return out;
}

void Classifier::visit(Archive& archive) {
  archive.part(b_);
  for (Vec& own : hyper_) archive.part(own);
  archive.part(theta_, [&](ConstVecRef saved) { set_parameters(saved); });
}

Mat draw_scores(const SharedFactors& shared, const Scores& scores, const Classifier& classifier,
                const DrawKey& now, int threads, Host& host) {
  const Index n = scores.mean().rows(), k = scores.mean().cols();
  const Vec beta = classifier.beta(), links = classifier.links(scores);
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
      const double v = classifier.leftover(scores, row), y = shared.model.y[row];
      if (!std::isnan(y) && v > kLeastLeftover) {
        const double f = classifier.likelihood().draw_averaged(y, links[row], v,
                                                               shared.weight(row), random);
        away += (f - links[row] - beta.dot(away)) / v * (scores.covariance(row) * beta);
      }
      out.row(row) = scores.mean().row(row) + away.transpose();
    }
  });
  return out;
}

}  // namespace bsvm
