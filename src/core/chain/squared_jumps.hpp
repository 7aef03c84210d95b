#pragma once
#include "base/types.hpp"

namespace bsvm {

// How far a sampler's moves go, and other moves in the same coordinates, by their squared jumps.
// From these a burn-in learns what to do without.
struct SquaredJumps {
  Vec others, own;  // (moves)

  explicit SquaredJumps(Index moves) : others(Vec::Zero(moves)), own(Vec::Zero(moves)) {}

  void add(const Vec& by_others, const Vec& by_own) {
    others += by_others.cwiseAbs2();
    own += by_own.cwiseAbs2();
  }
  // The others get at least half as far: of a bell both go equally far.
  bool needless(Index move) const { return others[move] > 0.5 * own[move]; }
};

}  // namespace bsvm
