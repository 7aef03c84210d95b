#pragma once
#include <memory>
#include <vector>

#include "base/types.hpp"
#include "hinge_kernels.hpp"
#include "random/draws.hpp"

namespace bsvm {

// An integral without a value: a linear predictor or a scale is so large that rounding leaves
// nothing of the log integrand's shape. Integrals throw this before such numbers choose a place in
// an array or how often to go round.
[[noreturn]] void beyond_numbers();

// The rows of one group as a function of its effect u ~ N(0, s^2): f_i = o_i + z_i u, and
// o_i moves with coefficients b by c_i. Rows with z_i = 0 do not see u.
struct EffectRows {
  const double *y, *weight, *o, *z;  // (r); weight null: all one
  const double* c;                   // (d, r), a row of the data contiguous
  Index d, r;
};

// `smooth`: the curvature without what the kinks of log p add to the coefficients' share, for who
// knows better where they count.
enum class Depth { value, gradient, curvature, smooth };

// Where the slope of log p in f jumps, and by how much.
struct RowKink {
  double place, jump;
};

// log G, G = integral of prod_i p(y_i | o_i + z_i u)^weight_i N(u; 0, s^2) du, and its
// derivatives in (b, log s).
struct EffectSums {
  double value = 0;
  Vec gradient;  // (d + 1)
  Mat hessian;   // (d + 1, d + 1), lower triangle
};

// What the rows say of u at b and s.
struct EffectLaw {
  double mean = 0, variance = 0;
  Vec slope;  // (d) dE u/db
};

// log p of rows as sums over many points need it (pair_grid.hpp).
class LineTerms {
 public:
  virtual ~LineTerms() = default;

  virtual int row_kinks() const = 0;  // how many a row has
  virtual RowKink row_kink(int k, double y) const = 0;

  // r rows along a line, at points x (a multiple of four): adds their sum to log_p; unless null,
  // writes slopes in f, and second derivatives without what kinks add: (points, r).
  virtual void terms(const LineRow* rows, Index r, const double* x, Index points, double* log_p,
                     double* slope, double* bend) const = 0;
};

// An effect integrated out of a likelihood (models.md, row 26). An object holds scratch, so each
// thread has its own.
class EffectIntegral {
 public:
  virtual ~EffectIntegral() = default;

  virtual int row_kinks() const = 0;  // how many a row has
  virtual RowKink row_kink(int k, double y) const = 0;

  // A bound of the rows' log p, whatever u.
  virtual double most(const EffectRows&) const { return 0; }

  // Null where there is a closed form, which is quicker than what needs it.
  virtual const LineTerms* line() const { return nullptr; }

  // From now on integrals are to about 1e-7, for who would rather have them sooner.
  virtual void hurry() {}

  // Fills what `depth` asks for. s > 0.
  virtual void integrate(const EffectRows& rows, double s, Depth depth, EffectSums& out) = 0;

  virtual void law(const EffectRows& rows, double s, EffectLaw& out) = 0;

  // log G and a draw of u given the rows, where there is a closed form.
  virtual double draw(const EffectRows& rows, double s, Draws& random, double& u);

  // P(u <= at_k).
  virtual void distribution(const EffectRows& rows, double s, ConstVecRef at, VecRef out) = 0;
};

}  // namespace bsvm
