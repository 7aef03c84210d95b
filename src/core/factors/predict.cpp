#include "predict.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "base/error.hpp"
#include "kernel/distances.hpp"
#include "rows/lanes.hpp"
#include "shared.hpp"

namespace bsvm {

namespace {

constexpr Index kRowsAtOnce = 256;

// Rows in which the same is missing.
struct Patterns {
  std::vector<Index> place;  // (N) among `gaps`, -1 of complete rows
  std::vector<Gaps> gaps;

  explicit Patterns(const Mat& x) : place(static_cast<size_t>(x.rows()), -1) {
    std::map<std::vector<Index>, Index> known;
    for (Index n = 0; n < x.rows(); ++n) {
      std::vector<Index> missing;
      for (Index i = 0; i < x.cols(); ++i)
        if (std::isnan(x(n, i))) missing.push_back(i);
      if (missing.empty()) continue;
      const auto found = known.emplace(missing, static_cast<Index>(gaps.size()));
      if (found.second) gaps.push_back(gaps_of(missing, x.cols()));
      place[static_cast<size_t>(n)] = found.first->second;
    }
  }
};

void check(const NewRows& rows, const FactorDraws& draws) {
  const Index n = rows.x.rows(), p = rows.x.cols(), m = draws.mean.cols();
  const auto need = [](bool holds, const char* argument, const std::string& message) {
    if (!holds) throw InvalidInput(argument, message);
  };
  need(!rows.x.array().isInf().any(), "x",
       "The variables must be finite, or NaN where they are missing.");
  need(rows.covariates.rows() == n && rows.covariates.allFinite(), "covariates",
       "The covariates need finite numbers for each of the new rows.");
  need(rows.offset.size() == n && rows.offset.allFinite(), "offset",
       "The offset must be finite, one for each of the new rows.");
  need(draws.mean.rows() == p && draws.loadings.rows() == p * draws.factors &&
           (draws.noise.rows() == p || draws.noise.rows() == 1) &&
           draws.alpha.rows() == rows.covariates.cols(),
       "draws", "The draws are of other variables or covariates than the new rows.");
  need(draws.loadings.cols() == m && draws.noise.cols() == m && draws.alpha.cols() == m, "draws",
       "There must be as many draws of loadings, noise and coefficients as of the means.");
  need(draws.mean.allFinite() && draws.loadings.allFinite() && draws.noise.allFinite() &&
           draws.alpha.allFinite() && (m == 0 || draws.noise.minCoeff() > 0),
       "draws", "The draws must be finite, and noise precisions positive.");
}

ScoreSums sums_of(const Mat& x, const Patterns& patterns, ConstVecRef mean, const Mat& loadings,
                  ConstVecRef noise) {
  const Index n = x.rows(), k = loadings.cols();
  Mat weighted = loadings;
  if (noise.size() == 1) weighted *= noise[0];
  else weighted.array().colwise() *= noise.array();
  const Mat one = Mat::Identity(k, k);
  ScoreSums out{one, Mat(n, k), std::vector<Mat>(patterns.gaps.size(), one)};
  if (k == 0) return out;
  out.precision += matrix_product(loadings.transpose(), weighted);
  for (size_t g = 0; g < patterns.gaps.size(); ++g) {
    const Gaps& gaps = patterns.gaps[g];
    Mat listed = Mat::Zero(k, k);
    for (const Index i : gaps.listed)
      listed.noalias() += weighted.row(i).transpose() * loadings.row(i);
    if (gaps.lists_seen) out.own[g] += listed;
    else out.own[g] = out.precision - listed;
  }
  for (Index first = 0; first < n; first += kRowsAtOnce) {
    const Index count = std::min(kRowsAtOnce, n - first);
    Mat centred = x.middleRows(first, count).rowwise() - mean.transpose();
    centred = centred.array().isNaN().select(0, centred).eval();
    out.linear.middleRows(first, count) = matrix_product(centred, weighted);
  }
  return out;
}

}  // namespace

Predicted predict_factors(const NewRows& rows, const FactorDraws& draws,
                          const LinkOfDraw& links, int threads, Host& host) {
  check(rows, draws);
  const Patterns patterns(rows.x);
  const Index n = rows.x.rows(), p = rows.x.cols(), k = draws.factors, m = draws.mean.cols();
  const Index laws = 1 + static_cast<Index>(patterns.gaps.size());
  Predicted out{std::vector<Index>(), Mat(n * k, m), Mat(k * k * laws, m), Mat(n, m), Mat(n, m)};
  for (const Index place : patterns.place) out.pattern.push_back(1 + place);
  run_lanes(m, threads, host, [&](Index draw, int, const Checkpoint& checkpoint) {
    checkpoint();
    const Mat loadings = Eigen::Map<const Mat>(draws.loadings.col(draw).data(), p, k);
    const Scores scores(sums_of(rows.x, patterns, draws.mean.col(draw), loadings,
                                draws.noise.col(draw)),
                        patterns.place);
    Eigen::Map<Mat>(out.scores.col(draw).data(), n, k) = scores.mean();
    for (Index law = 0; law < laws; ++law)
      Eigen::Map<Mat>(out.covariance.col(draw).data() + k * k * law, k, k) = scores.law(law);
    const LinkMoments own = links(draw, scores);
    out.mean.col(draw) = rows.offset + rows.covariates * draws.alpha.col(draw) + own.mean;
    out.variance.col(draw) = own.variance;
  });
  return out;
}

}  // namespace bsvm
