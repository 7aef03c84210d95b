#pragma once
#include <vector>

#include "approximation.hpp"
#include "coefficients/coefficients.hpp"
#include "linalg/weighted_gram.hpp"
#include "row_sites.hpp"

namespace bsvm {

// What DenseAscent does, where rows are few beside columns: Newton's method in numbers of the rows.
// At the optimum q's precision is D + C'WC, so q is (mu, w) with w (n) the rows' weights, and
//
//   r_mu = C' slope + tilt - D mu,      r_w = w(m, v) - w      vanish,
//
// where w(m, v) = -2 dl/dv. With S the covariance, K = C S C' and K2 its squared entries, v changes
// with w by -K2 dw and with theta by -e dtheta, e_i = c_i' S D' S c_i; the slope in m changes with
// v by half of what w(m, v) changes with m, less (Price 1958). So with a = dw(m, v)/dm and
// b = dw(m, v)/dv Newton's step has n unknowns,
//
//   dw + b K2 dw - a K (a/2 K2 dw) = r_w + a C S r_mu,      dmu = S r_mu + S C'(a/2 K2 dw),
//
// and the same system says how q changes along theta. The bound's derivatives are r_mu in mu and
// K2 r_w / 2 in w, so that (S r_mu, r_w) is always uphill.
class RowNewton : public Conditional {
 public:
  RowNewton(const Problem& problem, const Options& options, Host& host);

  // Is it the quicker way to fit this Problem?
  static bool suits(const Problem& problem);

  Node climb() override;
  Node at(ConstVecRef theta, const Node& from) override;
  Mat curvature(const Node& top) override;

  // What the rows know of the best q at the priors' present values, which are given: f's moments
  // (n), the rows' slopes and weights there, and f's covariance (n, n), its lower triangle.
  struct Known {
    double bound = 0;
    Arr m, v, slope, weight;
    Mat covariance;
    Vec mean, square;         // (p) of q: E b and E b^2, inside
    bool converged = false;
  };

  // From what was best under a design or priors nearby, or from none.
  Known best(const Known* near, double tolerance);

 private:
  // q at some theta, and what the rows say there.
  struct Point {
    State state{Layout()};
    Vec theta, pull;          // pull: the bound's gradient in theta
    Arr weight;               // (n) w
    Arr m, v, slope, target;  // (n) of f; target: w(m, v)
    Mat half;                 // (p, n) M C' with M the inverse factor: K = half' half
    double bound = 0;
  };

  // What steps from there need besides.
  struct System {
    Mat k, k2;                // (n, n) lower triangles of K and of its squared entries
    Arr a, b;                 // (n)
    Vec gradient, mean;       // (p) r_mu and S r_mu
    Arr gap;                  // (n) r_w
    Mat change, spread;       // (p, h) dD/dtheta and (n, h) e
    Mat solved;               // (p, n) S C', where there is a theta
    double length = 0;        // of the gradient in q's own metric
  };

  // A way q can go.
  struct Way {
    Vec mean;
    Arr weight, variance;
  };

  struct Step {
    Vec mean, theta;
    Arr weight;
    double slope = 0;         // of the bound
  };

  void take_design(const Problem& problem);
  bool settle(Point& at);
  bool look(Point& at);
  void follow(const Arr& linear, Point& at) const;
  Point begin();
  Point begin(const Known& near);
  void start_again(Point& best);
  Point away_from(const Point& from, int start) const;
  // `top`: it ends where it is seen to lead there.
  Point run(Point now, double tolerance, bool climbing, const Point* top = nullptr);
  bool finished(const Point& at, double gain, double tolerance);
  double rise(const Step& step, double least, Point& at);
  Point moved(const Node& from, ConstVecRef theta);
  Node matched(const Point& best);
  Node node(const Point& at, bool matched, double log_density) const;
  void record(const Point& at, double step);

  bool take(const RowSites& sites, Point& at);
  bool rest(RowSites sites, Point& at, double& log_density);

  // row_newton_step.cpp
  System system(const Point& at, bool climbing) const;
  void weigh_changes(const Point& at, System& out) const;
  void change_priors(const Point& at, System& out) const;
  Way way(const Point& at, const System& system, const Arr& push, ConstVecRef mean,
          const Arr& spread) const;
  Way along(const Point& at, const System& system, Index k) const;
  Vec pull_change(const Point& at, const System& system, const Way& way, ConstVecRef theta) const;
  Step newton(const Point& at, const System& system, bool climbing) const;
  Step natural(const Point& at, const System& system, bool climbing) const;
  void promise(const Point& at, const System& system, const Arr& variance, Step& step) const;
  Mat profile(const Point& at, const System& system) const;

  const Problem& problem_;
  Options options_;
  Host& host_;
  Coefficients side_;
  bool concave_;
  Vec theta_scale_;
  Mat design_;                // (p, n) C'
  Arr y_, row_weight_, offset_, left_over_;
  WeightedGram squares_;
  Mat curvature_;             // of the bound in theta, where the last run ended
  Mat covariance_;            // K there
  std::vector<RowSites> known_;  // once moments are matched
};

}  // namespace bsvm
