// What sampling asks of a MemorySource.
#include "linalg/small.hpp"
#include "memory_source.hpp"

namespace bsvm {

// u_g given the new dense coefficients: its conditional mean, one Newton step from
// where it was, and L^{-T} e with L L' = A_gg.
void MemorySource::draw_block(const BlockRange& range, const State& state, Mat& out) {
  const Index p = groups_.p, q = groups_.q, first = range.first_group, m = range.groups;
  Eigen::Map<const Mat> coupling(groups_.next_regression.data() + first * p * q, p, q * m);
  auto expected = expected_.middleCols(first, m);
  expected = groups_.effect.middleCols(first, m) + groups_.next_step.middleCols(first, m);
  Eigen::Map<Vec>(expected.data(), q * m).noalias() -= coupling.transpose() * state.step();
  for (Index g = first; g < first + m; ++g) {
    const SmallFactor own(groups_.next_precision.data() + g * q * q, q);
    Draws random(state.key(), Purpose::groups,
                 static_cast<std::uint64_t>(problem_.first_level + g));
    double noise[kMostEffects];
    for (Index a = 0; a < q; ++a) noise[a] = random.normal();
    small_backward(own.l, q, noise);
    double* effect = groups_.effect.data() + g * q;
    for (Index a = 0; a < q; ++a) effect[a] = expected_(a, g) + noise[a];
    for (Index a = 0; a < q; ++a) add_multiple(out.data() + a * q, effect, effect[a], q);
  }
}

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
