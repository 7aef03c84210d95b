#pragma once
#include <functional>

#include "base/host.hpp"
#include "base/types.hpp"

namespace bsvm {

// A normal distribution.
struct Conditional {
  double mean, variance;
  double log_density(double r) const;  // without the constant
};

// r ~ N(0, C), of which one row of C changes at a time, as scores of rows do. B = C^{-1} and B r
// are kept, so that a look at another row costs a product with B. Changes of B, of rank two each,
// are put off until they are as many as a product takes well. Rounding adds up with the changes.
class LeaveOneOut {
 public:
  // The lower triangle of c (n, n) counts. Throws NumericalFailure if c has no inverse.
  LeaveOneOut(Mat c, const Vec& r, Host& host);

  // Of r_i given the others.
  Conditional here(Index i) const;
  void set(Index i, double r);
  // One r_i after the other becomes draw(i, of r_i given the others as they are then).
  void scan(const std::function<double(Index, const Conditional&)>& draw);
  const Vec& r() const { return r_; }

  // The same if row i of C were k (n), of which the place i is not read, with this in that
  // place. `least`: a bound of the conditional variance, for rounding not to make it negative.
  Conditional at(Index i, const Vec& k, double diagonal_of_row, double least);
  // Row i becomes the one that at() saw last.
  void accept(Index i);

  Mat inverse() const { return inverse_ + put_off(); }  // B
  const Vec& solved() const { return solved_; }          // B r

 private:
  Mat put_off() const { return left_.leftCols(pending_) * right_.leftCols(pending_).transpose(); }
  double diagonal(Index i) const;
  Vec column(Index i) const;
  void catch_up();

  Mat inverse_, left_, right_;  // B = inverse_ + left_ right_', of these the columns pending_
  Index pending_ = 0;
  Vec r_, solved_;
  Vec own_, seen_;       // k with zero at i, and B k
  double variance_ = 1;  // of r_i given the others, at k
};

}  // namespace bsvm
