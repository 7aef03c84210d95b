#pragma once
#include <cmath>

#include "likelihood.hpp"

namespace bsvm {

// Turns a row's terms under Use::expected into those under Use::matched (Minka 2001). At the
// expected bound's optimum q has a factor exp(-w f^2/2 + (w m + slope) f) for the row. Without that
// factor f is N(m - c slope, c), c = v / (1 - w v); p times this has the moments that the row's
// factor gives it from now on:
//   precision w' = k / (1 - c k),  gradient at m  w' (mean - m) + dlog E p,  k = -d2log E p.
// The value is the row's share of log p(y) with the factors before, less what the bound's entropy
// and prior have of it: at the optimum p - tr(D S) = sum_i w_i v_i.
//
// Rows that are known almost exactly stay as they are: nothing is left to match.
constexpr double kLeastMatched = 1e-10;

inline void match_moments(const Likelihood& likelihood, const Eigen::Ref<const Arr>& y,
                          const Eigen::Ref<const Arr>& m, const Eigen::Ref<const Arr>& v,
                          RowTerms& out) {
  for (Index i = 0; i < y.size(); ++i) {
    const double w = out.weight[i], slope = out.slope[i];
    const double left = 1 - w * v[i];
    if (!(v[i] > kLeastMatched && left > 1e-8)) continue;
    const double c = v[i] / left, shift = -c * slope;
    const Tilted of = likelihood.averaged(y[i], m[i] + shift, c, 1);
    const double weight = of.curvature / (1 - c * of.curvature);
    out.value[i] = of.value - 0.5 * std::log(left) + 0.5 * c * slope * slope - 0.5 * w * v[i];
    out.slope[i] = weight * (shift + c * of.slope) + of.slope;
    out.weight[i] = weight;
  }
  out.curvature = out.weight;
}

}  // namespace bsvm
