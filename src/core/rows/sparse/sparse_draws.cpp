// What sampling asks of a SparseSource.
#include "sparse_source.hpp"

namespace bsvm {

// The leading effects given the root's draw: their conditional mean, one Newton step from
// where they were, and L^{-T} e.
void SparseSource::draw(const State& state) {
  const Index lead = pattern_.leading;
  Vec x = gradient_;
  x.tail(pattern_.root()) = state.step();
  backward(pattern_, next_, x);
  expected_ = mean_;  // the root's are what the State says
  expected_.head(lead) += x.head(lead);
  x.setZero();
  for (Index k = 0; k < lead; ++k) {
    const int own = pattern_.order[k], column = is_part() ? problem_.sparse.number[own] : own;
    x[k] = Draws(state.key(), Purpose::groups, static_cast<std::uint64_t>(column)).normal();
  }
  backward(pattern_, next_, x);
  mean_.head(lead) = expected_.head(lead) + x.head(lead);
}

Vec SparseSource::expected_effects(ConstVecRef expected) const {
  Vec out = expected_;
  out.tail(extra()) = expected.head(extra());
  return by_column(out);
}

void SparseSource::restore(ConstVecRef effects, State& state) {
  for (Index k = 0; k < pattern_.columns; ++k) mean_[k] = effects[pattern_.order[k]];
  state.mean().head(extra()) = mean_.tail(extra());
}

}  // namespace bsvm
