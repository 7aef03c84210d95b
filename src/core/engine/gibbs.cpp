// Gibbs sampling of the exact posterior (000, Appendix A; 002, section 4.1): the rows'
// latent scales given the coefficients; all coefficients, fixed and random, at once given
// those; the hyper-parameters given the coefficients. With `mixing` the moves of mixing.hpp follow.
#include "../error.hpp"
#include "mixing.hpp"
#include "sampler.hpp"

namespace bsvm {
namespace {

class GibbsChain : public Chain {
 public:
  GibbsChain(const Problem& problem, std::unique_ptr<DrawSource> source, std::uint64_t seed,
             int chain, Index burnin, bool mixing)
      : problem_(problem), source_(std::move(source)), side_(problem, source_->extra()),
        state_(side_.start(Vec())), sums_(state_.layout.p), mixing_(problem, side_, true),
        burnin_(burnin), mix_(mixing) {
    state_.seed() = static_cast<double>(seed);
    state_.chain() = chain;
    expected_ = state_.mean();
    expected_effects_ = Vec::Zero(problem.group_coefficients());
    source_->restore(expected_effects_);
    disperse();
  }

  Index sweeps() const override { return sweeps_; }

  void read(Draw& draw) const override {
    draw.coefficients = side_.outside_mean(state_.mean());
    draw.expected = side_.outside_mean(expected_);
    draw.effects = source_->effects();
    draw.expected_effects = expected_effects_;
    side_.to_outside(draw.effects);
    side_.to_outside(draw.expected_effects);
    draw.hyper = side_.drawn(state_);
  }

  // The mean, the hyper-parameters, the effects and the moves' widths are all a sweep starts from.
  Vec save() const override {
    const Vec effects = source_->effects();
    Vec out(1 + state_.layout.p + state_.layout.hyper + effects.size() +
            mixing_.widths().size());
    out << static_cast<double>(sweeps_), state_.mean(), state_.hyper(), effects,
        mixing_.widths();
    return out;
  }

  void restore(ConstVecRef saved) override {
    const Index p = state_.layout.p, hyper = state_.layout.hyper,
                effects = problem_.group_coefficients(), widths = mixing_.widths().size();
    if (saved.size() != 1 + p + hyper + effects + widths || !saved.allFinite())
      throw InvalidInput("checkpoint", "The checkpoint is of another model.");
    sweeps_ = static_cast<Index>(saved[0]);
    state_.mean() = saved.segment(1, p);
    state_.hyper() = saved.segment(1 + p, hyper);
    side_.refresh_group_prior(state_);
    source_->restore(saved.segment(1 + p + hyper, effects));
    mixing_.restore(saved.tail(widths));
  }

 private:
  void make_sweep(Host& host) override {
    state_.sweep() = static_cast<double>(sweeps_ + 1);
    source_->sums(state_, sums_, host);
    expected_ = side_.draw(state_, sums_, host);
    Mat group_moments = source_->settle(state_, Settle::draw, 1);
    expected_effects_ = source_->expected_effects(expected_);
    if (mix_ && state_.layout.q > 0) group_moments = source_->slide(state_);
    side_.draw_priors(state_, group_moments);
    if (mix_) mixing_.run(state_, *source_, group_moments, sweeps_ < burnin_, true, host);
    ++sweeps_;
  }

  // Chains start apart where variances are drawn, so that their agreement says something.
  void disperse() {
    Draws random(state_.key(), Purpose::hyper, 0);
    for (const PriorPart& part : side_.parts())
      part.slot.prior->scale(side_.hyper(state_, part), std::exp(random.normal()));
    side_.refresh_group_prior(state_);
  }

  const Problem& problem_;
  std::unique_ptr<DrawSource> source_;
  Coefficients side_;
  State state_;
  RowSums sums_;
  Mixing mixing_;
  Index burnin_, sweeps_ = 0;
  bool mix_;
  Vec expected_, expected_effects_;
};

class Gibbs : public Sampler {
 public:
  explicit Gibbs(const Params& params) : mixing_(params.flag("mixing")) {}

  Use use() const override { return Use::drawn; }

  std::unique_ptr<Chain> start(const Problem& problem, const MakeSource& make_source, int threads,
                               std::uint64_t seed, int chain, Index burnin) const override {
    if (!problem.likelihood->supports(use()))
      throw InvalidInput("likelihood",
                         "Gibbs sampling needs a likelihood with latent scales, such as the "
                         "hinge.");
    return std::unique_ptr<Chain>(
        new GibbsChain(problem, make_source(threads), seed, chain, burnin, mixing_));
  }

 private:
  bool mixing_;
};

const Register<Sampler, Gibbs> entry("gibbs");

}  // namespace
}  // namespace bsvm
