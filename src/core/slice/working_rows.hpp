#pragma once
#include <vector>

#include "model/problem.hpp"

namespace bsvm {

// The rows of one grouping factor: every row has one level or none.
struct FactorRows {
  Index levels, effects, first_effect, first;  // first among all of a level's effects; in all of u
  std::vector<int> level;    // (n) or -1
  Mat z;                     // (effects, n) what multiplies them; zero without a level
  std::vector<int> row;      // the rows by level
  std::vector<Index> start;  // (levels + 1)

  Index at(Index g) const { return first + g * effects; }
};

// All factors of a problem, or none where a row has several levels of one, as of sparse predictors.
std::vector<FactorRows> factor_rows(const Problem& problem);

// A Gaussian near the posterior of dense coefficients b and effects u given the variances: each
// row's log-likelihood stands as -weight (target - y f)^2 / 2. How near it is matters to the speed
// of those who move by it, and to nothing else.
class WorkingRows {
 public:
  WorkingRows(const Problem& problem, const Mat& design);

  bool good() const { return !factors_.empty(); }
  const std::vector<FactorRows>& factors() const { return factors_; }
  Index main() const { return main_; }  // the factor with most levels

  // From moments of the rows' f: the expected curvature and slope of their log-likelihood.
  void set(const Likelihood& likelihood, const Vec& mean, const Vec& variance);
  // The numbers that set() leaves, for checkpoints.
  Vec save() const;
  void restore(ConstVecRef saved);

  const Vec& weight() const { return weight_; }
  const Vec& target() const { return target_; }
  const Mat& dense() const { return dense_; }   // (p, p) X'WX
  const Mat& cross() const { return cross_; }   // (u, p) Z'WX
  // (effects^2, levels) of a factor: the sums of w z z' over the rows of each level.
  const Mat& gram(Index factor) const { return gram_[factor]; }

  // What another factor's levels share with levels of the main one: sums of w z z' over common
  // rows.
  struct Links {
    std::vector<Index> start;  // (levels + 1) a level's first link
    std::vector<int> level;    // (links) of the main factor
    Mat cross;                 // (main effects times effects, links)
  };
  const Links& links(Index factor) const { return links_[factor]; }

  // out += Z u, and Z' r, of one factor: (n) and (u).
  void add_along(Index factor, const Vec& u, Vec& out) const;
  void add_gathered(Index factor, const Vec& r, Vec& out) const;

 private:
  void find_links(Index factor);
  void sum();
  void sum_links(Index factor);

  const Problem& problem_;
  const Mat& design_;
  std::vector<FactorRows> factors_;
  Index main_ = 0, effects_ = 0;
  Vec weight_, target_;
  Mat dense_, cross_;
  std::vector<Mat> gram_;
  std::vector<Links> links_;
  std::vector<std::vector<Index>> link_;  // (n) of each factor: a row's link, or -1
};

}  // namespace bsvm
