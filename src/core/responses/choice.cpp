#include "choice.hpp"

#include <cmath>

#include "normal_draws.hpp"

namespace bsvm {

WithSet with_set(const SharedResponses& shared, Index set, const Mat& prior, const Mat& linear,
                 const Mat& inverse) {
  WithSet out;
  const auto& sets = shared.places[static_cast<size_t>(shared.chosen)];
  std::vector<bool> absent(static_cast<size_t>(prior.rows()), false);
  for (size_t c = 0; c < sets.size(); ++c)
    for (const Index a : sets[c]) absent[static_cast<size_t>(a)] = static_cast<Index>(c) != set;
  for (Index a = 0; a < prior.rows(); ++a)
    if (!absent[static_cast<size_t>(a)]) out.columns.push_back(a);
  const Index m = static_cast<Index>(out.columns.size()), q = prior.cols();
  Mat ss(m, m), own(m, q), precision = Mat::Zero(m * q, m * q);
  for (Index a = 0; a < m; ++a) {
    const Index at = out.columns[static_cast<size_t>(a)];
    for (Index b = 0; b < m; ++b) ss(a, b) = shared.ss(at, out.columns[static_cast<size_t>(b)]);
    own.row(a) = linear.row(at);
    for (Index j = 0; j < q; ++j) precision(a + m * j, a + m * j) = prior(at, j);
  }
  add_kron(inverse, ss, precision);
  out.root = positive_factor(precision).lower();
  out.half = solved_lower(out.root, as_vector(own));
  out.log_evidence = 0.5 * out.half.squaredNorm() - out.root.diagonal().array().log().sum();
  return out;
}

Mat draw_coefficients(WithSet& own, Index small, Index q, Draws& random) {
  for (Index a = 0; a < own.half.size(); ++a) own.half[a] += random.normal();
  solve_transposed(own.root, own.half);
  Mat out = Mat::Zero(small, q);
  const Index m = static_cast<Index>(own.columns.size());
  for (Index j = 0; j < q; ++j)
    for (Index a = 0; a < m; ++a)
      out(own.columns[static_cast<size_t>(a)], j) = own.half[a + m * j];
  return out;
}

Index draw_index(const Vec& logs, Draws& random) {
  const Vec share = (logs.array() - logs.maxCoeff()).exp().matrix();
  double left = random.uniform() * share.sum();
  Index out = 0;
  while (out + 1 < share.size() && (left -= share[out]) > 0) ++out;
  return out;
}

}  // namespace bsvm
