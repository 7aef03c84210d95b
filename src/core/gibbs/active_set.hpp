#pragma once
#include <vector>

#include "coefficients/coefficients.hpp"

namespace bsvm {

// What the rows, given their latent scales, and the priors say of the coefficients with the groups
// eliminated: log density -b'Ab/2 + h'b.
class Equations {
 public:
  virtual ~Equations() = default;
  virtual const Vec& linear() const = 0;                                  // (P) h
  virtual Vec diagonal() const = 0;                                       // (P) of A
  virtual Mat columns(const std::vector<Index>& which) const = 0;         // (P, k) of A
};

// A coefficient that may be in or out.
struct Candidate {
  Index column;
  double log_odds;   // of being in, a priori
  double precision;  // D_j of its slab
  bool in;
};

// Which coefficients are in, given A = S + D and h (002, (17), the square completed): with b
// integrated out
//
//   log p(g) = sum_{j in g} (log odds_j + log(D_j)/2) - log|A_g|/2 + h_g' A_g^{-1} h_g / 2
//
// over the columns in g and those that always are. With L L' = A_g of those that are in, Z = L^{-1}
// A_g,. of all candidates and w = L^{-1} h_g, taking candidate k in adds
//
//   log odds_k + (log D_k - log d_k + r_k^2 / d_k) / 2,  d_k = A_kk - |z_k|^2,  r_k = h_k - z_k'w
//
// and taking it out the same with d_k and r_k as they would be without it: with x = L^{-1} e_k,
// 1/d_k = |x|^2 and r_k = d_k x'w. A column more is a row more of L and Z, a column less a few
// rotations of them; A itself is never formed.
class ActiveSet {
 public:
  ActiveSet(const Equations& equations, std::vector<Index> always,
            std::vector<Candidate> candidates, Host& host);

  // log p(g with k in) - log p(g with k out), the others as they are.
  double log_ratio(Index k) const;
  void flip(Index k);

  // Every candidate once, in random order: flipped with probability min(1, ratio) (Liu 1996).
  void scan(Draws& random);
  // One that is in goes out, and one of all that then are out comes in, drawn from p(g).
  void swap(Draws& random);

  const std::vector<Candidate>& candidates() const { return candidates_; }

  // (P) A_g^{-1} h_g + L^{-T} noise of the coefficients that are in, zero elsewhere.
  Vec solve(ConstVecRef noise) const;

 private:
  void factorise();
  void grow();
  void add(Index k);
  void remove(Index k);
  void rotate_out(Index place);
  Index draw_out(Draws& random) const;

  const Equations& equations_;
  Host& host_;
  std::vector<Candidate> candidates_;
  std::vector<Index> active_;  // columns of A_g, those that always are in first
  std::vector<Index> owner_;   // candidate of each, -1 of those
  Mat factor_, z_;             // L (a, a) and Z' (m, a), with room for more
  Vec w_, d_, r_;              // (a and room); (m), of candidates that are out
};

// Draws g of all priors that select, and then the coefficients. The State's mean becomes the draw,
// its step how far that went, and the priors' hyper has the g. Returns the mean given g.
Vec draw_selected(const Coefficients& side, const Equations& equations, State& state, Host& host);

// The equations from the sums of a pass.
class SummedEquations : public Equations {
 public:
  SummedEquations(const Coefficients& side, const State& state, RowSums& sums);
  const Vec& linear() const override { return linear_; }
  Vec diagonal() const override { return precision_.diagonal(); }
  Mat columns(const std::vector<Index>& which) const override;

 private:
  Mat precision_;
  Vec linear_;
};

}  // namespace bsvm
