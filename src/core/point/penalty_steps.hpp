#pragma once
#include "penalties.hpp"

namespace bsvm {

// The penalties' side of the interior point method (interior_point.cpp), for powers in [1, 2]. It
// keeps b's subgradient z, which the rows' multipliers must balance, and linearises what ties the
// two together as
//
//   dz_j = d_j (db_j - shift_j)
//
// Power two: z = 2 b / scale^2 is linear by itself. Powers below: b = p - m with p, m >= 0, each of
// which pays h(p) + h(m), and slacks h'(p) - z, h'(m) + z >= 0; the products p (h'(p) - z) and
// m (h'(m) + z) are driven to zero together with the rows'. With U = h'(p) - z + p h''(p) and V for
// m the same, d = 1 / (p/U + m/V): at power one, where h' = 1/scale, a linear programme's; where
// b is not zero and the products vanish, Newton's own h''(b).
class PenaltySteps {
 public:
  PenaltySteps(const Penalties& penalties, ConstVecRef b, double product);

  const Vec& z() const { return z_; }
  const Vec& d() const { return d_; }
  const Vec& shift() const { return shift_; }

  double products() const { return sum(p_, m_, z_); }  // of primal variables and slacks, summed
  Index pairs() const { return pairs_; }               // how many they are

  // d and shift for products of size `target`; `correct`: with the last direction's curvature.
  void linearise(ConstVecRef b, double target, bool correct);
  void direct(ConstVecRef db);  // the direction of z, p and m that goes with db
  double longest() const;       // step that keeps all of them and the slacks positive, or infinity
  double products_after(double step) const;
  void take(double step);

 private:
  // p or m with its direction, and the sign of z in its slack.
  struct Side {
    const Vec &x, &dx;
    double sign;
  };
  Side plus() const { return {p_, dp_, -1}; }
  Side minus() const { return {m_, dm_, 1}; }

  bool is_square(Index j) const { return penalties_.power[j] == 2; }
  // d(x slack) by its second derivative, and the first: U or V.
  double curvature(const Side& side, Index j) const;
  double slope(const Side& side, Index j) const;
  double longest(const Side& side, Index j, double most) const;
  double sum(const Vec& p, const Vec& m, const Vec& z) const;

  const Penalties& penalties_;
  Index pairs_ = 0;
  Vec z_, p_, m_, d_, shift_;
  Vec dz_, dp_, dm_;  // the last direction
  Vec cp_, cm_;       // what it makes the products change by
};

}  // namespace bsvm
