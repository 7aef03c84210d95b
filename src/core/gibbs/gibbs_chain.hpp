#pragma once
#include "chain/design_moves.hpp"
#include "chain/mixing.hpp"
#include "chain/parameter_moves.hpp"
#include "chain/sampler.hpp"
#include "inclusion_moves.hpp"
#include "rows/lines/predictors.hpp"

namespace bsvm {

struct GibbsOptions {
  std::uint64_t seed;
  int chain;
  Index burnin;
  bool mixing;
};

// A chain of Gibbs sampling: the State, the effects and the rows' linear predictors, the priors,
// the moves, and what is saved. What is left to others draws the latent scales, the coefficients
// and the groups' effects.
class GibbsChain : public Chain {
 public:
  Index sweeps() const override { return sweeps_; }
  void read(Draw& draw) const override;

 protected:
  // extra: as in Coefficients.
  GibbsChain(const Problem& problem, Index extra, const GibbsOptions& options);

  // Chains start apart where variances are drawn, so that their agreement says something; of what
  // may be selected nothing is in.
  void disperse();

  const Problem& problem_;
  Coefficients side_;
  State state_;
  Predictors rows_;
  Vec expected_, expected_effects_;  // what the last draw was drawn around

 private:
  // Draws latent scales, coefficients and effects, finds the rows' linear predictors and sets what
  // was drawn around. Returns the sum over levels of u u' (q, q).
  virtual Mat draw_coefficients(Host& host) = 0;
  // Each effect by a slice of its own; the same sum.
  virtual Mat slide() { return rows_.slide(state_, -1, Purpose::move); }
  virtual Vec unknowns() const { return Vec(); }
  virtual void set_unknowns(ConstVecRef) {}

  void visit(Archive& archive) override;
  void make_sweep(Host& host) override;

  Mixing mixing_;
  ParameterMoves parameters_;
  DesignMoves design_;
  InclusionMoves inclusion_moves_;
  Index burnin_, sweeps_ = 0;
  bool mix_;
};

// For many columns of which few are in: no sum over the rows is formed but those asked for.
std::unique_ptr<Chain> make_wide_chain(const Problem& problem, const GibbsOptions& options);

}  // namespace bsvm
