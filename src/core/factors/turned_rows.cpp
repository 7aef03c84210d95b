#include "turned_rows.hpp"

#include <algorithm>
#include <vector>

#include "linalg/dense.hpp"
#include "linalg/kernels.hpp"

namespace bsvm {

namespace {

constexpr double kRank = 1e-12;  // of the largest squared singular value: below, it is rounding
constexpr Index kColumns = 256;  // that are taken at once

}  // namespace

TurnedRows::TurnedRows(const Mat& x) {
  const Index n = x.rows(), p = x.cols();
  Mat gram = Mat::Zero(n, n);
  std::vector<double> packed(static_cast<size_t>(packed_size(n, std::min(kColumns, p))));
  for (Index first = 0; first < p; first += kColumns) {
    const Index count = std::min(kColumns, p - first);
    pack_block(x.data() + first * n, n, n, count, nullptr, packed.data());
    kernels().gram(packed.data(), packed.data(), n, count, gram.data());
  }
  square = gram.trace();
  const SymmetricEigen eigen(gram);
  const double least = kRank * std::max(eigen.values.maxCoeff(), 0.0);
  const Index r = (eigen.values.array() > least).count();  // values increase
  const Vec roots = eigen.values.tail(r).cwiseSqrt();
  columns = eigen.vectors.rightCols(r) * roots.asDiagonal();
  back = eigen.vectors.rightCols(r) * roots.cwiseInverse().asDiagonal();
}

}  // namespace bsvm
