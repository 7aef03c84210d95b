#pragma once
#include "base/types.hpp"
#include "line_rows.hpp"

namespace bsvm {

// The sums that a pass spends its time in, on panels: a (p, r) matrix is
// packed as ceil(p/4) panels of 4 rows, each r x 4 contiguous, zero beyond p.
inline Index packed_size(Index p, Index r) { return (p + 3) / 4 * 4 * r; }

// out <- panels of c (p, r), column i times factor[i] (null: one).
void pack(const double* c, Index p, Index r, const double* factor, double* out);

// The same of a matrix within another, columns `stride` apart; and of the transpose of
// such a matrix, c (r, p).
void pack_block(const double* c, Index stride, Index p, Index r, const double* factor,
                double* out);
void pack_transposed(const double* c, Index stride, Index p, Index r, double* out);

// C += sign * X Y', with X packed (m, depth); and Y packed (n, y_stride), of which the first
// `depth` columns count, or Y' (depth, n) as it is, with columns y_stride apart.
struct PanelProduct {
  const double* x;
  Index m, depth;
  const double* y;
  Index n, y_stride;
  double* c;  // (m, n), columns `stride` apart
  Index stride;
  double sign = 1;
  bool packed_y = true;
  bool lower = false;       // C's lower triangle is wanted, m >= n
  bool y_from_row = false;  // Y_jk is zero for k < j
};

struct Kernels {
  // With `lower`, what is written above the diagonal means nothing.
  void (*product)(const PanelProduct& of);

  // v_i += |M c_i|^2 for lower triangular M (p, p), packed, and c (p, r). Reads c
  // up to column 4 ceil(r/4) - 1, whatever may stand there.
  void (*variances)(const double* m, const double* c, Index p, Index r, double* v);

  // sum_i weight_i max(0, u_i) at (s, t), u_i = 1 - y_i f_i for any numbers y_i: positive parts of
  // functions that are linear along the rows' lines.
  double (*positive_parts)(const LineRows& rows, double s, double t);

  // sum_i weight_i times the function of y_i - f_i at (s, t), y_i any number; and times its square.
  double (*hinge_pairs)(const LineRows& rows, double s, double t, const HingePair& of);
  double (*residual_squares)(const LineRows& rows, double s, double t);

  // out_i += c_i'b of c (p, r).
  void (*dots)(const double* c, const double* b, Index p, Index r, double* out);

  // X a and X b of X (n, k), columns `stride` apart.
  void (*combine)(const double* x, Index stride, const double* a, const double* b, Index n,
                  Index k, double* xa, double* xb);

  // Lower triangle of s (p, p) += sum_i x_i y_i', with x and y packed (p, r) and
  // the sum symmetric.
  void gram(const double* x, const double* y, Index p, Index r, double* s) const {
    PanelProduct of{x, p, r, y, p, r, s, p};
    of.lower = true;
    product(of);
  }
};

// For any processor, and for this one: with AVX2 and FMA where it has them. The
// two differ by rounding; one process always uses the same.
const Kernels& portable_kernels();
const Kernels& kernels();

}  // namespace bsvm
