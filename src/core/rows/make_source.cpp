#include "make_source.hpp"

#include "block/elsewhere.hpp"
#include "large_levels.hpp"
#include "rows/memory/memory_source.hpp"
#include "rows/sparse/sparse_source.hpp"

namespace bsvm {

std::unique_ptr<DrawSource> make_source(const Problem& problem, Use use, int threads) {
  if (!problem.here()) refuse_elsewhere();
  std::unique_ptr<DrawSource> out;
  if (problem.sparse.columns > 0) out.reset(new SparseSource(problem, use, threads));
  else out.reset(new MemorySource(problem, use, threads));
  return with_large_levels(problem, std::move(out), use);
}

}  // namespace bsvm
