#pragma once
#include "base/host.hpp"
#include "base/types.hpp"

namespace bsvm {

// r ~ N(0, C), of which one row of C changes at a time, as scores of rows do. B = C^{-1} and B r are
// kept, so that a look at another row costs a product with B, and so does a change. Rounding adds up
// with the changes.
class LeaveOneOut {
 public:
  // The lower triangle of c (n, n) counts. Throws NumericalFailure if c has no inverse.
  LeaveOneOut(Mat c, const Vec& r, Host& host);

  // log p(r_i | the others), without the constant.
  double here(Index i) const;

  // The same if row i of C were k (n), of which the place i is not read, with `diagonal` in that
  // place. `least`: a bound of the conditional variance, for rounding not to make it negative.
  double at(Index i, const Vec& k, double diagonal, double least);
  // Row i becomes the one that at() saw last.
  void accept(Index i);

  const Mat& inverse() const { return inverse_; }  // B
  const Vec& solved() const { return solved_; }    // B r

 private:
  Mat inverse_;
  Vec r_, solved_;
  Vec own_, seen_;        // k with zero at i, and B k
  double variance_ = 1;   // of r_i given the others, at k
};

}  // namespace bsvm
