#pragma once
#include <vector>

#include "problem.hpp"
#include "state.hpp"

namespace bsvm {

// What a Problem's blocks make of some of its rows, r of them with these numbers. Every reader of
// rows comes here.
using Columns = Eigen::Ref<Mat, 0, Eigen::OuterStride<>>;

// (p, r) of the dense columns, (q, r) of the grouping factor's multipliers, at this State.
void gather_design(const Problem& problem, const int* rows, Index r, const State& state,
                   Columns out);
void gather_multipliers(const Problem& problem, const int* rows, Index r, const State& state,
                        Columns out);

// (r, leaving) of Rows::left_over, nothing without it.
void gather_left_over(const Problem& problem, const int* rows, Index r, Mat& out);

// The same for readers that look once and keep what they saw: InvalidInput where a block depends on
// the State.
void gather_design(const Problem& problem, const int* rows, Index r, Columns out);
void gather_multipliers(const Problem& problem, const int* rows, Index r, Columns out);

// All rows: (p, n) and (q, n).
Mat gather_design(const Problem& problem);
Mat gather_multipliers(const Problem& problem);
// Column by column: (rows, p).
Mat gather_columns(const Problem& problem, const std::vector<int>& rows);

std::vector<int> all_rows(const Problem& problem);  // 0, 1, .. n - 1

bool varies(const Problem& problem);  // does a block depend on the State?
// How many of State::parameters(), the last ones, the design depends on, if on nothing else of it; else
// 0.
Index design_numbers(const Problem& problem);

}  // namespace bsvm
