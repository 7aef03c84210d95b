// f_n = offset_n + t_n'alpha + g(w_n), g a Gaussian process without inducing points (001,
// section 5). Given latent scales a row is quadratic in f, as if a pseudo-response
//
//   z_n = f_n + slope_n / weight_n ~ N(f_n, 1 / weight_n)
//
// had been seen, so that g is integrated out where the process's numbers, alpha and scores move:
// z - offset ~ N(T alpha, C), C = s^2 K(W) + diag(1 / weight). A sweep is
//
//   f, theta and s | y     latent scales | f     theta, s, alpha | z     scores | z     g | z,
//
// in which f is never used after something that it depends on has moved. Rows do not separate:
// their scores move one after the other, w_n about N(m_n, S_n) by p(z_n | other z).
//
//   this file   meaning                        |  this file   meaning
//   inputs_     (K, rows) scores at which g is |  b_          of g = s L b, b ~ N(0, I), L L' = K
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.hpp"
#include "classifier.hpp"
#include "classifier_numbers.hpp"
#include "exact_process.hpp"
#include "leave_one_out.hpp"
#include "process_links.hpp"
#include "process_numbers.hpp"
#include "random/ellipse.hpp"
#include "random/slice.hpp"
#include "special/functions.hpp"

namespace bsvm {

namespace {

constexpr int kExactRoundsAlone = 2;
constexpr double kLeastWeight = 1e-100;

class ExactClassifier : public Classifier {
 public:
  ExactClassifier(const SharedFactors& shared, const Mat& w, Draws& random)
      : shared_(shared), model_(shared.model), kernel_(*model_.process.kernel), w_(w),
        inputs_(inputs_of(w)), alpha_(model_.d()), b_(Vec::Zero(inputs_.cols())), g_(b_),
        of_process_(model_.process), priors_(model_, random), numbers_(model_, random) {
    const Index n = rows();
    rows_.covariates.resize(n, model_.d());
    for (Vec* own : {&y_, &weight_, &offset_, &rows_.z, &rows_.noise}) own->resize(n);
    const Vec offset = shared.offset();
    for (Index i = 0; i < n; ++i) {
      const Index row = shared.labelled[static_cast<size_t>(i)];
      rows_.covariates.row(i) = model_.covariates.row(row);
      y_[i] = model_.y[row];
      weight_[i] = shared.weight(row);
      offset_[i] = offset[row];
    }
    for (Index k = 0; k < alpha_.size(); ++k) alpha_[k] = 0.1 * random.normal();
    of_process_.start_apart(random);
  }

  void draw(const Scores& scores, const DrawKey& now, int threads, Host& host) override;
  Mat draw_scores(const Scores& scores, const DrawKey& now, int threads, Host& host) override;
  Vec draw_translation(Mat precision, Vec linear, const DrawKey& now, int threads,
                       Host& host) override;

  LinkMoments links(const Scores& scores, int threads) const override {
    Host nobody;
    const Features features(kernel_, inputs_, of_process_.theta(), nobody);
    return process_links({features, b_, of_process_.sd()}, scores, model_.feedback, true, threads,
                         nobody);
  }
  double leftover(const Scores&, const LinkMoments& links) const override {
    return links.variance.mean();
  }
  Vec direction(const Scores&) const override { return Vec::Zero(model_.factors); }
  Vec alpha() const override { return alpha_; }
  Vec coefficients() const override { return alpha_; }

  NamedNumbers drawn() const override {
    NamedNumbers out = priors_.drawn();
    for (const auto& number : numbers_.drawn()) out.push_back(number);
    for (const auto& number : of_process_.drawn()) out.push_back(number);
    return out;
  }

  // b, theta, variance, inputs
  Vec seldom() const override {
    const Vec& theta = of_process_.theta();
    const double sd = of_process_.sd();
    Vec out(b_.size() + theta.size() + 1 + inputs_.size());
    out << b_, theta, sd * sd, Eigen::Map<const Vec>(inputs_.data(), inputs_.size());
    return out;
  }

