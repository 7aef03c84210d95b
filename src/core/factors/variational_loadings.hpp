#pragma once
#include <memory>
#include <vector>

#include "base/host.hpp"
#include "scores.hpp"
#include "shared.hpp"
#include "turned_rows.hpp"
#include "variational_scores.hpp"

namespace bsvm {

// q of means, loadings and noise: q(b_i) = N(mean_i, C_i), b_i = (mu_i, a_i), independent over
// variables, q(psi) gamma, q of the loadings' variances, and q(rate) gamma if the rate of local
// variances is inferred.
//
// Where all variables share one C, as of complete x with one variance a factor and common noise, x
// matters only through x x'. With more variables than rows the rows' directions take their place
// (turned_rows.hpp); all other directions, in which x is zero, have mean zero and the same C.
class LoadingsPosterior {
 public:
  explicit LoadingsPosterior(const SharedFactors& shared);

  // The best q of each of these blocks in turn.
  void update(const ScorePosterior& w, int threads, Host& host);

  const ScoreSums& sums() const { return sums_; }  // E of what the loadings say of scores
  const Mat& moments() const { return moments_; }   // (1 + K, 1 + K) sum_i E b_i b_i'
  double value() const;  // the bound but for what scores and responses have of it

  // As scores have it that become u^{-1}(w + d): a_i becomes u'a_i, mu_i becomes mu_i - d'a_i.
  void transform(const Mat& u, const Vec& d);
  // What the loadings' prior has of the bound if they become u'a_i, its own q at its best, and the
  // gradient in u (K, K).
  double prior_value(const Mat& u, Mat& gradient) const;

  bool local() const { return model_.loadings.local; }
  Vec noise() const;                    // E psi (p, or 1 if common)
  Vec variances() const;                // 1 / E(1/phi_k) (K), none if shrinkage is local
  double rate() const { return rate_; }  // E of the rate of local variances
  Mat means() const;                     // (1 + K, p) of b_i
  Eigen::Map<const Mat> covariance(Index variable) const;  // (1 + K, 1 + K)
  const Vec& noise_shape() const { return noise_shape_; }  // of q(psi) (p, or 1 if common)
  const Vec& noise_rate() const { return noise_rate_; }
  const std::vector<Vec>& hyper() const { return hyper_; }  // of one variance a factor

  // What is drawn of q: b (1 + K, p), psi (p or 1), the rate of local variances.
  struct Draw {
    Mat b;
    Vec psi;
    double rate;
  };
  Draw draw(const DrawKey& now) const;

 private:
  struct Sums;
  struct Design;
  bool shares() const { return covariance_.cols() == 1; }
  Index variables() const { return b_.cols(); }
  double all_variables() const { return static_cast<double>(model_.p()); }
  Mat second_of(Index i) const;
  double seen_of(Index i) const;  // rows
  double psi_of(Index i) const;
  void update_shared(const Design& design);
  void update_each(const Design& design, int threads, Host& host);
  void update_chunk(const Design& design, Index first, Index count, Sums& sums);
  void update_noise(double residual);
  void update_variances();
  void gather();
  Mat gram_of(const Design& design, Index i) const;
  double noise_value() const;
  double best_rate(double roots) const;
  double local_value(double roots, double rate) const;

  const SharedFactors& shared_;
  const FactorModel& model_;
  std::unique_ptr<TurnedRows> turned_;
  const Mat* x_;            // (N, variables), zero where missing
  double squares_;          // sum of all x^2
  double extra_;            // variables beside these, in which x is zero
  Mat b_;                   // (1 + K, variables) means
  Mat covariance_;          // ((1 + K)^2, variables or 1)
  double logdets_ = 0;      // sum of log |C_i|, all variables
  Vec noise_shape_, noise_rate_;  // of q(psi) (variables or 1)
  std::vector<Vec> hyper_;  // of one variance a factor
  Mat square_;              // (K, variables) E a_ik^2, of local shrinkage
  double rate_;             // E of the rate of local variances
  Mat moments_, weighted_;  // sum of E b_i b_i', and of E psi_i E b_i b_i' if noise is each's own
  Mat linear_;              // (N, K) sum of x_i E a_i', times E psi_i if noise is each's own
  double center_ = 0;       // sum of E psi_i E (x_in - mu_i)^2 over what is seen
  ScoreSums sums_;
};

}  // namespace bsvm
