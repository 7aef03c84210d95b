#pragma once
#include "../params.hpp"
#include "../registry.hpp"
#include "../types.hpp"

namespace bsvm {

// Second moments of a block of coefficients under q.
struct Moments {
  Vec square;         // (m) E b_j^2; for a group effect one number, summed over levels
  double count = 0;   // coefficients of the block, the unseen included
  double unseen = 0;  // those of them that no row can see (not in `square`):
                      // a priori independent of the rest, N(0, 1/precision) under q
};

// A prior on a block of coefficients, b_j ~ N(0, variance_j) given
// hyper-parameters of its own. All it keeps between passes is `hyper`, the
// parameters of their q, positive numbers in a slice of the State; the object itself
// is immutable.
class Prior {
 public:
  virtual ~Prior() = default;

  // Does it use sum(square) only, one precision for all? Needed for group
  // effects and for blocks rotated to fewer columns.
  virtual bool exchangeable() const = 0;

  virtual Index hyper_size(Index m) const = 0;

  // A q to start from: E 1/variance about one, whatever the data's scale.
  virtual void start(const Moments& shape, VecRef hyper) const = 0;

  // The best q of the hyper-parameters given the coefficients' moments.
  virtual void update(const Moments& moments, VecRef hyper) const = 0;

  // (m) E 1/variance_j.
  virtual void precision(ConstVecRef hyper, VecRef out) const = 0;

  // E log p(b | hyper) + E log p(hyper) - E log q(hyper), every constant
  // included, plus the entropy of the unseen coefficients.
  virtual double value(const Moments& moments, ConstVecRef hyper) const = 0;

  // What a user wants to know of q(hyper), named.
  virtual NamedNumbers report(ConstVecRef hyper) const = 0;
};

}  // namespace bsvm
