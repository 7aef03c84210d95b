// What sampling asks of a MemorySource.
#include "memory_source.hpp"

namespace bsvm {

void MemorySource::restore(ConstVecRef effects, State&) {
  Eigen::Map<Vec>(groups_.effect.data(), groups_.effect.size()) = effects;
}

void MemorySource::fill_unknown(Mat& design) {
  if (!problem_.latent->any()) return;
  RowBlock& block = workers_[0].block;
  for (const BlockRange& range : partition_.blocks) {
    load(range, State(Layout()), block);
    for (Index i = 0; i < range.rows; ++i)
      design.row(partition_.order[range.first_row + i]) = block.design().col(i).transpose();
  }
}

}  // namespace bsvm
