#include "column_gram.hpp"

#include <algorithm>

namespace bsvm {

namespace {

constexpr Index kGramLeaf = 2048;

}  // namespace

ColumnGram::ColumnGram(Index columns)
    : columns_(columns), values_(columns, kGramLeaf), ones_(Arr::Ones(kGramLeaf)),
      sum_(Mat::Zero(columns, columns)) {}

void ColumnGram::add(const double* x, Index n) {
  const Eigen::Map<const Mat> all(x, n, columns_);
  for (Index first = 0; first < n;) {
    const Index size = std::min(kGramLeaf - rows_, n - first);
    values_.middleCols(rows_, size) = all.middleRows(first, size).transpose();
    rows_ += size;
    first += size;
    if (rows_ == kGramLeaf) end_leaf();
  }
}

void ColumnGram::end_leaf() {
  squares_.add(values_.data(), columns_, rows_, ones_.data(), sum_.data(), columns_);
  rows_ = 0;
}

Mat ColumnGram::sum() const {
  ColumnGram whole = *this;
  if (rows_ > 0) whole.end_leaf();
  return whole.sum_.selfadjointView<Eigen::Lower>();
}

}  // namespace bsvm
