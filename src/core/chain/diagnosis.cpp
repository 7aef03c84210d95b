#include "diagnosis.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "random/normal.hpp"

namespace bsvm {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// Each chain's halves as chains of their own, the middle draw of an odd number left out.
Mat split(const Mat& x) {
  const Index n = x.rows(), half = n / 2;
  if (n == 1) return x;
  Mat out(half, 2 * x.cols());
  out << x.topRows(half), x.bottomRows(half);
  return out;
}

// Normal scores of the ranks over all chains, ties sharing theirs.
Mat scores(const Mat& x) {
  const Index size = x.size();
  std::vector<Index> order(size);
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(),
            [&](Index a, Index b) { return x.data()[a] < x.data()[b]; });
  Mat out(x.rows(), x.cols());
  for (Index first = 0; first < size;) {
    Index last = first;
    while (last + 1 < size && x.data()[order[last + 1]] == x.data()[order[first]]) ++last;
    const double rank = 1 + 0.5 * static_cast<double>(first + last);
    const double score = normal_quantile((rank - 0.375) / (static_cast<double>(size) + 0.25));
    for (; first <= last; ++first) out.data()[order[first]] = score;
  }
  return out;
}

double quantile(const Mat& x, double p) {
  std::vector<double> all(x.data(), x.data() + x.size());
  const double at = p * static_cast<double>(all.size() - 1);
  const auto low = all.begin() + static_cast<std::ptrdiff_t>(at);
  std::nth_element(all.begin(), low, all.end());
  if (low + 1 == all.end()) return *low;
  const double next = *std::min_element(low + 1, all.end());
  return *low + (at - std::floor(at)) * (next - *low);
}

double variance(const Vec& x) {
  return (x.array() - x.mean()).square().sum() / static_cast<double>(x.size() - 1);
}

double rhat(const Mat& x) {
  if (!varies(x)) return kNone;
  const double n = static_cast<double>(x.rows());
  double within = 0;
  for (Index k = 0; k < x.cols(); ++k) within += variance(x.col(k));
  within /= static_cast<double>(x.cols());
  const double between = n * variance(x.colwise().mean().transpose());
  return std::sqrt((between / within + n - 1) / n);
}

// Autocovariances, averaged over chains, one lag after another.
class Correlogram {
 public:
  explicit Correlogram(const Mat& x) : away_(x.rowwise() - x.colwise().mean()) {}
  double operator()(Index lag) const {
    const Index n = away_.rows();
    return (away_.topRows(n - lag).cwiseProduct(away_.bottomRows(n - lag))).sum() /
           static_cast<double>(n * away_.cols());
  }

 private:
  Mat away_;
};

// Geyer's initial monotone sequence of sums of adjacent autocorrelations.
double effective_size(const Mat& x) {
  if (x.rows() < 3 || !varies(x)) return kNone;
  const Index n = x.rows();
  const double rows = static_cast<double>(n);
  const Correlogram covariance(x);
  const double mean_variance = covariance(0) * rows / (rows - 1);
  double total = covariance(0);
  if (x.cols() > 1) total += variance(x.colwise().mean().transpose());
  const auto correlation = [&](Index lag) {
    return 1 - (mean_variance - covariance(lag)) / total;
  };
  std::vector<double> rho{1, correlation(1)};
  double even = 1, odd = rho[1];
  Index t = 0;
  while (t < n - 5 && even + odd > 0) {
    t += 2;
    even = correlation(t);
    odd = correlation(t + 1);
    const bool positive = even + odd >= 0;
    rho.push_back(positive ? even : 0);
    rho.push_back(positive ? odd : 0);
  }
  if (even > 0) rho[t] = even;
  for (Index k = 2; k <= t - 2; k += 2)
    if (rho[k] + rho[k + 1] > rho[k - 2] + rho[k - 1])
      rho[k] = rho[k + 1] = 0.5 * (rho[k - 2] + rho[k - 1]);
  const double draws = static_cast<double>(x.size());
  const double sum = std::accumulate(rho.begin(), rho.begin() + std::max<Index>(t, 1), 0.0);
  return draws / std::max(-1 + 2 * sum + rho[t], 1 / std::log10(draws));
}

double tail_size(const Mat& x, double p) {
  const double limit = quantile(x, p);
  return effective_size(split((x.array() <= limit).cast<double>().matrix()));
}

// NaN where one is.
double least(double a, double b) { return std::isnan(a) || std::isnan(b) ? kNone : std::min(a, b); }

}  // namespace

bool varies(const Mat& x) {
  return x.size() > 0 && x.allFinite() &&
         x.maxCoeff() - x.minCoeff() >= std::numeric_limits<double>::epsilon();
}

Diagnosis diagnose(const Mat& draws) {
  if (!varies(draws)) return {kNone, kNone, kNone, kNone};
  const Mat halves = split(draws), bulk = scores(halves);
  const double median = quantile(draws, 0.5);
  const Mat folded = scores(split((draws.array() - median).abs().matrix()));
  const double low = rhat(bulk), high = rhat(folded);
  return {std::isnan(low) || std::isnan(high) ? kNone : std::max(low, high),
          effective_size(bulk), least(tail_size(draws, 0.05), tail_size(draws, 0.95)),
          effective_size(halves)};
}

}  // namespace bsvm
