#pragma once
#include "penalties.hpp"

namespace bsvm {

// The penalties' side of the interior point method (interior_point.cpp), for powers in [1, 2]. It
// keeps b's subgradient z, which the rows' multipliers must balance, and linearises what ties the
// two together as
//
//   dz_j = d_j (db_j - shift_j)
//
// Power one: b = p - m with p, m >= 0 and slacks k - z, k + z >= 0, k = 1/scale; p (k - z) and
// m (k + z) are driven to zero together with the rows' products, d = 1 / (p/(k - z) + m/(k + z)).
// Other powers: h is smoothed, |b|^alpha -> (b^2 + e^2)^(alpha/2) with (e/scale)^alpha the size of
// a product, and z (b^2 + e^2)^(1 - alpha/2) = (alpha / scale^alpha) b is linearised in both, as
// Chan, Golub & Mulet (1999) do for total variation; for alpha = 2 it is linear by itself.
class PenaltySteps {
 public:
  PenaltySteps(const Penalties& penalties, ConstVecRef b, double product);

  const Vec& z() const { return z_; }
  const Vec& d() const { return d_; }
  const Vec& shift() const { return shift_; }

  double products() const { return sum(p_, m_, z_); }  // of primal variables and slacks, summed
  Index pairs() const { return pairs_; }               // how many they are

  // d and shift for products of size `target`; `correct`: with the last direction's curvature.
  void linearise(ConstVecRef b, double target, double smoothing, bool correct);
  void direct(ConstVecRef db);  // the direction of z, p and m that goes with db
  double longest() const;       // step that keeps all of them positive, or infinity
  double products_after(double step) const;
  void take(double step);

 private:
  bool is_linear(Index j) const { return penalties_.power[j] == 1; }
  void linearise_smooth(Index j, double b, double smoothing);
  double sum(const Vec& p, const Vec& m, const Vec& z) const;

  const Penalties& penalties_;
  Index pairs_ = 0;
  Vec z_, p_, m_, d_, shift_;
  Vec dz_, dp_, dm_;   // the last direction
  Vec cp_, cm_;        // what it makes p (k - z) and m (k + z) change by
};

}  // namespace bsvm
