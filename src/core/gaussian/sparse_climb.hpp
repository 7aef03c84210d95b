#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "approximation.hpp"
#include "coefficients/coefficients.hpp"
#include "linalg/conjugate_gradient.hpp"
#include "linalg/dense.hpp"
#include "rows/sparse/sparse_design.hpp"

namespace bsvm {

// The Gaussian N(mu, A^{-1}) of all coefficients given the hyper-parameters, and the mode of these,
// where coefficients are so many that nothing of their size squared can be formed. With
// f_i = offset_i + B_i b, D the prior's precision and l(m, v) = E log p(y | f), f ~ N(m, v):
//
//   mu      maximises sum_i l(m_i, v_i) - mu'D mu / 2, by Newton steps
//   A       D + B'WB,  W = diag(-2 dl/dv), none below zero, found by steps of a share
//   v_i     B_i A^{-1} B_i'
//   theta   a mode of the bound, whose slope needs E |b|^2 alone (the rest of it stands still)
//
// which is what Ascent finds. One theta is looked for from scales at which the prior says f = 0 up
// to where the bound has fallen for good: there may be a mode at small scales and one at large, and
// the sum of slopes, with what matching moments adds, tells which is higher. Several follow
// fixed-point steps from one start. All systems are solved by conjugate gradients. What is needed
// of A^{-1} comes from draws x ~ N(0, A^{-1}), the solutions of A x = D^{1/2} e + B'W^{1/2} z
// (Papandreou & Yuille 2010), with noise that is the same in each pass: the fixed point is a
// function of the data. Averages of x^2 alone would be too rough for so few draws, so that
//
//   Var b_j   M^{-1}_jj + E (x - M^{-1} A x)_j^2, M the blocks of A on its diagonal (Siden,
//             Lindgren, Bolin & Villani 2018)
//   v_i       with L_i = c_i / (1 + w_i c_i), c_i = B_i D^{-1} B_i', its variance if row i were the
//             only one, and g_i the draw it would have from the same noise:
//             E f_i^2 = v_i and E (f_i - g_i)^2 = L_i - v_i, of independent numbers
class SparseClimb {
 public:
  SparseClimb(const Problem& problem, const Options& options, int threads, Host& host);

  Approximation run();

 private:
  static constexpr double kRough = 0.05;  // nats a Newton step may still gain between passes

  // kSide draws, which a thread finds together.
  struct Side {
    Eigen::MatrixXf coefficient_noise, row_noise;  // (kSide, d), (kSide, n)
    Mat draw;                                      // (kSide, d)
    Arr total, beyond;                             // (n) sums of f^2 and (f - g)^2
    Vec square;                                    // (d) of (x - M^{-1} A x)^2
    Mat dense;                                     // (p, p) of the dense ones' products
    Mat level;                                     // (q, q) of x x', over levels
  };
  // The diagonal blocks M of A: dense columns together, every other column alone.
  struct Blocks {
    Factor dense;
    Vec inverse;  // (d - p)
    Mat solve(const Mat& x) const;
  };

  // What is known at one theta: the slope of the bound, what matching adds, the sum of slopes on
  // the way there, and how matching changes with theta.
  struct Look {
    double theta, slope, matching, height, bend;
    double total() const { return height + matching; }
  };

  void draw_noise();
  void refresh_prior();
  void look();
  Blocks blocks_of(const Vec& w) const;
  Product product_with(const Vec& w) const;
  Mat solve(const Vec& w, const Mat& x) const;
  bool climb_mean(double tolerance);
  void settle(double tolerance);
  Look look_at(double theta, double tolerance);
  double slope();
  double matching() const;
  void scan();
  void bracket(const Look& left, const Look& right);
  void match();
  void follow();
  double spread();
  double find_variances(const Vec& w);
  void sample(Side& side, const Vec& w, const Vec& alone, const Blocks& blocks,
              const std::function<void()>& checkpoint) const;
  Mat level_sums(const Mat& x) const;
  Vec theta_step() const;
  double fixed_square(const PriorPart& part) const;
  double free_square(const PriorPart& part) const;
  double free_step(const PriorPart& part, double theta) const;
  double move_theta();
  void record(double change);
  Node node() const;

  const Problem& problem_;
  Options options_;
  int threads_;
  Host& host_;
  SparseDesign design_;
  Coefficients side_;
  State state_;  // of the dense coefficients
  std::unique_ptr<LevelPrecision> prior_;
  std::vector<Side> sides_;
  Arr y_, weight_, offset_;
  Mat mean_;        // (1, d)
  Arr m_, v_;       // (n)
  RowTerms terms_;
  double value_ = 0, decrement_ = 0;
  Vec w_;           // (n) the weights of A
  double share_ = 0.6, last_moved_ = 0;
  Vec variance_;    // (d)
  Mat dense_covariance_, level_covariance_;  // (p, p); (q, q) summed over levels
  Vec theta_, last_step_, last_move_;
  bool scalar_ = true;  // are all free numbers logarithms of one variance each?
  Progress progress_;
};

}  // namespace bsvm
