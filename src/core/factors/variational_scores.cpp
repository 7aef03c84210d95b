// Given all else, a row's part of the bound is, with A = S_n^{-1} and l_n of the sums, the
// likelihood's weight omega and slope s times the row's power, and Ebb = E beta beta',
//
//   m'l_n - tr(A (V + m m')) / 2 + log |V| / 2 + l(E f, Var f),
//
// stationary where  V^{-1} = A + omega Ebb  and
//   0 = l_n - A m + s E beta - omega Cov(beta, b) E c.
//
// A step goes to that V and, by one of Newton's steps with precision V^{-1}, to that m. With latent
// scales this is the coordinate update, which cannot lower the bound; else it is shortened until it
// does not.
#include "variational_scores.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "rows/lanes.hpp"
#include "variational_classifier.hpp"

namespace bsvm {

namespace {

constexpr Index kRowsOfPart = 256;
constexpr int kScoreRounds = 2, kHalvings = 12;
constexpr double kRounding = 1e-12;

const Mat& precision_of(const SharedFactors& shared, const ScoreSums& sums, Index row) {
  const Index at = shared.place[static_cast<size_t>(row)];
  return at < 0 ? sums.precision : sums.own[static_cast<size_t>(at)];
}

// A row's q as it is tried.
struct RowTrial {
  Vec mean;
  Mat covariance;
  double logdet = 0;
  bool positive = true;  // else there is no such q

  RowTrial(Vec m, Mat v, double log_determinant)
      : mean(std::move(m)), covariance(std::move(v)), logdet(log_determinant) {}
  RowTrial(Vec m, const Mat& precision) : mean(std::move(m)) {
    const Factor factor(precision);
    positive = factor.positive();
    if (!positive) return;
    covariance = factor.inverse();
    logdet = -factor.logdet();
  }
};

double own_value(const Mat& precision, const Vec& linear, const Vec& mean, ConstMatRef covariance,
                 double logdet) {
  return mean.dot(linear) -
         0.5 * (precision.cwiseProduct(covariance).sum() + mean.dot(precision * mean)) +
         0.5 * logdet;
}

// Steps of the labelled rows first .. first + count - 1.
class RowSteps {
 public:
  RowSteps(const SharedFactors& shared, const ScoreSums& sums,
           const ClassifierPosterior& classifier, ScorePosterior& w)
      : shared_(shared), sums_(sums), classifier_(classifier), w_(w), d_(shared.model.d()),
        beta_(classifier.mean().tail(w.mean.cols())),
        cross_(classifier.covariance().bottomRows(w.mean.cols())),
        second_(classifier.square().bottomRightCorner(w.mean.cols(), w.mean.cols())),
        offset_(shared.offset()) {}

  void advance(Index first, Index count) {
    std::vector<Index> rows(shared_.labelled.begin() + first,
                            shared_.labelled.begin() + first + count);
    RowTerms terms;
    Arr value = values(rows, current(rows), terms);
    std::vector<RowTrial> goal;
    for (size_t i = 0; i < rows.size(); ++i) goal.push_back(target(rows[i], terms, i));
    double share = 1;
    for (int k = 0; k < kHalvings && !rows.empty(); ++k, share *= 0.5) {
      std::vector<RowTrial> trial;
      for (size_t i = 0; i < rows.size(); ++i) trial.push_back(between(rows[i], goal[i], share));
      RowTerms there;
      const Arr reached = values(rows, trial, there);
      std::vector<Index> left;
      std::vector<RowTrial> left_goal;
      std::vector<double> left_value;
      for (size_t i = 0; i < rows.size(); ++i) {
        const Index at = static_cast<Index>(i);
        if (trial[i].positive &&
            reached[at] >= value[at] - kRounding * (1 + std::abs(value[at]))) {
          w_.mean.row(rows[i]) = trial[i].mean;
          w_.set(rows[i], trial[i].covariance, trial[i].logdet);
          continue;
        }
        left.push_back(rows[i]);
        left_goal.push_back(goal[i]);
        left_value.push_back(value[at]);
      }
      rows = left;
      goal = left_goal;
      value = Eigen::Map<const Arr>(left_value.data(), static_cast<Index>(left_value.size()));
    }
  }

 private:
  std::vector<RowTrial> current(const std::vector<Index>& rows) const {
    std::vector<RowTrial> out;
    for (const Index n : rows) out.emplace_back(w_.mean.row(n), w_.of(n), w_.logdet[n]);
    return out;
  }

  Vec c(Index row, const Vec& mean) const {
    Vec out(d_ + mean.size());
    out << shared_.model.covariates.row(row).transpose(), mean;
    return out;
  }

  Arr values(const std::vector<Index>& rows, const std::vector<RowTrial>& at,
             RowTerms& terms) const {
    const Index r = static_cast<Index>(rows.size());
    Arr y(r), out(r);
    PredictorMoments f{Arr::Zero(r), Arr::Zero(r)};
    for (Index i = 0; i < r; ++i) {
      const RowTrial& own = at[static_cast<size_t>(i)];
      const Index n = rows[static_cast<size_t>(i)];
      y[i] = shared_.model.y[n];
      if (!own.positive) continue;
      const Vec row = c(n, own.mean);
      f.mean[i] = offset_[n] + row.dot(classifier_.mean());
      f.variance[i] = std::max(0.0, row.dot(classifier_.covariance() * row) +
                                        own.covariance.cwiseProduct(second_).sum());
    }
    classifier_.terms(y, f, terms);
    for (Index i = 0; i < r; ++i) {
      const RowTrial& own = at[static_cast<size_t>(i)];
      const Index n = rows[static_cast<size_t>(i)];
      if (own.positive)
        out[i] = shared_.weight(n) * terms.value[i] +
                 own_value(precision_of(shared_, sums_, n), sums_.linear.row(n), own.mean,
                           own.covariance, own.logdet);
    }
    return out;
  }

