#pragma once
#include "imputation_slots.hpp"
#include "unknowns.hpp"

namespace bsvm {

// The coefficient side of the imputation model (unknowns.hpp): q(B) q(Sigma), or a draw of
// both, given sums over the rows of the completed variables. Under q the State's law holds
//
//   precision  P = E Sigma^{-1}, of Sigma^{-1} ~ Wishart(df + n, Psi_q^{-1})
//   mean       E B
//   formed     the P that B's covariance was formed with: vec B has precision
//              formed (x) Z'Z + I / mean_variance
//
// Rows say nothing of `formed`; their share of the bound is at E B. The mechanism, if it is
// modelled, has probits of its own (missing/mechanism.hpp).
class ImputationModel {
 public:
  ImputationModel(const Unknowns& unknowns, Index n);

  void start(State& state) const;

  // The best q given the sums; and how far that is from the State's, squared, in its own metric.
  void update(const RowSums& sums, State& state) const;
  double change(const RowSums& sums, const State& state) const;

  // What of the bound no row knows of, every constant included but that of an improper prior.
  double value(const State& state) const;

  void draw(const RowSums& sums, State& state) const;

  // E Sigma; and of a draw B by columns, Sigma (d, d), then the probits' (q, J), as one vector.
  Mat covariance(const State& state) const;
  Vec drawn(const State& state) const;

 private:
  Mat inverse(const State& state) const;  // of P
  Mat probit_precision(const RowSums& sums) const;
  double probit_value(const State& state) const;
  // The eigenvalues of P (x) Z'Z + I / mean_variance, P = V diag V': (k, d).
  struct Spectrum {
    Mat vectors;
    Mat values;
  };
  Spectrum spectrum(ConstMatRef precision) const;
  Mat mean_given(ConstMatRef precision, const Spectrum& of, ConstMatRef zx) const;
  Mat spread(const Spectrum& of) const;  // (d, d) E (B - E B)' Z'Z (B - E B)
  // (d, d) sum over rows of E (x - B'z)(x - B'z)' about these B.
  Mat about(const RowSums& sums, ConstMatRef mean) const;
  double degrees() const { return df_ + n_; }

  Index d_, k_;
  double n_, mean_variance_, scale_, df_;
  const Unknowns& unknowns_;
  ImputationSlots slots_;
  Mat gram_vectors_;
  Vec gram_values_;
};

}  // namespace bsvm
