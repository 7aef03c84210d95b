#pragma once
#include <algorithm>

#include "integral_oracle.hpp"
#include "pair_law.hpp"

namespace bsvm_test {

// The rows of a density of two hinges, for integrals by brute force.
inline RowLaw row_law(const PairLaw& law) {
  return {[law](Real y, Real f) { return law.log_p(y - f); },
          [law](Real y, Real f) {
            return y - f > law.e1 ? law.a : y - f < -law.e2 ? -law.b : 0;
          },
          {-law.e1, law.e2}, true, std::max(law.a, law.b)};
}

}  // namespace bsvm_test
