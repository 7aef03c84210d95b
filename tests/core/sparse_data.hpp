#pragma once
#include "oracle.hpp"
#include "rows/sparse/sparse_rows.hpp"

// Problems with several grouping factors and sparse predictors, and their dense twins.
namespace bsvm_test {

struct SparseData {
  Data data;  // the dense columns, y, weights, offset
  std::vector<SparseTerm> terms;
  std::vector<int> start{0}, row;
  std::vector<double> value;

  explicit SparseData(const Shape& shape) : data(simulate(shape)) {}

  Index n() const { return data.shape.n; }
  Index columns() const { return static_cast<Index>(start.size()) - 1; }
  Index effects() const;
  Mat dense() const;  // (n, columns)

  // codes (n) 0 .. levels - 1; z (n, effects). What is zero is not stored.
  void add_factor(const std::vector<int>& codes, Index levels, const Mat& z);
  void add_predictors(const Mat& x);  // (n, columns)

  SparseColumns view() const;
  // Priors of the dense columns as usual, and one for each effect, or for two of them jointly.
  Problem problem(const std::vector<PriorSpec>& group_priors) const;
  Problem problem() const;  // ridge on each effect
};

std::vector<int> random_codes(Index n, Index levels, Noise& noise);
Mat with_slope(Index n, Noise& noise);  // (n, 2) one and a predictor

// Factors of these numbers of levels, crossed at random.
SparseData crossed(const Shape& shape, const std::vector<Index>& levels);
// A factor within another, each with an intercept and the inner one with a slope.
SparseData nested(const Shape& shape, Index outer, Index inner);
// Slopes, a nested factor, sparse predictors with overlapping columns and one that is empty.
SparseData mixed(const Shape& shape);

// The prior precision of all sparse columns, from that of the effects (E, E).
Mat level_precision(const SparseData& data, const Mat& effects);

// An oracle over [sparse columns in `order`, from position `lead` on; dense columns; the leading
// positions], so that what it eliminates is the leading part. Inside scale.
struct SparseOracle : Oracle {
  std::vector<int> order;
  Index lead;

  SparseOracle(const SparseData& data, const Problem& problem, std::vector<int> order,
               Index lead);
  Index at(Index position) const { return position < lead ? p + position : position - lead; }
  Index at_column(Index column) const;
  void set_prior(const SparseData& data, const Mat& effects, const Vec& dense);
  Real leading_divergence(const MatL& next) const;  // tr(S A) - log det(S A) less the root's share
};

}  // namespace bsvm_test
