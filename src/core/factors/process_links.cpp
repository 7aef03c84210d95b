#include "process_links.hpp"

#include <algorithm>
#include <cmath>

#include "random/normal.hpp"
#include "rows/lanes.hpp"

namespace bsvm {

namespace {

constexpr Index kCandidates = 2000;
constexpr double kNothingLeft = 1e-6;  // of the variance: no more points
constexpr Index kLeastPairs = 8;       // of points z and -z
constexpr Index kRowsOfLinks = 32;

// x^{k + 1} = x + 1, for the sequence that fills a cube of k dimensions evenly.
double golden(Index k) {
  double x = 1.5;
  for (int i = 0; i < 60; ++i) x = std::pow(1 + x, 1 / (1 + static_cast<double>(k)));
  return x;
}

}  // namespace

Mat score_points(const ProcessPart& process, Index factors) {
  Mat all(factors, kCandidates);
  Draws random({0, 0, 2}, Purpose::design, 0);
  for (Index k = 0; k < all.size(); ++k) all.data()[k] = random.normal();
  Host nobody;
  const ChosenPoints chosen = choose_points(*process.kernel, all, process.start, process.points,
                                            kNothingLeft, nobody);
  Mat out(factors, static_cast<Index>(chosen.points.size()));
  for (Index k = 0; k < out.cols(); ++k)
    out.col(k) = all.col(chosen.points[static_cast<size_t>(k)]);
  return out;
}

// Pairs z and -z of a Kronecker sequence, then made to have the second moments I.
Mat normal_points(Index k) {
  const Index pairs = std::max(kLeastPairs, k);
  const double base = golden(k);
  Mat half(k, pairs);
  for (Index j = 0; j < pairs; ++j)
    for (Index i = 0; i < k; ++i) {
      const double u = 0.5 + (static_cast<double>(j) + 0.5) *
                                 std::pow(base, -static_cast<double>(i + 1));
      half(i, j) = normal_quantile(u - std::floor(u));
    }
  const Factor factor(half * half.transpose() / static_cast<double>(pairs));
  solve_lower(factor.lower(), half);
  Mat out(k, 2 * pairs);
  out << half, -half;
  return out;
}

std::vector<std::string> process_numbers(const ProcessPart& process) {
  std::vector<std::string> out;
  if (!process.kernel) return out;
  if (process.variance->free_size(1) > 0) out.push_back("process.variance");
  for (size_t k = 0; k < process.numbers.size(); ++k)
    if (process.numbers[k]) out.push_back("kernel_" + std::to_string(k + 1));
  return out;
}

LinkMoments at_scores(const ScoreFunction& of, const Mat& w) {
  Mat h(of.features.columns(), w.cols());
  of.features.fill(w, h);
  return {of.sd * (h.transpose() * of.b), of.sd * of.sd * of.features.left_over(w, h)};
}

LinkMoments process_links(const ScoreFunction& of, const Scores& scores, bool feedback,
                          bool in_pairs, int threads, Host& host) {
  const Index n = scores.mean().rows(), k = scores.mean().cols();
  const Mat z = feedback ? normal_points(k) : Mat(Mat::Zero(k, 2));
  const Index lanes = (n + kRowsOfLinks - 1) / kRowsOfLinks, points = z.cols(), half = points / 2;
  LinkMoments out{Vec(n), Vec(n)};
  run_lanes(lanes, threads, host, [&](Index lane, int, const Checkpoint& checkpoint) {
    checkpoint();
    const Index first = lane * kRowsOfLinks, count = std::min(kRowsOfLinks, n - first);
    Mat w(k, count * points), pairs(k, 2 * count);
    for (Index i = 0; i < count; ++i) {
      auto own = w.middleCols(i * points, points);
      own = z;
      solve_transposed(scores.root(first + i), own);
      own.colwise() += scores.mean().row(first + i).transpose();
      const Index pair = (first + i) % half;
      pairs.col(2 * i) = own.col(pair);
      pairs.col(2 * i + 1) = own.col(half + pair);
    }
    const bool some = in_pairs && points > 2;  // else the pairs are all there is
    const LinkMoments all =
        some ? LinkMoments{of.sd * of.features.product(w, of.b), at_scores(of, pairs).variance}
             : at_scores(of, w);
    const Index each = all.variance.size() / count;
    for (Index i = 0; i < count; ++i) {
      const auto own = all.mean.segment(i * points, points).array();
      out.mean[first + i] = own.mean();
      out.variance[first + i] = (own - own.mean()).square().mean() +
                                all.variance.segment(i * each, each).mean();
    }
  });
  return out;
}

}  // namespace bsvm