  void visit(Archive& archive) override {
    archive.part(alpha_);
    archive.part(b_);
    of_process_.visit(archive);
    archive.part(Eigen::Map<Vec>(w_.data(), w_.size()));
    archive.part(Eigen::Map<Vec>(inputs_.data(), inputs_.size()));
    archive.part(g_);
    priors_.visit(archive);
    numbers_.visit(archive);
  }

 private:
  Index rows() const { return inputs_.cols(); }
  const Likelihood& likelihood() const { return numbers_.likelihood(); }
  Mat inputs_of(const Mat& w) const {
    Mat out(model_.factors, static_cast<Index>(shared_.labelled.size()));
    for (Index i = 0; i < out.cols(); ++i)
      out.col(i) = w.row(shared_.labelled[static_cast<size_t>(i)]).transpose();
    return out;
  }
  // what of z is g and noise
  Vec rest() const { return rows_.z - offset_ - rows_.covariates * alpha_; }
  Mat covariance_at(const Mat& inputs) const {
    return process_covariance(kernel_, inputs, of_process_.theta(), of_process_.sd());
  }
  Mat root_at(Host& host) const {
    Mat k;
    kernel_.values(inputs_, inputs_, of_process_.theta(), k);
    return covariance_root(k, host);
  }

  double log_likelihood(const Likelihood& of, const Vec& fixed, const Vec& along, double t) const {
    return of.along({y_.data(), fixed.data(), nullptr, along.data(), weight_.data(), rows()}, t);
  }
  void draw_rows(const DrawKey& now, int round, Host& host);
  void draw_scale(bool all, const DrawKey& now, int round);
  void move_numbers(const DrawKey& now, int round, Host& host);
  void draw_latent(const DrawKey& now, int round);
  void draw_numbers(const DrawKey& now, int round, Host& host);
  void draw_function(const DrawKey& now, int round, Host& host);

