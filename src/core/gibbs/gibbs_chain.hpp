#pragma once
#include "chain/sampler.hpp"
#include "coefficients/coefficients.hpp"

namespace bsvm {

struct GibbsOptions {
  std::uint64_t seed;
  int chain;
  Index burnin;
  bool mixing;
};

// A chain of Gibbs sampling: the State, the priors, and what is saved. What is left to others draws
// the latent scales, the coefficients and the groups' effects. Rows may be anywhere.
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
  Vec expected_, expected_effects_;  // what the last draw was drawn around

 private:
  // Draws latent scales, coefficients and effects and sets what was drawn around. Returns the sum over
  // levels of u u' (q, q).
  virtual Mat draw_coefficients(Host& host) = 0;
  // Moves before the priors are drawn, and after; `tune`: may they learn? They keep the sum true.
  virtual void move_effects(Mat& /*group_moments*/) {}
  virtual void move_all(Mat& /*group_moments*/, bool /*tune*/, Host& /*host*/) {}
  virtual void visit_moves(Archive&) {}

  virtual Vec effects() const = 0;  // by term, level, effect
  virtual void set_effects(ConstVecRef effects) = 0;
  virtual Vec unknowns() const { return Vec(); }
  virtual void set_unknowns(ConstVecRef) {}

  void visit(Archive& archive) override;
  void make_sweep(Host& host) override;

  Index burnin_, sweeps_ = 0;
};

}  // namespace bsvm
