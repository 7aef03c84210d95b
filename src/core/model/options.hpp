#pragma once
#include <cstdint>

#include "base/types.hpp"
#include "state.hpp"

namespace bsvm {

struct Options {
  double tolerance = 1e-10;  // on the bound's gain in a pass, absolute
  int max_passes = 2000;     // two at least: the first one only finds a start
  Vec start;                 // (p) mean to start from, outside scale; empty: none
  int starts = 1;            // of objectives with several optima: the best is kept
  std::uint64_t seed = 0;    // of the starts after the first
  const State* from = nullptr;  // a State to go on from, where the source still is; or none
};

}  // namespace bsvm
