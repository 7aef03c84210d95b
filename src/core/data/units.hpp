#pragma once
#include <vector>

#include "base/types.hpp"
#include "linalg/small.hpp"

namespace bsvm {

// What each group (unit) carries from pass to pass. One column a group; names
// as in formulas.md: with A_gg the precision of the group's effects u_g given
// the dense coefficients b, and A_gd their coupling, B_g = A_gg^{-1} A_gd.
struct Units {
  Index p, q;
  Mat effect;                // (q, m) E u_g
  Mat step;                  // (q, m) the step E u_g took last
  Mat next_step;             // (q, m) K_gg^{-1} r_g: the next one at fixed b
  Mat precision;             // (q q, m) A_gg
  Mat regression;            // (p q, m) B_g', so that c - B_g' z is contiguous
  Mat next_precision;        // the same under the new weights
  Mat next_regression;
  Mat curvature_regression;  // (p q, m) B_g' under the curvatures

  Units(Index columns, Index effects, Index groups);
  void clear();  // a run that starts knows nothing of the effects
};

// Rows gathered in working order.
struct RowData {
  Mat c;  // (p, r) dense design, a row contiguous; three more, which kernels may read
  Mat z;  // (q, r) group multipliers
  Arr y, weight, offset;  // (r)

  RowData(Index p, Index q, Index rows);
};

// One pass's scratch for the rows of one block, reused for all.
struct RowBlock {
  Index p, r = 0;
  RowData own;      // what the next four look at, unless it is kept elsewhere
  double* c;        // unknown predictors are put into it
  const double *z, *y, *weight;
  Mat centred;      // (p, r) c - B_g' z
  Mat columns;      // (p, r + q units) what the reduced precision is a sum over
  Arr m, v;         // (r)

  RowBlock(Index p, Index q, Index rows, Index units);

  // Rows from `first` of these data on.
  void look_at(RowData& data, Index first, Index rows);
  Eigen::Map<const Mat> design() const { return {c, p, r}; }  // (p, r)
};

// Which unit's rows: first .. last - 1 within the block.
struct UnitRows {
  Index unit, first, last;
};

// E u_g and B_g enter the rows: m += z'u_g, centred = c - B_g' z, and
// v += z' A_gg^{-1} z (the caller adds centred' S centred).
void add_unit_moments(const Units& units, const UnitRows& rows, RowBlock& block);

// Eliminates a unit's effects from a weighted least-squares problem:
//   A_gg = sum omega z z' + D,  B_g = A_gg^{-1} sum omega z c'
// Writes A_gg and B_g', and to `columns` the vectors of the reduced precision
//   sum omega (c - B'z)(c - B'z)' + B' D B:
// c - B'z for the rows, and q more, of weight one, for B' D B. This centred form
// adds positive terms only, so nothing cancels when D is small.
//   omega (r of the block);  prior (q, q) = D and its factor;  unit_column: where the
//   q columns go.
void eliminate(const UnitRows& rows, const Arr& omega, const double* prior,
               const SmallFactor& prior_factor, Index q, Index unit_column, RowBlock& block,
               double* precision, double* regression);

// A unit's A_gg (q, q) and B_g' (p, q).
struct UnitPrecision {
  const double* own;
  const double* regression;
};

// How far a unit's share of the precision moved, in the metric of the precision
// before. Returns |G^{-1} A_gg G^{-T} - I|^2 / 2 (Frobenius), with G G' = A_gg before, and
// writes to `columns` (p, q) what, multiplied by the reduced L^{-1} and squared, is
// the share of the coupling: (B_g - B_g before)' A_gg G^{-T}.
double unit_change(const UnitPrecision& before, const UnitPrecision& next, Index p, Index q,
                   double* columns);

}  // namespace bsvm
