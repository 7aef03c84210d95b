// f_n = offset_n + t_n'alpha + g(w_n), by features h of inducing points:
//
//   g(w) = s h(w)'b + e,   b ~ N(0, I),   e ~ N(0, s^2 left-over(w)), independent from row to row,
//
// so that given (alpha, b), s and the kernel's numbers theta rows are independent, as they are in
// the linear model, and e is integrated out. Scores are state: they move given x and y by an
// elliptical slice about N(m_n, S_n) for each row.
//
//   this file   meaning     |  this file   meaning
//   inputs      (K, rows)   |  x           (alpha, b)
#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "classifier.hpp"
#include "classifier_numbers.hpp"
#include "process_coefficients.hpp"
#include "process_links.hpp"
#include "process_numbers.hpp"
#include "random/ellipse.hpp"
#include "random/slice.hpp"
#include "rows/lanes.hpp"
#include "special/functions.hpp"

namespace bsvm {

namespace {

constexpr int kProcessRoundsAlone = 2;
constexpr Index kRowsTogether = 64;

class ProcessClassifier : public Classifier {
 public:
  ProcessClassifier(const SharedFactors& shared, const Mat& w, Draws& random)
      : shared_(shared), model_(shared.model), process_(model_.process), w_(w),
        x_(model_.d() + shared.points.cols()), of_process_(process_), priors_(model_, random),
        numbers_(model_, random) {
    for (Index k = 0; k < x_.size(); ++k) x_[k] = 0.1 * random.normal();
    of_process_.start_apart(random);
  }

  void draw(const Scores& scores, const DrawKey& now, int threads, Host& host) override;
  Mat draw_scores(const Scores& scores, const DrawKey& now, int threads, Host& host) override;
  Vec draw_translation(Mat precision, Vec linear, const DrawKey& now, int threads,
                       Host& host) override;

  LinkMoments links(const Scores& scores, int threads) const override {
    Host nobody;
    const Features features = features_at(theta());
    const Vec b = x_.tail(size());
    return process_links({features, b, sd()}, scores, model_.feedback, true, threads, nobody);
  }
  double leftover(const Scores&, const LinkMoments& links) const override {
    return links.variance.mean();
  }
  Vec direction(const Scores&) const override { return Vec::Zero(model_.factors); }
  Vec alpha() const override { return x_.head(model_.d()); }
  Vec coefficients() const override { return alpha(); }

  NamedNumbers drawn() const override {
    NamedNumbers out = priors_.drawn();
    for (const auto& number : numbers_.drawn()) out.push_back(number);
    for (const auto& number : of_process_.drawn()) out.push_back(number);
    return out;
  }

  // b, theta, variance
  Vec seldom() const override {
    Vec out(size() + theta().size() + 1);
    out << x_.tail(size()), theta(), sd() * sd();
    return out;
  }

  void visit(Archive& archive) override {
    archive.part(x_);
    of_process_.visit(archive);
    archive.part(Eigen::Map<Vec>(w_.data(), w_.size()));
    priors_.visit(archive);
    numbers_.visit(archive);
  }

 private:
  struct Given;  // the labelled rows at their inputs

  Index size() const { return shared_.points.cols(); }
  double sd() const { return of_process_.sd(); }
  const Vec& theta() const { return of_process_.theta(); }
  const Likelihood& likelihood() const { return numbers_.likelihood(); }
  Features features_at(const Vec& theta) const {
    Host nobody;
    return Features(*process_.kernel, shared_.points, theta, nobody);
  }

  void draw_numbers(const DrawKey& now, int round, const Vec& prior, Given& given,
                    NormalBase& base, int threads, Host& host);
  void draw_scale(bool all, const DrawKey& now, int round, const Vec& prior, Given& given);
  void draw_lane(const Features& features, const Scores& scores, Index first, Index count,
                 const DrawKey& now);

  const SharedFactors& shared_;
  const FactorModel& model_;
  const ProcessPart& process_;
  Mat w_;  // (N, K)
  Vec x_;
  ProcessNumbers of_process_;
  CoefficientPriors priors_;
  LikelihoodNumbers numbers_;
};

struct ProcessClassifier::Given {
  const ProcessClassifier& of;
  Mat inputs;      // (K, rows)
  NormalRows rows;  // at the numbers that were asked for last
  Vec theta;       // of the features, of which these are, at a variance of one:
  Mat features;    // (M, rows)
  Vec left_over;   // (rows)

