#pragma once
#include <vector>

#include "coefficients/coefficients.hpp"
#include "rows/row_source.hpp"

namespace bsvm {

// Moves of coefficients in and out with the latent scales averaged out, one at a time: g_j = 0 with
// b_j = 0 and g_j = 1 with b_j a draw from N(c_j, s_j^2), accepted by the ratio of
//
//   p(y | b) N(b_j; 0, 1/D_j) odds_j / N(b_j; c_j, s_j^2)   and   p(y | b with b_j = 0)
//
// (reversible jumps, Green 1995): scales that are given remember what was in. In every other try
// the coefficient of the column that j looks most like makes up for b_j: b_i -> b_i -/+ r b_j, of
// Jacobian one. Half of the tries are anywhere, half where it has been open what is in. That, c_j
// and s_j are learnt while draws are not kept.
class InclusionMoves {
 public:
  InclusionMoves(const Problem& problem, const Coefficients& side);

  // Some candidates, at random; `tune`: may one learn from where the State comes to?
  void run(State& state, LineSource& source, bool tune, Host& host);

  // What has been learnt, candidate by candidate: c_j, s_j^2 and from how many draws, how often it
  // was in; and at the end from how many sweeps.
  const Vec& learnt() const { return learnt_; }
  void restore(ConstVecRef learnt) { learnt_ = learnt; }

 private:
  struct Indicator {
    Index column, twin;  // of the problem's; twin: which it looks most like, or itself
    double slope;        // of its regression on that one
    const PriorPart* part;
    Index place;         // in the part
  };

  void find_twins(const Problem& problem);
  Vec open() const;
  void toggle(Index k, ConstVecRef precision, State& state, LineSource& source,
              Draws& random) const;
  void learn(const State& state);

  const Coefficients& side_;
  Index p_, q_;
  std::vector<Indicator> indicators_;
  Vec learnt_;
};

}  // namespace bsvm
