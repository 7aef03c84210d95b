#pragma once
#include <algorithm>
#include <cmath>

#include "base/types.hpp"

namespace bsvm {

// x without its fraction as a whole number from low to high. A number that is not one, infinite or
// beyond an Index has no Index of its own: to convert it is undefined, and the result is no place
// in any array.
inline Index whole_within(double x, Index low, Index high) {
  if (!(x > static_cast<double>(low))) return low;
  if (!(x < static_cast<double>(high))) return high;
  return std::clamp(static_cast<Index>(x), low, high);
}

}  // namespace bsvm
