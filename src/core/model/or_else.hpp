#pragma once
#include "base/types.hpp"

namespace bsvm {

// (n) what is known of rows, or where that is null the same number for each.
inline Arr or_else(const double* x, Index n, double otherwise) {
  return x ? Arr(Eigen::Map<const Arr>(x, n)) : Arr(Arr::Constant(n, otherwise));
}

}  // namespace bsvm
