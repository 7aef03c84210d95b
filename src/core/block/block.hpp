#pragma once
#include "base/error.hpp"
#include "base/params.hpp"
#include "base/registry.hpp"
#include "base/types.hpp"

namespace bsvm {

struct State;

// A map from rows to columns of the design (no algebra, no prior). A block may
// depend on the State: unknown predictors and learned features enter here. The blocks of terms are
// registered by name, made from their numbers and then given the rows' variables.
class Block {
 public:
  virtual ~Block() = default;

  // x (n, variables), column-major, of the caller, who keeps it.
  virtual void take(const double* /*x*/, Index /*n*/, Index /*variables*/) {
    throw InvalidInput("formula", "This block of the design has variables of its own already.");
  }

  virtual Index columns() const = 0;

  // Does what it fills depend on the State?
  virtual bool varies() const { return false; }

  // Parameters that are inferred, free numbers: State::parameters() has them from `first` on. A
  // block with some varies, and depends on nothing else of the State. Its unit() must not depend on
  // them.
  virtual Index free_size() const { return 0; }
  virtual void find_parameters(Index /*first*/) {}

  // Column i of `out` (columns, r) becomes row rows[i] of the block. `out` may
  // be strided; entries are finite.
  virtual void fill(const int* rows, Index r, const State& state,
                    Eigen::Ref<Mat, 0, Eigen::OuterStride<>> out) const = 0;

  // (columns) powers of two: a coefficient on the outside is the inside one
  // times its unit. They keep columns of any magnitude near one inside, and all
  // sources of a run must agree on them.
  virtual const Vec& unit() const = 0;
};

}  // namespace bsvm
