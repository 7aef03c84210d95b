#include "gibbs_chain.hpp"

#include <cmath>

#include "base/error.hpp"
#include "special/whole.hpp"

namespace bsvm {

GibbsChain::GibbsChain(const Problem& problem, Index extra, const GibbsOptions& options)
    : problem_(problem), side_(problem, extra, false), state_(side_.start(Vec())),
      mixing_(problem, side_, true), inclusion_moves_(problem, side_), burnin_(options.burnin),
      mix_(options.mixing) {
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
  draw.law = side_.law().drawn(state_);
}

// The mean, the hyper-parameters, the effects, missing entries with their model and what the moves
// have learnt are all a sweep starts from.
Vec GibbsChain::save() const {
  const Vec own = effects(), drawn = unknowns();
  Vec out(1 + state_.layout.p + state_.layout.hyper + own.size() + mixing_.widths().size() +
          inclusion_moves_.learnt().size() + state_.layout.law() + drawn.size());
  out << static_cast<double>(sweeps_), state_.mean(), state_.hyper(), own, mixing_.widths(),
      inclusion_moves_.learnt(), state_.law(), drawn;
  return out;
}

void GibbsChain::restore(ConstVecRef saved) {
  const Index p = state_.layout.p, hyper = state_.layout.hyper,
              effects = problem_.group_coefficients(), widths = mixing_.widths().size(),
              learnt = inclusion_moves_.learnt().size(), law = state_.layout.law(),
              entries = unknowns().size();
  if (saved.size() != 1 + p + hyper + effects + widths + learnt + law + entries ||
      !saved.allFinite())
    throw InvalidInput("checkpoint", "The checkpoint is of another model.");
  sweeps_ = whole_within(saved[0], 0, kMostSweeps);
  state_.mean() = saved.segment(1, p);
  state_.hyper() = saved.segment(1 + p, hyper);
  side_.refresh_group_prior(state_);
  set_effects(saved.segment(1 + p + hyper, effects));
  mixing_.restore(saved.segment(1 + p + hyper + effects, widths));
  inclusion_moves_.restore(saved.segment(1 + p + hyper + effects + widths, learnt));
  state_.law() = saved.tail(law + entries).head(law);
  set_unknowns(saved.tail(entries));
}

void GibbsChain::make_sweep(Host& host) {
  state_.sweep() = static_cast<double>(sweeps_ + 1);
  Mat group_moments = draw_coefficients(host);
  if (mix_ && state_.layout.q > 0) group_moments = slide();
  side_.draw_priors(state_, group_moments);
  const bool tune = sweeps_ < burnin_;
  if (mix_) {
    inclusion_moves_.run(state_, lines(), tune, host);
    mixing_.run(state_, lines(), group_moments, tune, true, host);
  }
  ++sweeps_;
}

void GibbsChain::disperse() {
  Draws random(state_.key(), Purpose::hyper, 0);
  for (const PriorPart& part : side_.parts()) {
    part.slot.prior->scale(side_.hyper(state_, part), std::exp(random.normal()));
    if (part.selects()) side_.inclusion(state_, part).setZero();
  }
  side_.refresh_group_prior(state_);
}

}  // namespace bsvm
