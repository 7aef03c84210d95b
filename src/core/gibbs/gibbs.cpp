// Gibbs sampling of the exact posterior (000, Appendix A; 002, section 4.1): the rows'
// latent scales given the coefficients; all coefficients, fixed and random, at once given
// those; the hyper-parameters given the coefficients. With `mixing` the moves of mixing.hpp follow.
// Where priors select, which coefficients are in is drawn with all of them integrated out (002,
// section 4.2; active_set.hpp).
#include <algorithm>

#include "active_set.hpp"
#include "base/error.hpp"
#include "gibbs_chain.hpp"

namespace bsvm {
namespace {

// All sums over the rows are formed in a pass, the groups eliminated.
class SummedChain : public GibbsChain {
 public:
  SummedChain(const Problem& problem, std::unique_ptr<DrawSource> source,
              const GibbsOptions& options)
      : GibbsChain(problem, source->extra(), options), source_(std::move(source)),
        sums_(state_.layout), selects_(problem.selects()) {
    disperse();
  }

 private:
  Mat draw_coefficients(Host& host) override {
    source_->restore(rows_.effects(), state_);
    source_->sums(state_, sums_, host);
    expected_ = selects_ ? draw_selected(side_, SummedEquations(side_, state_, sums_), state_, host)
                         : side_.draw(state_, sums_, host);
    side_.latent().draw(sums_, state_);
    const Mat group_moments = source_->settle(state_, Settle::draw, 1);
    expected_effects_ = source_->expected_effects(expected_);
    rows_.effects() = source_->effects();
    source_->fill_unknown(rows_.design());
    rows_.find(state_);
    return group_moments;
  }
  Vec unknowns() const override { return source_->unknowns(); }
  void set_unknowns(ConstVecRef drawn) override { source_->restore_unknowns(drawn); }

  std::unique_ptr<DrawSource> source_;
  RowSums sums_;
  bool selects_;
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
