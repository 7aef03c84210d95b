#pragma once
#include "../model/problem.hpp"
#include "../model/result.hpp"
#include "../rows/row_source.hpp"

namespace bsvm {

struct Options {
  double tolerance = 1e-10;  // on the bound's gain in a pass, absolute
  int max_passes = 2000;     // two at least: the first one only finds a start
  Vec start;                 // (p) mean to start from, outside scale; empty: none
  int starts = 1;            // of objectives with several optima: the best is kept
  std::uint64_t seed = 0;    // of the starts after the first
  const State* from = nullptr;  // a State to go on from, where the source still is; or none
};

// A loop over passes. It knows no likelihood, prior, block or source by name.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual Use use() const = 0;  // what it asks of the likelihood
  virtual Result run(const Problem& problem, RowSource& source, const Options& options,
                     Host& host) const = 0;
};

}  // namespace bsvm
