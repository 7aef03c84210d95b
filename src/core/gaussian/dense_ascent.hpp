#pragma once
#include <memory>

#include "approximation.hpp"
#include "base/progress.hpp"
#include "coefficients/coefficients.hpp"
#include "limited_memory.hpp"
#include "rows/row_source.hpp"

namespace bsvm {

constexpr double kLatentTolerance = 1e-3;  // on the gradient in the latent's global part
constexpr int kMostLatentSteps = 200;

// Gaussian variational inference with the exact expected log-likelihood (models.md, row 19), for
// dense coefficients: for known hyper-parameters the best q(b) = N(mu, M'M), M lower triangular.
// With W = diag(-2 dl/dv), G = D + C'WC and A = (M'M)^{-1} the bound's gradient is
//
//   C' slope - D mu   in mu,      lower triangle of M (A - G)   in M.
//
// Seen from some q before, mu = mu_0 + M_0' a and M = T M_0, its curvature in (a, T) is of order
// one, and a limited memory of the last steps learns the rest. A step that lowers the bound is
// shortened; no precision is ever factored, so weights below zero do no harm. Where log p(y | f) is
// concave the bound is jointly concave in mu and M, and the norm of that gradient certifies its
// optimum.
class DenseAscent : public Conditional {
 public:
  DenseAscent(const Model& problem, std::unique_ptr<RowSource> source, const Options& options,
              Host& host);

  // Hyper-parameters climb along, towards where the bound is best given q(b).
  Node climb() override;
  Node at(ConstVecRef theta, const Node& from) override;
  Mat curvature(const Node& top) override;

 private:
  struct Point {
    State state;       // mu and M
    Mat turn;          // (p, p) T
    Vec theta, pull;   // pull: the bound's gradient in theta
    double bound = 0;
    Vec gradient;      // in (a, T, theta), each in units of about one
    Vec shared = Vec();  // what `pull` lacks: the part by the rows' shares of variances
  };

  void come_near(Point& best);
  void start_again(Point& best);
  Point away_from(const Point& from, int start);
  // `known`: has the memory seen this objective, nearly? `top`: it ends where it is seen to lead there.
  Point run(Point from, double tolerance, bool climbing, bool known = false,
            const Point* top = nullptr);
  void follow_latent(Point& best);
  bool look(bool climbing, Point& at);
  // dense_start.cpp
  Point origin();
  Point begin();
  Point begin_near();
  void settle_latent(State& state);
  Coefficients::Proposal first_proposal(State& state);
  Coefficients::Proposal descend(Point& at, Coefficients::Proposal next);
  double smoothed(const State& state, const Vec& precision);
  double narrowed(const State& state, double t) const;
  // dense_ascent.cpp
  bool settle(Point& at);
  void restart(bool climbing, Point& at);
  void refer_to(const Mat& turn, Point& at);
  bool go(const Point& from, const Vec& step, Point& to);
  bool finished(const Point& at, double gain, double tolerance);
  void record(const Point& at, double step);
  void find_pull(Point& at) const;
  Node node(Point at);
  Point moved(const Node& from, ConstVecRef theta);

  const Model& problem_;
  std::unique_ptr<RowSource> source_;
  Options options_;
  Host& host_;
  ClimbShare share_;
  Coefficients side_;
  RowSums sums_;
  bool concave_;
  bool first_ = true;  // climb, which may go astray
  double node_tolerance_;
  Mat reference_;  // (p, p) M_0
  Vec theta_scale_;
  LimitedMemory memory_;
};

}  // namespace bsvm
