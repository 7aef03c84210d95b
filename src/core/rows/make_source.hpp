#pragma once
#include <memory>

#include "model/problem.hpp"
#include "row_source.hpp"

namespace bsvm {

// Of rows in memory: eliminating one grouping factor, or with sparse columns.
std::unique_ptr<DrawSource> make_source(const Problem& problem, Use use, int threads);

// Calls it for engines that make their sources themselves. The problem must outlive it.
inline MakeDraws source_maker(const Problem& problem) {
  return [&problem](Use use, int threads) { return make_source(problem, use, threads); };
}

}  // namespace bsvm
