#pragma once
#include <memory>
#include <vector>

#include "prior_density.hpp"
#include "rows/integrated/integrated_source.hpp"
#include "rows/sparse/sparse_rows.hpp"

namespace bsvm {

// log p(y, b, theta), every constant included, at any points (b, theta): b (d, outside scale) the
// dense coefficients and then, by term, level and effect, all effects that are not integrated out
// (Problem::integrated); theta (h) the free parameters of all priors in their order
// (prior/prior.hpp), whose Jacobians are included. Of a block with more columns than rows b are the
// directions rows can see; the rest is integrated out.
class LogPosterior {
 public:
  LogPosterior(const Problem& problem, int threads, Precision precision = Precision::exact);
  ~LogPosterior();

  Index coefficients() const { return prior_.coefficients(); }  // d
  Index free() const { return prior_.free(); }                  // h

  // The rows' share at a point with b on the inside scale, tilt included.
  double rows(ConstVecRef point, Host& host);

  // points (d + h, K) -> (K); -inf where nothing can be computed. Throws Interrupted.
  Vec at(ConstMatRef points, Host& host);

 private:
  struct Scratch;

  double integrated_rows(ConstVecRef b, ConstVecRef theta, RowSums& sums, Host& host);
  struct Points;
  Points inside(Mat b, ConstMatRef points) const;
  Vec all_rows(const Points& points, Host& host) const;  // (K)
  void add_block(Index first, Index r, const Points& points, Scratch& scratch, VecRef out) const;
  void add_effects(Index first, Index r, ConstMatRef b, Scratch& scratch) const;

  const Problem& problem_;
  int threads_;
  PriorDensity prior_;
  bool varies_;                                   // does the design with theta?
  std::unique_ptr<IntegratedSource> integrated_;  // or none:
  std::unique_ptr<SparseRows> sparse_;            // of several factors and sparse predictors
};

}  // namespace bsvm
