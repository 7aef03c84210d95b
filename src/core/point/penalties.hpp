#pragma once
#include <vector>

#include "design.hpp"

namespace bsvm {

// h(b) = sum_j |b_j / scale_j|^power_j, both (P), powers in (0, 2].
struct Penalties {
  Vec power, scale;

  Index size() const { return power.size(); }
  double value(ConstVecRef b) const;
  // Its slope alpha |b|^(alpha - 1) / scale^alpha in |b_j|, and that over |b_j|: EM's precisions.
  double slope(Index j, double size) const;
  double precision(Index j, double size) const { return slope(j, size) / size; }
  Penalties select(const std::vector<Index>& chosen) const;
  // Penalties of powers below one replaced by their tangents at b, of power one: from above, where
  // b is not zero.
  Penalties tangents(ConstVecRef b) const;
};

// P(b) = sum_i cost_i (kink_i - (A b)_i)_+ + h(b)
double primal_objective(const Design& design, const Penalties& penalties, ConstVecRef b);

// For powers of at least one, and 0 <= a_i <= cost_i (the rows' multipliers), P(b) is at least
//
//   D(a) = sum_i a_i kink_i - sum_j h_j*(z_j),  z = A'a,
//   h*(z) = (alpha - 1) (|z| scale / alpha)^(alpha / (alpha - 1)),  for alpha = 1 zero where
//   |z| scale <= 1 and infinite elsewhere.
//
// The best of these along the ray through a, that ray's place in `stretch`; -inf where none is.
double dual_objective(const Design& design, const Penalties& penalties, ConstVecRef a,
                      ConstVecRef z, double& stretch);

// What gaps are relative to: P, or 1e-8 of the loss at zero, where rounding hides what is less.
double gap_scale(const Design& design, double primal);
// (P - D) over that.
double relative_gap(const Design& design, double primal, double dual);

}  // namespace bsvm
