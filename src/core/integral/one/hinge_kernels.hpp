#pragma once
#include "base/types.hpp"
#include "linalg/line_rows.hpp"

namespace bsvm {

// A row whose f is o + z x at x.
struct LineRow {
  double y, o, z, w;
};

constexpr Index kMostProduct = 512;

// Sums over rows of the normalised hinge likelihood, log p = -log(1 + exp(-y h(f))), h = 2 f +
// 2 max(-1, min(f, 1)), at many points, whose number is a multiple of four.
struct HingeKernels {
  // Adds sum_i w_i log p_i to log_p (points); of fewer than kMostProduct unweighted rows, if
  // `product` (points) is not null, without log prod_i (1 + exp(-|h_i|)), by which that is then
  // multiplied: a division costs less than a logarithm. Unless null: writes w_i dlog p_i/df
  // to slope (points, r), and adds dlog p/dx and -d2log p/dx2 to first and second (points).
  void (*terms)(const LineRow* rows, Index r, bool weighted, const double* x, Index points,
                double* log_p, double* product, double* slope, double* first, double* second);

  // x <- exp(x), x at most about zero.
  void (*exponentials)(double* x, Index points);

  // sum_i weight_i log p_i at (s, t).
  double (*log_p)(const LineRows& rows, double s, double t);

  // Adds for each row the sums over the points of mass * slope, moment * slope, and
  // mass * d(slope)/df.
  void (*moments)(const LineRow* rows, Index r, const double* x, Index points,
                  const double* slope, const double* mass, const double* moment,
                  double* first, double* mixed, double* second);
};

// For any processor, and for this one.
const HingeKernels& portable_hinge_kernels();
const HingeKernels& hinge_kernels();

}  // namespace bsvm
