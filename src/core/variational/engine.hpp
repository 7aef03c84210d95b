#pragma once
#include "model/options.hpp"
#include "model/problem.hpp"
#include "model/result.hpp"
#include "rows/row_source.hpp"

namespace bsvm {

// A loop over passes. It knows no likelihood, prior, block or source by name.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual Use use() const = 0;  // what it asks of the likelihood
  virtual Result run(const Problem& problem, RowSource& source, const Options& options,
                     Host& host) const = 0;
};

}  // namespace bsvm
