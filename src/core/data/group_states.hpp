#pragma once
#include "base/types.hpp"
#include "linalg/small.hpp"
#include "row_block.hpp"

namespace bsvm {

// What each group carries from pass to pass. One column a group; names
// as in formulas.md: with A_gg the precision of the group's effects u_g given
// the dense coefficients b, and A_gd their coupling, B_g = A_gg^{-1} A_gd.
struct GroupStates {
  Index p, q;
  Mat effect;                // (q, m) E u_g
  Mat step;                  // (q, m) the step E u_g took last
  Mat next_step;             // (q, m) K_gg^{-1} r_g: the next one at fixed b
  Mat precision;             // (q q, m) A_gg
  Mat regression;            // (p q, m) B_g', so that c - B_g' z is contiguous
  Mat next_precision;        // the same under the new weights
  Mat next_regression;
  Mat curvature_regression;  // (p q, m) B_g' under the curvatures

  GroupStates(Index columns, Index effects, Index groups);
  void clear();  // a run that starts knows nothing of the effects
};

// Which group's rows: first .. last - 1 within the block.
struct GroupRows {
  Index group, first, last;
};

// E u_g and B_g enter the rows: m += z'u_g, centred = c - B_g' z, and
// v += z' A_gg^{-1} z (the caller adds centred' S centred).
void add_group_moments(const GroupStates& states, const GroupRows& rows, RowBlock& block);

// Eliminates a group's effects from a weighted least-squares problem:
//   A_gg = sum omega z z' + D,  B_g = A_gg^{-1} sum omega z c'
// Writes A_gg and B_g', and to `columns` the vectors of the reduced precision
//   sum omega (c - B'z)(c - B'z)' + B' D B:
// c - B'z for the rows, and q more, of weight one, for B' D B. This centred form
// adds positive terms only, so nothing cancels when D is small.
//   omega (r of the block);  prior (q, q) = D and its factor;  group_column: where the
//   q columns go.
void eliminate(const GroupRows& rows, const Arr& omega, const double* prior,
               const SmallFactor& prior_factor, Index q, Index group_column, RowBlock& block,
               double* precision, double* regression);

// Of rows that are a part of a group's, such as ones in which multipliers do not vary, A_gg may be
// singular but for a small share of the prior. What these do not tell of the effects others do: a pivot
// of rounding size serves as well as any.
constexpr double kLeastPivot = 1e-15;

// The two steps of it: A_gg and, in place of B_g', A_gd'; and the rest, `least` being that of the
// factor.
void group_sums(const GroupRows& rows, const Arr& omega, const double* prior, Index q,
                const RowBlock& block, double* precision, double* coupling);
void eliminate_sums(const GroupRows& rows, const SmallFactor& prior_factor, Index q,
                    Index group_column, RowBlock& block, const double* precision,
                    double* regression, double least = 0);

// A group's A_gg (q, q) and B_g' (p, q).
struct GroupPrecision {
  const double* own;
  const double* regression;
};

// How far a group's share of the precision moved, in the metric of the precision
// before. Returns |G^{-1} A_gg G^{-T} - I|^2 / 2 (Frobenius), with G G' = A_gg before, and
// writes to `columns` (p, q) what, multiplied by the reduced L^{-1} and squared, is
// the share of the coupling: (B_g - B_g before)' A_gg G^{-T}.
double group_change(const GroupPrecision& before, const GroupPrecision& next, Index p, Index q,
                    double* columns);

}  // namespace bsvm
