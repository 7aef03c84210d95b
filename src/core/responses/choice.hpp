#pragma once
#include "covariance.hpp"
#include "latent_layer.hpp"
#include "shared.hpp"

namespace bsvm {

// Small columns with one set of those that a part can have (ColumnPart::choices), for sets with
// variances of their own; those of a spectrum the chain chooses by itself. Their coefficients
// given all else have the precision L L', and L^{-1} times their linear part is `half`.
struct WithSet {
  std::vector<Index> columns;  // among the small ones
  Mat root;                    // L
  Vec half;
  double log_evidence;  // log p(Y | the set), up to what is the same for all
};

// `prior` (small, q): prior precisions; `linear` (small, q): S'R Sigma^{-1}; `inverse`: Sigma^{-1}.
WithSet with_set(const SharedResponses& shared, Index set, const Mat& prior, const Mat& linear,
                 const Mat& inverse);

// (small, q), zero where the set has no columns; `half` is used up.
Mat draw_coefficients(WithSet& own, Index small, Index q, Draws& random);

// Sets of a spectrum (Spectrum), with their coefficients integrated out. Sets go with different
// amplitudes and residuals, so that chains hardly ever change one alone: it is chosen together with
// a factor of all amplitudes and one of all residual standard deviations, on a lattice about where
// they are. With G and t of the present ones a set's log evidence is
//
//   1/2 sum_kl { exp(-2 kappa) a_kl^2 t'_l / (1 + e_k t'_l) - log(1 + e_k t'_l) },
//   t' = exp(2 (delta - kappa)) t,
//
// so that a lattice costs no more than its values of delta - kappa.
class SetLattice {
 public:
  // r: what the block is to fit. `free`: are amplitudes drawn where they are inferred?
  SetLattice(const SharedResponses& shared, const std::vector<size_t>& block, const Mat& r,
             const LatentLayer& latent, bool free);

  // From one set and its `hyper` and Sigma to others: a place is drawn among those about here, and
  // accepted by the sums about here and about there.
  Index draw(Index set, Draws& random, std::vector<Vec>& hyper, Covariance& sigma) const;

 private:
  struct Place {
    Index set;
    double delta, kappa;  // logarithms of the factors
  };
  Vec look(const Vec& variance, const Covariance& sigma) const;  // log densities of all places
  Place place(Index index) const;
  Index centre(Index set) const;  // its index where it is
  double amplitude_prior(const Vec& variance, double delta) const;

  const SharedResponses& shared_;
  const std::vector<size_t>& block_;
  const ColumnPart& part_;
  const LatentLayer& latent_;
  std::vector<Mat> hr_;  // of each set
  Mat rr_;
  Index sides_;  // places of delta to each side
};

double log_sum(const Vec& logs);

// k with probability proportional to exp(logs_k).
Index draw_index(const Vec& logs, Draws& random);

}  // namespace bsvm
