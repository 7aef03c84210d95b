#pragma once
#include <vector>

#include "../types.hpp"
#include "row_source.hpp"

namespace bsvm {

// A group's own algebra lives on the stack.
constexpr Index kMostEffects = 12;
using SmallMat =
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kMostEffects, kMostEffects>;
using SmallVec = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kMostEffects, 1>;

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
};

// One pass's scratch for the rows of one block, reused for all.
struct RowBlock {
  Index r = 0;      // rows; the matrices have room for a multiple of four
  Mat c;            // (p, r) dense design, a row contiguous
  Mat centred;      // (p, r) c - B_g' z
  Mat z;            // (q, r) group multipliers
  Mat columns;      // (p, r + q units) what enters a sum of squares
  Arr y, weight, m, v;  // (r)
  std::vector<double> packed, packed_weighted;  // panels of c or columns

  RowBlock(Index p, Index q, Index rows, Index units);
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
// Writes A_gg and B_g', and to `columns` the vectors whose sum of squares is the
// reduced precision  sum omega (c - B'z)(c - B'z)' + B' D B. This centred form
// adds positive terms only, so nothing cancels when D is small.
//   omega (r of the block) >= 0 and its root;  prior (q, q) = D and its lower factor.
void eliminate(const UnitRows& rows, const Arr& omega, const Arr& root,
               const SmallMat& prior, const SmallMat& prior_factor, Index unit_column,
               RowBlock& block, double* precision, double* regression);

// Cholesky factor (lower, in place, upper part left alone) of a small q x q
// matrix; false if it is not positive definite.
bool small_cholesky(double* a, Index q);
// x <- L^{-1} x and x <- L^{-T} x.
void small_forward(const double* l, Index q, double* x);
void small_backward(const double* l, Index q, double* x);
double small_logdet(const double* l, Index q);  // log det L L'

// |L^{-1} next L^{-T} - I|^2 / 2 in the Frobenius norm, with before = L L'.
double relative_change(const double* before, const double* next, Index q);

}  // namespace bsvm
