#pragma once

namespace bsvm {

// Moments of a normal tail about its end: integral over t > 0 of t^k exp(-x t - t^2 / 2), x >= 0,
// for k = 0 .. K <= 4 into out[0 .. K]. The zeroth is the Mills ratio. To a few units of the
// last place: J_(k-1) = (J_(k+1) + x J_k) / k adds positive terms, so only the two highest
// are found directly, by Taylor's series below 40 and a continued fraction beyond.
template <int K>
void tail_moments(double x, double* out);

extern template void tail_moments<0>(double, double*);
extern template void tail_moments<1>(double, double*);
extern template void tail_moments<2>(double, double*);
extern template void tail_moments<4>(double, double*);

}  // namespace bsvm