  const SharedFactors& shared_;
  const FactorModel& model_;
  const Kernel& kernel_;
  Mat w_, inputs_;  // w_ (N, K)
  Vec alpha_, b_, g_;
  ProcessNumbers of_process_;
  CoefficientPriors priors_;
  LikelihoodNumbers numbers_;
  Vec y_, weight_, offset_;  // of labelled rows
  PseudoRows rows_;          // drawn anew in each sweep
};

void ExactClassifier::draw(const Scores& scores, const DrawKey& now, int, Host& host) {
  const int rounds = model_.feedback ? 1 : kExactRoundsAlone;
  for (int round = 0; round < rounds; ++round) {
    draw_rows(now, round, host);
    if (of_process_.infers_variance())
      for (const bool all : {false, true}) draw_scale(all, now, round);
    move_numbers(now, round, host);
    if (round == 0) {
      const Vec f = offset_ + rows_.covariates * alpha_ + g_, still = Vec::Zero(rows());
      numbers_.draw([&](const Likelihood& of) { return log_likelihood(of, f, still, 0); }, now);
    }
    draw_latent(now, round);
    if (!model_.feedback) inputs_ = inputs_of(scores.mean());
    draw_numbers(now, round, host);
    if (!model_.feedback) draw_function(now, round, host);
  }
  priors_.draw(alpha_, now);
}

// f_n given y_n and the others' f, one after the other. Latent scales would hold large f, of which
// the responses say on which side they are and little else.
void ExactClassifier::draw_rows(const DrawKey& now, int round, Host& host) {
  const Vec fixed = offset_ + rows_.covariates * alpha_;
  LeaveOneOut others(covariance_at(inputs_), g_, host);
  others.scan([&](Index i, const Conditional& of) {
    Draws random(now, Purpose::groups,
                 (static_cast<std::uint64_t>(round) << 32) + static_cast<std::uint64_t>(i));
    const double v = std::max(of.variance, kLeastLeftover);
    return likelihood().draw_averaged(y_[i], fixed[i] + of.mean, v, weight_[i], random) - fixed[i];
  });
  g_ = others.r();
  b_ = g_ / of_process_.sd();
  solve_lower(root_at(host), b_);
}

// g, or with `all` the share of covariates, too, times t, where rows hardly bound it.
void ExactClassifier::draw_scale(bool all, const DrawKey& now, int round) {
  const Index moved = all ? model_.d() : 0;
  if (all && moved == 0) return;
  const Vec covariates = rows_.covariates * alpha_;
  const Vec fixed = all ? offset_ : Vec(offset_ + covariates);
  const Vec scaled = all ? Vec(g_ + covariates) : g_;
  const double here = of_process_.log_sd();
  const double square = all ? alpha_.cwiseAbs2().dot(priors_.precision()) : 0;
  Draws random(now, Purpose::move, (std::uint64_t{2} << 32) +
                                       static_cast<std::uint64_t>(2 * round + (all ? 1 : 0)));
  const double s = slice([&](double by) {
    const double t = std::exp(by), own = of_process_.log_prior_of_sd(here + by);
    if (!(own > kNothing)) return kNothing;
    return log_likelihood(likelihood(), fixed, scaled, t) + own - 0.5 * t * t * square +
           by * static_cast<double>(moved);
  }, kProcessScaleWidth, random);
  of_process_.set_log_sd(here + s);
  g_ *= std::exp(s);
  if (all) alpha_ *= std::exp(s);
}

// theta and s with b as it is. Where rows bound f on one side alone latent scales still hold it, so
// that given these its numbers move little.
void ExactClassifier::move_numbers(const DrawKey& now, int round, Host& host) {
  const Vec fixed = offset_ + rows_.covariates * alpha_;
  for (Index j = 0; j < of_process_.slices(); ++j) {
    const Index number = round * of_process_.slices() + j;
    Draws random(now, Purpose::move,
                 (std::uint64_t{3} << 32) + static_cast<std::uint64_t>(number));
    of_process_.move([&] {
      g_ = of_process_.sd() * lower_product(root_at(host), b_);
      return log_likelihood(likelihood(), fixed, g_, 1);
    }, random);
  }
}

// Latent scales of all rows, and what they leave of a row.
void ExactClassifier::draw_latent(const DrawKey& now, int round) {
  const Arr f = offset_ + rows_.covariates * alpha_ + g_;
  const Index n = rows();
  const int scales = likelihood().scales();
  RowDraws random;
  random.normal.resize(n * scales);
  random.uniform.resize(n * scales);
  for (Index i = 0; i < n; ++i) {
    Draws own(now, Purpose::indicator,
              (static_cast<std::uint64_t>(round) << 32) + static_cast<std::uint64_t>(i));
    for (int k = 0; k < scales; ++k) {
      random.normal[k * n + i] = own.normal();
      random.uniform[k * n + i] = own.uniform();
    }
  }
  RowTerms terms;
  terms.resize(n);
  likelihood().draw(y_, f, weight_, random, terms);
  rows_.noise = terms.weight.max(kLeastWeight).inverse();
  rows_.z = f + terms.slope * rows_.noise.array();
}

void ExactClassifier::draw_numbers(const DrawKey& now, int round, Host& host) {
  const Vec prior = priors_.precision();
  const PseudoRows rows{rows_.covariates, rows_.z - offset_, rows_.noise};
  const auto integrated = [&] { return IntegratedRows(rows, covariance_at(inputs_), prior, host); };
  IntegratedRows own;
  const Index slices = of_process_.slices();
  for (Index j = 0; j < slices; ++j) {
    Draws random(now, Purpose::move, (std::uint64_t{1} << 32) +
                                         static_cast<std::uint64_t>(round * slices + j));
    of_process_.move([&] {
      own = integrated();
      return own.log_density();
    }, random);
  }
  if (slices == 0) own = integrated();
  Draws random(now, Purpose::dense, 2 * static_cast<std::uint64_t>(round));
  alpha_ = own.draw_alpha(random);
}

void ExactClassifier::draw_function(const DrawKey& now, int round, Host& host) {
  const Mat root = root_at(host);
  const double sd = of_process_.sd();
  Draws random(now, Purpose::dense, 2 * static_cast<std::uint64_t>(round) + 1);
  b_ = draw_whitened(root, sd, rows_.noise, rest(), random, host);
  g_ = sd * lower_product(root, b_);
}

// Rows in their order, each given the scores of those before as they are now.
Mat ExactClassifier::draw_scores(const Scores& scores, const DrawKey& now, int, Host& host) {
  std::optional<LeaveOneOut> others;
  const Vec r = rest();
  if (model_.feedback) {
    Mat c = covariance_at(inputs_);
    c.diagonal() += rows_.noise;
    others.emplace(std::move(c), r, host);
  }
  const Vec& theta = of_process_.theta();
  const double variance = of_process_.sd() * of_process_.sd();
  Index place = 0;  // among labelled rows
  for (Index row = 0; row < w_.rows(); ++row) {
    Draws random(now, Purpose::rows, static_cast<std::uint64_t>(row));
    const Vec mean = scores.mean().row(row).transpose();
    Vec to(mean.size());
    for (Index j = 0; j < to.size(); ++j) to[j] = random.normal();
    solve_transposed(scores.root(row), to);
    if (!others || std::isnan(model_.y[row])) {
      w_.row(row) = (mean + to).transpose();
      continue;
    }
    if (host.interrupted()) throw Interrupted();
    const Index i = place++;
    const double noise = rows_.noise[i], own_rest = r[i];
    const Vec from = inputs_.col(i) - mean;
    Mat at(mean.size(), 1), k;
    double cos = 1, sin = 0;
    ellipse([&](double to_cos, double to_sin) {
      at.col(0) = mean + to_cos * from + to_sin * to;
      kernel_.values(inputs_, at, theta, k);
      const double own = variance * kernel_.diagonal(at, theta)[0];
      return others->at(i, variance * k.col(0), own * (1 + kProcessNugget) + noise,
                        own * kProcessNugget + noise).log_density(own_rest);
    }, others->here(i).log_density(own_rest), random, cos, sin);
    if (sin == 0 && cos == 1) continue;
    others->accept(i);
    inputs_.col(i) = at.col(0);
    w_.row(row) = at.col(0).transpose();
  }
  return w_;
}

// By an elliptical slice, where delta = 0 is: a kernel of differences accepts at once.
Vec ExactClassifier::draw_translation(Mat precision, Vec linear, const DrawKey& now, int,
                                      Host& host) {
  Draws random(now, Purpose::move, 0);
  if (!model_.feedback) return draw_normal(precision, linear, random);
  const Factor factor(precision);
  if (!factor.positive()) refuse_numbers();
  const Vec mean = factor.solve(linear);
  Vec to(mean.size());
  for (Index j = 0; j < to.size(); ++j) to[j] = random.normal();
  solve_transposed(factor.lower(), to);
  const Vec r = rest();
  const auto moved = [&](double c, double s) { return Vec(mean - c * mean + s * to); };
  const auto log_density = [&](double c, double s) {
    return log_normal(covariance_at(inputs_.colwise() + moved(c, s)), rows_.noise, r, host);
  };
  double c = 1, s = 0;
  ellipse(log_density, log_density(1, 0), random, c, s);
  const Vec delta = moved(c, s);
  inputs_.colwise() += delta;
  w_.rowwise() += delta.transpose();
  draw_function(now, 0, host);
  return delta;
}

}  // namespace

std::unique_ptr<Classifier> make_exact_classifier(const SharedFactors& shared, const Mat& w,
                                                  Draws& random) {
  return std::make_unique<ExactClassifier>(shared, w, random);
}

}  // namespace bsvm
