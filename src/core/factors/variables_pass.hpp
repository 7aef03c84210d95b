#pragma once
#include <vector>

#include "base/host.hpp"
#include "shared.hpp"

namespace bsvm {

// Variables are taken in chunks of this many, whatever the threads, so that sums of a chunk have
// the same bits wherever it is looked at.
constexpr Index kVariables = 64;

// What all variables have to say: sums over variables.
struct VariableSums {
  Mat linear;    // (N, K) sum x_i a_i', times psi_i if each variable has its own
  Mat moments;   // (1 + K, 1 + K) sum b_i b_i', b_i = (mu_i, a_i)
  Mat weighted;  // sum psi_i b_i b_i', if each variable has its own, or none
  double size = 0;      // sum |a_ik|
  double residual = 0;  // sums of squared residuals

  VariableSums(Index n, Index k, bool each)
      : linear(Mat::Zero(n, k)), moments(Mat::Zero(k + 1, k + 1)),
        weighted(Mat::Zero(each ? k + 1 : 0, each ? k + 1 : 0)) {}
  const Mat& own() const { return weighted.size() > 0 ? weighted : moments; }
  void clear();
  void add(const VariableSums& other);
};

// Means, loadings and noise of all variables, and how they are drawn given the scores: one pass
// over blocks of x does all that a sweep asks of x. Given W1 = (1, W) (N, 1 + K) variables are
// independent: with b_i = (mu_i, a_i),
//
//   b_i | . ~ N(P^{-1} psi_i W1'x_i, P^{-1}),   P = psi_i W1'W1 + diag(prior precisions),
//
// sums over the rows where x_i is seen. Of local shrinkage phi_ik, given a_ik as it is, is drawn
// first: 1/phi_ik ~ 2 r IG(mean 1/(sqrt(2 r) |a_ik|), shape 1). A psi_i of its own follows b_i.
class VariablesPass {
 public:
  // `together`: how many chunks have their sums side by side before these are added in order.
  explicit VariablesPass(const SharedFactors& shared, Index together = 16);

  // How the next variables are drawn; of local shrinkage only the mean's precision counts.
  struct Given {
    Vec precisions;  // (1 + K) of (mu_i, a_i)
    double rate;     // r of local shrinkage
    double psi;      // if it is common
  };
  VariableSums draw(const Mat& w, const Given& given, const DrawKey& now, int threads, Host& host);
  VariableSums sums() const;  // of what there is; the residuals' is zero
  // mu - A delta, and sums that see it: the same bits as sums() would have.
  void translate(const Vec& delta, VariableSums& sums);

  Mat& b() { return b_; }  // (1 + K, p)
  const Mat& b() const { return b_; }
  Vec& psi() { return psi_; }  // (p), if each variable has its own, or none
  const Vec& psi() const { return psi_; }

 private:
  struct Design;
  void draw_chunk(const Design& design, Index first, Index count, VariableSums& sums);
  void draw_one(const Design& design, Index i, const double* product, Mat& precision,
                VariableSums& sums);
  void add_moments(Index first, Index count, bool of_means, VariableSums& sums) const;
  void add_sums(Index first, Index count, std::vector<double>& room, VariableSums& sums) const;
  Mat gram_of(const Design& design, Index i) const;

  const SharedFactors& shared_;
  const FactorModel& model_;
  Index together_;
  Mat b_;
  Vec psi_;
};

}  // namespace bsvm