  Given(const ProcessClassifier& own, const Mat& w) : of(own) {
    const FactorModel& model = of.model_;
    const std::vector<Index>& labelled = of.shared_.labelled;
    const Index n = static_cast<Index>(labelled.size());
    inputs.resize(model.factors, n);
    rows.design.resize(model.d() + of.size(), n);
    features.resize(of.size(), n);
    const Vec offset = of.shared_.offset();
    for (Vec* part : {&rows.offset, &rows.y, &rows.weight, &left_over}) part->resize(n);
    for (Index i = 0; i < n; ++i) {
      const Index row = labelled[static_cast<size_t>(i)];
      inputs.col(i) = w.row(row);
      rows.design.col(i).head(model.d()) = model.covariates.row(row);
      rows.offset[i] = offset[row];
      rows.y[i] = model.y[row];
      rows.weight[i] = of.shared_.weight(row);
    }
  }

  void fill(const Features& made, const Mat& at, int threads, Host& host) {
    const Index n = at.cols(), lanes = (n + kRowsTogether - 1) / kRowsTogether;
    run_lanes(lanes, threads, host, [&](Index lane, int, const Checkpoint& checkpoint) {
      checkpoint();
      const Index first = lane * kRowsTogether, count = std::min(kRowsTogether, n - first);
      const Mat own = at.middleCols(first, count);
      Mat h(made.columns(), count);
      made.fill(own, h);
      left_over.segment(first, count) = made.left_over(own, h);
      features.middleCols(first, count) = h;
    });
  }

  void scale(double sd) {
    rows.design.bottomRows(of.size()) = sd * features;
    rows.variance = sd * sd * left_over;
  }

