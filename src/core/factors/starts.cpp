#include "starts.hpp"

#include <algorithm>
#include <cmath>

#include "linalg/dense.hpp"

namespace bsvm {

namespace {

constexpr Index kSpare = 5;     // directions beside those that are wanted
constexpr int kIterations = 6;
constexpr double kApart = 0.5;  // noise of chains after the first, in standard deviations

Mat normal_matrix(Index rows, Index columns, const DrawKey& key) {
  Mat out(rows, columns);
  for (Index k = 0; k < columns; ++k) {
    Draws random(key, Purpose::move, static_cast<std::uint64_t>(k));
    for (Index n = 0; n < rows; ++n) out(n, k) = random.normal();
  }
  return out;
}

// Columns with the same span that are orthonormal, to rounding; those beyond the rank are noise.
Mat orthonormal(const Mat& z) {
  const Mat scaled = z / std::max(z.cwiseAbs().maxCoeff(), 1e-300);
  return divided_transposed(scaled, positive_factor(scaled.transpose() * scaled).lower());
}

}  // namespace

Mat start_scores(const Mat& x, Index factors) {
  const Index n = x.rows(), wanted = std::min(factors, std::min(n, x.cols()));
  Mat out = normal_matrix(n, factors, {0, 0, 1});
  if (wanted == 0 || x.cwiseAbs().maxCoeff() == 0) return out;
  Mat y = x * normal_matrix(x.cols(), std::min(wanted + kSpare, std::min(n, x.cols())), {0, 0, 0});
  for (int k = 0; k < kIterations; ++k) y = x * orthonormal(x.transpose() * orthonormal(y));
  const SymmetricEigen eigen(y.transpose() * y);
  for (Index k = 0; k < wanted; ++k) {
    const Index from = eigen.values.size() - 1 - k;
    if (!(eigen.values[from] > 1e-12 * eigen.values.maxCoeff())) break;
    out.col(k) = std::sqrt(static_cast<double>(n) / eigen.values[from]) * y *
                 eigen.vectors.col(from);
  }
  return out;
}

Mat scores_of_chain(const Mat& start, int chain, const DrawKey& key) {
  if (chain == 0) return start;
  return (start + kApart * normal_matrix(start.rows(), start.cols(), key)) /
         std::sqrt(1 + kApart * kApart);
}

}  // namespace bsvm
