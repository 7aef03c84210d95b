#include "gather.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"

namespace bsvm {

namespace {

constexpr Index kBand = 1 << 18;  // numbers that are transposed together

// A State for blocks that do not look at it.
const State& no_state() {
  static const State none{Layout()};
  return none;
}

void refuse_varying(const Problem& problem) {
  if (varies(problem))
    throw InvalidInput("formula", "A term whose columns are learned can't be fitted this way: the "
                                  "rows are looked at once.");
}

}  // namespace

bool varies(const Problem& problem) {
  return std::any_of(problem.blocks.begin(), problem.blocks.end(),
                     [](const auto& block) { return block->varies(); }) ||
         (problem.multipliers && problem.multipliers->varies());
}

Index design_numbers(const Problem& problem) {
  const auto by_more = [](const auto& block) { return block->varies() && block->free_size() == 0; };
  if (std::any_of(problem.blocks.begin(), problem.blocks.end(), by_more)) return 0;
  if (problem.multipliers && problem.multipliers->varies()) return 0;
  return problem.parameters() - problem.likelihood->free_size();
}

std::vector<int> all_rows(const Problem& problem) {
  std::vector<int> rows(problem.n);
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

void gather_design(const Problem& problem, const int* rows, Index r, const State& state,
                   Columns out) {
  Index first = 0;
  for (const auto& block : problem.blocks) {
    block->fill(rows, r, state, out.block(first, 0, block->columns(), r));
    first += block->columns();
  }
}

void gather_multipliers(const Problem& problem, const int* rows, Index r, const State& state,
                        Columns out) {
  problem.multipliers->fill(rows, r, state, out.leftCols(r));
}

void gather_left_over(const Problem& problem, const int* rows, Index r, Mat& out) {
  if (!problem.left_over) return;
  out.resize(r, static_cast<Index>(problem.leaving.size()));
  for (Index k = 0; k < out.cols(); ++k)
    for (Index i = 0; i < r; ++i) out(i, k) = problem.left_over[rows[i] + k * problem.n];
}

void gather_design(const Problem& problem, const int* rows, Index r, Columns out) {
  refuse_varying(problem);
  gather_design(problem, rows, r, no_state(), out);
}

void gather_multipliers(const Problem& problem, const int* rows, Index r, Columns out) {
  refuse_varying(problem);
  gather_multipliers(problem, rows, r, no_state(), out);
}

Mat gather_design(const Problem& problem) {
  Mat out(problem.columns(), problem.n);
  gather_design(problem, all_rows(problem).data(), problem.n, out);
  return out;
}

Mat gather_multipliers(const Problem& problem) {
  Mat out(problem.multipliers->columns(), problem.n);
  gather_multipliers(problem, all_rows(problem).data(), problem.n, out);
  return out;
}

Mat gather_columns(const Problem& problem, const std::vector<int>& rows) {
  refuse_varying(problem);
  Mat out(static_cast<Index>(rows.size()), problem.columns());
  const Index most = std::max<Index>(1, kBand / std::max<Index>(1, out.cols()));
  Mat band(out.cols(), std::min(most, out.rows()));
  for (Index first = 0; first < out.rows(); first += most) {
    const Index r = std::min(most, out.rows() - first);
    gather_design(problem, rows.data() + first, r, no_state(), band.leftCols(r));
    out.middleRows(first, r) = band.leftCols(r).transpose();
  }
  return out;
}

}  // namespace bsvm
