// Gibbs sampling of the exact posterior (000, Appendix A; 002, section 4.1): the rows'
// latent scales given the coefficients; all coefficients, fixed and random, at once given
// those; the hyper-parameters given the coefficients. With `mixing` the moves of mixing.hpp follow.
// Where priors select, which coefficients are in is drawn with all of them integrated out (002,
// section 4.2; active_set.hpp).
#include <algorithm>

#include "active_set.hpp"
#include "base/error.hpp"
#include "block/elsewhere.hpp"
#include "moving_chain.hpp"

namespace bsvm {
namespace {

// Sums over all rows, formed in a pass with the groups eliminated, and what is drawn given these.
class SummedRows {
 public:
  SummedRows(std::unique_ptr<DrawSource> source, const Problem& problem, const Layout& layout)
      : source_(std::move(source)), sums_(layout), selects_(problem.selects()) {}

  DrawSource& source() const { return *source_; }

  // Latent scales, coefficients (around `expected`) and effects, whose sum over levels of u u' it
  // returns.
  Mat draw(Coefficients& side, State& state, Vec& expected, Host& host) {
    source_->sums(state, sums_, host);
    expected = selects_ ? draw_selected(side, SummedEquations(side, state, sums_), state, host)
                        : side.draw(state, sums_, host);
    side.latent().draw(sums_, state);
    return source_->settle(state, Settle::draw, 1);
  }

 private:
  std::unique_ptr<DrawSource> source_;
  RowSums sums_;
  bool selects_;
};

class SummedChain : public MovingChain {
 public:
  SummedChain(const Problem& problem, std::unique_ptr<DrawSource> source,
              const GibbsOptions& options)
      : MovingChain(problem, source->extra(), options),
        sums_(std::move(source), problem, state_.layout) {
    disperse();
  }

 private:
  Mat draw_coefficients(Host& host) override {
    sums_.source().restore(rows_.effects(), state_);
    const Mat group_moments = sums_.draw(side_, state_, expected_, host);
    expected_effects_ = sums_.source().expected_effects(expected_);
    rows_.effects() = sums_.source().effects();
    sums_.source().fill_unknown(rows_.design());
    rows_.find(state_);
    return group_moments;
  }
  Vec unknowns() const override { return sums_.source().unknowns(); }
  void set_unknowns(ConstVecRef drawn) override { sums_.source().restore_unknowns(drawn); }

  SummedRows sums_;
};

// Of rows that are elsewhere nothing but sums is known: there are no moves.
class ElsewhereChain : public GibbsChain {
 public:
  ElsewhereChain(const Problem& problem, std::unique_ptr<DrawSource> source,
                 const GibbsOptions& options)
      : GibbsChain(problem, source->extra(), options),
        sums_(std::move(source), problem, state_.layout),
        effects_(Vec::Zero(problem.group_coefficients())) {
    disperse();
  }

 private:
  Mat draw_coefficients(Host& host) override {
    if (restored_) sums_.source().restore(effects_, state_);
    restored_ = false;
    const Mat group_moments = sums_.draw(side_, state_, expected_, host);
    if (state_.layout.q == 0) return group_moments;
    expected_effects_ = sums_.source().expected_effects(expected_);
    effects_ = sums_.source().effects();
    return group_moments;
  }
  Vec effects() const override { return effects_; }
  void set_effects(ConstVecRef effects) override {
    effects_ = effects;
    restored_ = state_.layout.q > 0;
  }

  SummedRows sums_;
  Vec effects_;
  bool restored_ = false;  // and the source does not know it yet
};

class Gibbs : public Sampler {
 public:
  explicit Gibbs(const Params& params) : mixing_(params.flag("mixing")) {}

  Use use() const override { return Use::drawn; }

  std::unique_ptr<Chain> start(const Problem& problem, const MakeDraws& make_source, int threads,
                               std::uint64_t seed, int chain, Index burnin) const override {
    if (!problem.likelihood->supports(use()))
      throw InvalidInput("likelihood",
                         "Gibbs sampling needs a likelihood with latent scales, such as the "
                         "hinge.");
    const GibbsOptions options{seed, chain, burnin, mixing_};
    if (!problem.here()) {
      if (mixing_ || problem.parameters() > 0 || is_wide(problem)) refuse_elsewhere();
      return std::unique_ptr<Chain>(
          new ElsewhereChain(problem, make_source(Use::drawn, threads), options));
    }
    if (is_wide(problem)) return make_wide_chain(problem, options);
    return std::unique_ptr<Chain>(
        new SummedChain(problem, make_source(Use::drawn, threads), options));
  }

 private:
  // A thousand columns are where a Gram matrix costs about what a hundred of its columns do, one by
  // one.
  static bool is_wide(const Problem& problem) {
    return problem.selects() && problem.columns() > std::min<Index>(problem.n, 1000);
  }

  bool mixing_;
};

const Register<Sampler, Gibbs> gibbs_entry("gibbs");

}  // namespace
}  // namespace bsvm
