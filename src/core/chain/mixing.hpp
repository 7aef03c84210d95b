#pragma once
#include <vector>

#include "coefficients/coefficients.hpp"
#include "rows/row_source.hpp"

namespace bsvm {

// Moves that help a Gibbs sampler along, between the draw of the coefficients and that
// of the latent scales. Each leaves the posterior of coefficients and hyper-parameters with the
// latent scales averaged out unchanged, which is enough, since the scales are drawn afresh from
// their conditional at the next sweep.
//
//   scale  a block and its variance: (b, s2) -> (t b, t^2 s2), or one of several joint
//          effects and its row of Sigma, which together with the draw
//          of s2 given b interweaves the two parameterisations (Yu & Meng 2011); all blocks
//          at once: what ties strong coefficients to their latent scales. t is drawn from
//          its density over d log t, the group's Haar measure (Liu & Sabatti 2000)
//   axis   one dense coefficient: b_j -> b_j + t
//
// Coefficients that a prior has taken out stay where they are.
class Mixing {
 public:
  // together: are all blocks scaled at once too?
  Mixing(const Model& problem, const Coefficients& side, bool together);

  // group_moments: the groups' sum of u u', kept true. `tune`: may the moves' first widths
  // be adapted? Only before draws are kept. `all`: the moves that are seldom too. Throws
  // Interrupted between two moves.
  void run(State& state, LineSource& source, Mat& group_moments, bool tune, bool all, Host& host);

  // (moves) how far each went when it last ran; and where a state stands along each, so that one
  // can see how far other moves go: log standard deviations, zero where a scale has none or
  // several, and coefficients.
  const Vec& shifts() const { return shifts_; }
  Vec place(const State& state) const;

  // This move only seldom from now on.
  void make_seldom(Index move) { widths_[move] *= -1; }

  const Vec& widths() const { return widths_; }
  void restore(ConstVecRef widths) { widths_ = widths; }

 private:
  // Blocks that are scaled together; or effect `effect` alone of one joint block.
  struct Scale {
    std::vector<const PriorPart*> parts;
    Index effect = -1;
  };

  double scale(const Scale& move, double width, State& state, LineSource& source,
               Mat& group_moments, Draws& random) const;
  double shift(Index j, double precision, double width, State& state, LineSource& source,
               Draws& random) const;
  bool is_out(const Scale& move, const State& state) const;
  Line line_of(const Scale& move, const State& state) const;

  const Coefficients& side_;
  Index p_, q_;
  std::vector<Scale> scales_;
  Vec widths_;  // of the scale moves, then of the axes; below zero: of a seldom one
  Vec shifts_;  // (moves)
};

}  // namespace bsvm
