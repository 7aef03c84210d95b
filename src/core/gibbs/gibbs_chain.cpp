#include "gibbs_chain.hpp"

#include <cmath>

namespace bsvm {

GibbsChain::GibbsChain(const Problem& problem, Index extra, const GibbsOptions& options)
    : problem_(problem), side_(problem, extra, false), state_(side_.start(Vec())),
      burnin_(options.burnin) {
  state_.seed() = static_cast<double>(options.seed);
  state_.chain() = options.chain;
  expected_ = state_.mean();
  expected_effects_ = Vec::Zero(problem.group_coefficients());
}

void GibbsChain::read(Draw& draw) const {
  draw.coefficients = side_.outside_mean(state_.mean());
  draw.expected = side_.outside_mean(expected_);
  draw.effects = effects();
  draw.expected_effects = expected_effects_;
  side_.to_outside(draw.effects);
  side_.to_outside(draw.expected_effects);
  draw.hyper = side_.drawn(state_);
  draw.unknowns = unknowns();
  draw.law = side_.latent().drawn(state_);
}

// The mean, the hyper-parameters, the effects, unknown entries of the design with what is unknown of
// all rows together and what the moves have learnt are all a sweep starts from.
void GibbsChain::visit(Archive& archive) {
  archive.count(sweeps_, kMostSweeps);
  archive.part(state_.mean());
  archive.part(state_.hyper());
  if (archive.reads()) side_.refresh(state_);
  archive.part(effects(), [&](ConstVecRef saved) { set_effects(saved); });
  visit_moves(archive);
  archive.part(state_.latent());
  archive.part(unknowns(), [&](ConstVecRef saved) { set_unknowns(saved); });
}

void GibbsChain::make_sweep(Host& host) {
  state_.sweep() = static_cast<double>(sweeps_ + 1);
  Mat group_moments = draw_coefficients(host);
  move_effects(group_moments);
  side_.draw_priors(state_, group_moments);
  const bool tune = sweeps_ < burnin_;
  ++sweeps_;
  move_all(group_moments, tune, host);
}

void GibbsChain::disperse() {
  Draws random(state_.key(), Purpose::hyper, 0);
  for (const PriorPart& part : side_.parts()) {
    part.slot.prior->scale(side_.hyper(state_, part), std::exp(random.normal()));
    if (part.selects()) side_.inclusion(state_, part).setZero();
  }
  side_.refresh(state_);
}

}  // namespace bsvm