  void set(const Vec& to_theta, double sd, int threads, Host& host) {
    if (theta.size() != to_theta.size() || theta != to_theta) {
      theta = to_theta;
      fill(of.features_at(theta), inputs, threads, host);
    }
    scale(sd);
  }
};

void ProcessClassifier::draw(const Scores& scores, const DrawKey& now, int threads, Host& host) {
  Given given(*this, model_.feedback ? w_ : scores.mean());
  given.set(theta(), sd(), threads, host);
  Vec prior = Vec::Ones(x_.size());
  prior.head(model_.d()) = priors_.precision();
  for (int round = 0; round < (model_.feedback ? 1 : kProcessRoundsAlone); ++round) {
    if (of_process_.infers_variance())
      for (const bool all : {false, true}) draw_scale(all, now, round, prior, given);
    NormalBase base(given.rows, likelihood(), prior);
    draw_numbers(now, round, prior, given, base, threads, host);
    Draws random(now, Purpose::dense, static_cast<std::uint64_t>(round));
    draw_by_ellipses(given.rows, likelihood(), prior, base, x_, random);
  }
  const Vec mean = given.rows.means(x_);
  numbers_.draw([&](const Likelihood& one) { return given.rows.log_likelihood(one, mean); }, now);
  priors_.draw(x_.head(model_.d()), now);
}

// log s and the kernel's numbers along random directions. What the rows say of x at these numbers
// is nearly normal, and x keeps its place in that density: x = center + L^{-T} z with z as it is.
void ProcessClassifier::draw_numbers(const DrawKey& now, int round, const Vec& prior, Given& given,
                                     NormalBase& base, int threads, Host& host) {
  const Index slices = of_process_.slices();
  for (Index j = 0; j < slices; ++j) {
    Draws random(now, Purpose::move, (std::uint64_t{1} << 32) +
                                         static_cast<std::uint64_t>(round * slices + j));
    const Vec z = base.white(x_);
    of_process_.move([&] {
      given.set(theta(), sd(), threads, host);
      base = NormalBase(given.rows, likelihood(), prior);
      x_ = base.from_white(z);
      return given.rows.log_likelihood(likelihood(), given.rows.means(x_)) -
             0.5 * x_.dot(prior.cwiseProduct(x_)) - base.log_density(z);
    }, random);
  }
}

// g, or with `all` the share of covariates, too, times t, where rows hardly bound it.
void ProcessClassifier::draw_scale(bool all, const DrawKey& now, int round, const Vec& prior,
                                   Given& given) {
  const Index d = model_.d(), moved = all ? d : 0;
  if (all && d == 0) return;
  const Vec covariates = given.rows.design.topRows(d).transpose() * x_.head(d);
  const Vec process = given.rows.means(x_) - given.rows.offset - covariates;
  const Vec fixed = given.rows.offset + (all ? Vec(Vec::Zero(covariates.size())) : covariates);
  const Vec scaled = all ? Vec(process + covariates) : process, variance = given.rows.variance;
  const double here = of_process_.log_sd();
  const double square = x_.head(moved).cwiseAbs2().dot(prior.head(moved));
  Draws random(now, Purpose::move, (std::uint64_t{2} << 32) +
                                       static_cast<std::uint64_t>(2 * round + (all ? 1 : 0)));
  const double s = slice([&](double by) {
    const double t = std::exp(by), own = of_process_.log_prior_of_sd(here + by);
    if (!(own > kNothing)) return kNothing;
    given.rows.variance = t * t * variance;
    return given.rows.log_likelihood(likelihood(), fixed + t * scaled) + own -
           0.5 * t * t * square + by * static_cast<double>(moved);
  }, kProcessScaleWidth, random);
  of_process_.set_log_sd(here + s);
  x_.head(moved) *= std::exp(s);
  given.scale(sd());
}

// Rows of a lane propose together, as long as some have not accepted: features of many are a
// product.
void ProcessClassifier::draw_lane(const Features& features, const Scores& scores, Index first,
                                  Index count, const DrawKey& now) {
  const Index k = model_.factors;
  const Vec b = x_.tail(size()), offset = shared_.offset(), alpha = x_.head(model_.d());
  Mat from(k, count), to(k, count);  // of each row's ellipse, about the mean
  std::vector<Draws> random;
  std::vector<Index> open;
  for (Index i = 0; i < count; ++i) {
    const Index row = first + i;
    random.emplace_back(now, Purpose::rows, static_cast<std::uint64_t>(row));
    for (Index j = 0; j < k; ++j) to(j, i) = random.back().normal();
    solve_transposed(scores.root(row), to.col(i));
    from.col(i) = (w_.row(row) - scores.mean().row(row)).transpose();
    if (model_.feedback && !std::isnan(model_.y[row])) open.push_back(i);
    else w_.row(row) = scores.mean().row(row) + to.col(i).transpose();
  }
  std::vector<EllipseSearch> search;
  for (bool starts = true; !open.empty(); starts = false) {
    Mat at(k, static_cast<Index>(open.size()));
    for (size_t o = 0; o < open.size(); ++o) {
      const Index i = open[o];
      const double c = starts ? 1 : search[o].c(), s = starts ? 0 : search[o].s();
      at.col(static_cast<Index>(o)) =
          scores.mean().row(first + i).transpose() + c * from.col(i) + s * to.col(i);
    }
    const LinkMoments links = at_scores({features, b, sd()}, at);
    std::vector<Index> still;
    std::vector<EllipseSearch> goes_on;
    for (size_t o = 0; o < open.size(); ++o) {
      const Index i = open[o], row = first + i, place = static_cast<Index>(o);
      const double mean = offset[row] + model_.covariates.row(row).dot(alpha) + links.mean[place];
      const double value = likelihood().averaged(model_.y[row], mean,
                                                 std::max(links.variance[place], kLeastLeftover),
                                                 shared_.weight(row)).value;
      Draws& own = random[static_cast<size_t>(i)];
      if (starts) {
        search.emplace_back(value, own);
      } else if (search[o].accepts(value, own)) {
        w_.row(row) = at.col(place);
        continue;
      }
      still.push_back(i);
      goes_on.push_back(search[o]);
    }
    open = std::move(still);
    search = std::move(goes_on);
  }
}

Mat ProcessClassifier::draw_scores(const Scores& scores, const DrawKey& now, int threads,
                                   Host& host) {
  const Features features = features_at(theta());
  const Index n = w_.rows(), lanes = (n + kRowsTogether - 1) / kRowsTogether;
  run_lanes(lanes, threads, host, [&](Index lane, int, const Checkpoint& checkpoint) {
    checkpoint();
    const Index first = lane * kRowsTogether;
    draw_lane(features, scores, first, std::min(kRowsTogether, n - first), now);
  });
  return w_;
}

// The responses have something to say: by an elliptical slice, where delta = 0 is.
Vec ProcessClassifier::draw_translation(Mat precision, Vec linear, const DrawKey& now, int threads,
                                        Host& host) {
  Draws random(now, Purpose::move, 0);
  if (!model_.feedback) return draw_normal(precision, linear, random);
  const Factor factor(precision);
  if (!factor.positive()) refuse_numbers();
  const Vec mean = factor.solve(linear);
  Vec to(mean.size());
  for (Index j = 0; j < to.size(); ++j) to[j] = random.normal();
  solve_transposed(factor.lower(), to);
  Given given(*this, w_);
  const Features features = features_at(theta());
  double c = 1, s = 0;
  const auto moved = [&] { return Vec(mean - c * mean + s * to); };
  const auto log_density = [&](double to_c, double to_s) {
    c = to_c;
    s = to_s;
    given.fill(features, given.inputs.colwise() + moved(), threads, host);
    given.scale(sd());
    return given.rows.log_likelihood(likelihood(), given.rows.means(x_));
  };
  const double here = log_density(1, 0);
  ellipse(log_density, here, random, c, s);
  const Vec delta = moved();
  w_.rowwise() += delta.transpose();
  return delta;
}

}  // namespace

std::unique_ptr<Classifier> make_process_classifier(const SharedFactors& shared, const Mat& w,
                                                    Draws& random) {
  return std::make_unique<ProcessClassifier>(shared, w, random);
}

}  // namespace bsvm
