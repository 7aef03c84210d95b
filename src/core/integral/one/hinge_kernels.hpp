#pragma once
#include "base/types.hpp"

namespace bsvm {

// A row of the normalised hinge likelihood whose f is o + z x at x:
// log p = -log(1 + exp(-y h(f))), h = 2 f + 2 max(-1, min(f, 1)).
struct HingeRow {
  double y, o, z, w;
};

constexpr Index kMostProduct = 512;

// Sums over rows at many points; their number is a multiple of four.
struct HingeKernels {
  // Adds sum_i w_i log p_i to log_p (points); of fewer than kMostProduct unweighted rows, if
  // `product` (points) is not null, without log prod_i (1 + exp(-|h_i|)), by which that is then
  // multiplied: a division costs less than a logarithm. Unless null: writes w_i dlog p_i/df
  // to slope (points, r), and adds dlog p/dx and -d2log p/dx2 to first and second (points).
  void (*terms)(const HingeRow* rows, Index r, bool weighted, const double* x, Index points,
                double* log_p, double* product, double* slope, double* first, double* second);

  // x <- exp(x), x at most about zero.
  void (*exponentials)(double* x, Index points);

  // sum_i weight_i log p_i at margins y f = margin + s a + t b, all (r); weight null: all one; a
  // null: zero.
  double (*log_p)(const double* margin, const double* a, const double* b, const double* weight,
                  double s, double t, Index r);

  // Adds for each row the sums over the points of mass * slope, moment * slope, and
  // mass * d(slope)/df.
  void (*moments)(const HingeRow* rows, Index r, const double* x, Index points,
                  const double* slope, const double* mass, const double* moment,
                  double* first, double* mixed, double* second);
};

// For any processor, and for this one.
const HingeKernels& portable_hinge_kernels();
const HingeKernels& hinge_kernels();

}  // namespace bsvm