  RowTrial target(Index row, const RowTerms& terms, size_t i) const {
    const Index at = static_cast<Index>(i);
    const double weight = shared_.weight(row);
    double omega = weight * terms.weight[at];
    const Mat& own = precision_of(shared_, sums_, row);
    const Vec m = w_.mean.row(row);
    const Vec gradient = Vec(sums_.linear.row(row)) - own * m + weight * terms.slope[at] * beta_ -
                         omega * (cross_ * c(row, m));
    RowTrial out(m, own + omega * second_);
    // a likelihood that is not concave may ask for more variance than there is
    if (!out.positive) out = RowTrial(m, own);
    out.mean += out.covariance * gradient;
    return out;
  }

  RowTrial between(Index row, const RowTrial& goal, double share) const {
    if (share == 1) return goal;
    const Vec m = w_.mean.row(row);
    const Mat mixed = (1 - share) * Factor(w_.of(row)).inverse() +
                      share * Factor(goal.covariance).inverse();
    return RowTrial(m + share * (goal.mean - m), mixed);
  }

  const SharedFactors& shared_;
  const ScoreSums& sums_;
  const ClassifierPosterior& classifier_;
  ScorePosterior& w_;
  Index d_;
  Vec beta_;
  Mat cross_, second_;  // Cov(beta, b), E beta beta'
  Vec offset_;
};

}  // namespace

ScorePosterior::ScorePosterior(Mat m, double variance)
    : mean(std::move(m)), covariance(Mat::Zero(mean.cols() * mean.cols(), mean.rows())),
      logdet(Vec::Constant(mean.rows(),
                           static_cast<double>(mean.cols()) * std::log(variance))) {
  for (Index j = 0; j < mean.cols(); ++j)
    covariance.row(j * (mean.cols() + 1)).setConstant(variance);
}

void ScorePosterior::set(Index row, const Mat& v, double log_determinant) {
  covariance.col(row) = Eigen::Map<const Vec>(v.data(), v.size());
  logdet[row] = log_determinant;
}

Mat ScorePosterior::square(Index row) const {
  return of(row) + mean.row(row).transpose() * mean.row(row);
}

Mat ScorePosterior::moments() const {
  const Index k = mean.cols();
  Mat out(1 + k, 1 + k);
  const Vec sum = mean.colwise().sum(), spread = covariance.rowwise().sum();
  out(0, 0) = static_cast<double>(mean.rows());
  out.col(0).tail(k) = sum;
  out.row(0).tail(k) = sum.transpose();
  out.bottomRightCorner(k, k) =
      mean.transpose() * mean + Eigen::Map<const Mat>(spread.data(), k, k);
  return out;
}

void ScorePosterior::transform(const Mat& r, const Vec& d) {
  mean = (mean.rowwise() + d.transpose()) * r.transpose();
  const Factor square(r * r.transpose());
  if (!square.positive()) refuse_numbers();
  for (Index n = 0; n < mean.rows(); ++n)
    set(n, r * of(n) * r.transpose(), logdet[n] + square.logdet());
}

ScorePosterior scores_given_x(const SharedFactors& shared, const ScoreSums& sums) {
  const Scores given(sums, shared.place);
  ScorePosterior out(given.mean(), 1);
  for (Index n = 0; n < out.mean.rows(); ++n) {
    double logdet = 0;
    for (Index j = 0; j < out.mean.cols(); ++j) logdet -= 2 * std::log(given.root(n)(j, j));
    out.set(n, given.covariance(n), logdet);
  }
  return out;
}

void update_scores(const SharedFactors& shared, const ScoreSums& sums,
                   const ClassifierPosterior& classifier, ScorePosterior& w, int threads,
                   Host& host) {
  const ScorePosterior before = w;
  w = scores_given_x(shared, sums);
  if (w.mean.cols() == 0) return;
  const Index rows = static_cast<Index>(shared.labelled.size());
  for (const Index n : shared.labelled) {
    w.mean.row(n) = before.mean.row(n);
    w.set(n, before.of(n), before.logdet[n]);
  }
  RowSteps steps(shared, sums, classifier, w);
  run_lanes((rows + kRowsOfPart - 1) / kRowsOfPart, threads, host,
            [&](Index part, int, const Checkpoint& checkpoint) {
              checkpoint();
              const Index first = part * kRowsOfPart;
              for (int k = 0; k < kScoreRounds; ++k)
                steps.advance(first, std::min(kRowsOfPart, rows - first));
            });
}

double score_value(const SharedFactors& shared, const ScoreSums& sums, const ScorePosterior& w) {
  double out = 0.5 * static_cast<double>(w.mean.size());
  for (Index n = 0; n < w.mean.rows(); ++n)
    out += own_value(precision_of(shared, sums, n), sums.linear.row(n), w.mean.row(n), w.of(n),
                     w.logdet[n]);
  return out;
}

}  // namespace bsvm
