#pragma once
#include "base/types.hpp"

namespace bsvm {

// The standard normal law beyond t >= 0 for several t at a time. All of it comes from one
// function, by how much the hazard exceeds t,
//   c(t) = density(t) / P(X > t) - t,    P(X > t) = density(t) / (t + c(t)),
//   E(X - t)_+ = density(t) c(t) / (t + c(t)),
// so nothing is a small difference of large numbers. c(t) (t + 1.5) is a polynomial in
// (t - 3.5)/(t + 3.5), fitted at Chebyshev nodes in quadruple precision: relative error 3e-16.
template <class Lanes>
Lanes hazard_excess(const Lanes& t) {
  constexpr double coefficient[] = {
      1.2569563242884987,      -0.23291631929149026,    -0.14378222078509434,
      0.1699944156992387,      -0.028074364893588898,   -0.044639951766921544,
      0.019082483405936778,    0.011617777298210823,    -0.0078933511634773704,
      -0.0031949208378222217,  0.0028404818729893095,   0.00095910181278479722,
      -0.00093813474513453456, -0.00031221621173625405, 0.00028464087358688644,
      0.00010439378742523339,  -7.7847687639800219e-05, -3.3180004535473123e-05,
      1.862180697190013e-05,   9.243905805971182e-06,   -3.7534889072197562e-06,
      -2.0588984092532708e-06, 6.1017639135414046e-07,  3.1931258243911381e-07,
      -7.4406348427608053e-08,    -2.5407282000384021e-08, 5.3479647137248575e-09};
  const Lanes z = (t - 3.5) / (t + 3.5);
  Lanes p = Lanes::Constant(t.size(), coefficient[26]);
  for (int k = 25; k >= 0; --k) p = p * z + coefficient[k];
  return p / (t + 1.5);
}

// density(t), zero where it is not a normal number; t is at most 1e150.
template <class Lanes>
Lanes normal_densities(const Lanes& t) {
  return (t < 37).select(0.39894228040143267794 * (-0.5 * t.square()).exp(), 0.0);
}

}  // namespace bsvm
