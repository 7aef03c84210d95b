#include "moving_chain.hpp"

namespace bsvm {

MovingChain::MovingChain(const Problem& problem, Index extra, const GibbsOptions& options)
    : GibbsChain(problem, extra, options), rows_(problem), mixing_(problem, side_, true),
      parameters_(side_), design_(problem, side_), inclusion_moves_(problem, side_),
      mix_(options.mixing) {}

void MovingChain::visit_moves(Archive& archive) {
  archive.part(mixing_.widths(), [&](ConstVecRef saved) { mixing_.restore(saved); });
  archive.part(inclusion_moves_.learnt(),
               [&](ConstVecRef saved) { inclusion_moves_.restore(saved); });
  archive.part(parameters_.learnt(), [&](ConstVecRef saved) { parameters_.restore(saved); });
  archive.part(design_.learnt(), [&](ConstVecRef saved) { design_.restore(saved); });
}

void MovingChain::move_effects(Mat& group_moments) {
  if (mix_ && state_.layout.q > 0) group_moments = slide();
}

void MovingChain::move_all(Mat& group_moments, bool tune, Host& host) {
  parameters_.run(state_, [&] { return rows_.log_likelihood(state_); }, tune);
  design_.run(state_, rows_, tune, host);
  if (mix_) {
    inclusion_moves_.run(state_, rows_, tune, host);
    mixing_.run(state_, rows_, group_moments, tune, true, host);
  }
  if (tune && design_.any()) design_.learn(rows_, sweeps());
}

}  // namespace bsvm
