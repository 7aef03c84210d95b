#pragma once
#include "../types.hpp"

namespace bsvm {

// The effects of all groups given what a run has learned.
struct GroupPosterior {
  Mat mean;        // (q, m) E u_g
  Mat precision;   // (q q, m) A_gg: u_g's precision given the dense coefficients b
  Mat regression;  // (p q, m) B_g' = A_dg A_gg^{-1}: E[u_g | b] = mean - B_g (b - E b)
};

}  // namespace bsvm
