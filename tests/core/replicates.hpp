#pragma once
#include <algorithm>
#include <cstdlib>

namespace bsvm_test {

// How often a statistical test repeats, of `n` times: under sanitizers, which look at what code does
// and take forty times as long, a fifth of them. For criteria that allow for the number.
inline int replicates(int n) {
  return std::getenv("BSVM_SANITIZED") ? std::max(n / 5, 20) : n;
}

}  // namespace bsvm_test
