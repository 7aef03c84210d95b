#pragma once
#include "chain/design_moves.hpp"
#include "chain/mixing.hpp"
#include "chain/parameter_moves.hpp"
#include "gibbs_chain.hpp"
#include "inclusion_moves.hpp"
#include "rows/lines/predictors.hpp"

namespace bsvm {

// With the rows in memory, their linear predictors, and moves by these.
class MovingChain : public GibbsChain {
 protected:
  // extra: as in Coefficients.
  MovingChain(const Problem& problem, Index extra, const GibbsOptions& options);

  Predictors rows_;

 private:
  void move_effects(Mat& group_moments) override;
  void move_all(Mat& group_moments, bool tune, Host& host) override;
  void visit_moves(Archive& archive) override;
  Vec effects() const override { return rows_.effects(); }
  void set_effects(ConstVecRef effects) override { rows_.effects() = effects; }

  // Each effect by a slice of its own; the sum over levels of u u' (q, q).
  virtual Mat slide() { return rows_.slide(state_, -1, Purpose::move); }

  Mixing mixing_;
  ParameterMoves parameters_;
  DesignMoves design_;
  InclusionMoves inclusion_moves_;
  bool mix_;
};

// For many columns of which few are in: no sum over the rows is formed but those asked for.
std::unique_ptr<Chain> make_wide_chain(const Problem& problem, const GibbsOptions& options);

}  // namespace bsvm
