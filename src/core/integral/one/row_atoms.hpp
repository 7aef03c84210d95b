#pragma once

namespace bsvm {

// A term -cost max(0, u) of log p(y | f), u = sign (f - place), cost > 0. It has a latent scale of
// its own, with whose precision w
//
//   -cost max(0, u) >= -cost u/2 - w u^2/2 - cost^2/(8 w),
//
// which is highest in expectation at w = cost / (2 sqrt(E u^2)).
struct Atom {
  double place, sign, cost;
};

constexpr int kMostAtoms = 2;

struct Atoms {
  int count = 0;
  Atom atom[kMostAtoms] = {};
};

}  // namespace bsvm
