#pragma once
#include "base/host.hpp"
#include "model/problem.hpp"
#include "row_newton.hpp"
#include "row_space.hpp"

namespace bsvm {

// What RowNewton does where the linear predictors' prior is given as such, f ~ N(offset, K), and
// there are no coefficients: Newton's method in q = (alpha, w), m = K alpha + offset and S = (K^{-1}
// + W)^{-1}. At the optimum alpha is the rows' slope and w their weight. With x what alpha lacks of
// the slope, RowNewton's system has K alpha in place of coefficients:
//
//   dw + b S2 dw - a S (a/2 S2 dw) = r_w + a S x,     d alpha = (I - W S) (x + a/2 S2 dw),
//
// and the bound is sum_i l(m_i, v_i) - {alpha'K alpha - sum w v + log det(I + K W)} / 2.
class KernelNewton {
 public:
  // Of the problem its rows and likelihood alone.
  KernelNewton(const Problem& problem, Host& host);

  // From here on with this K (n, n), both triangles, of the caller.
  void given(const Mat& k) { k_ = &k; }

  struct Point {
    Arr alpha, weight;        // (n)
    Arr m, v, slope, target;  // (n); target: -2 dl/dv
    Mat covariance;           // (n, n) S
    double logdet = 0, bound = 0;
    double length = 0;        // of the bound's gradient in q's own metric
    bool converged = false;
  };

  // From what is best nearby, or from none.
  Point best(const RowNewton::Known* near, double tolerance, int most = 100);

  // The rows' sites of a q, without a theta.
  RowSites sites(const Point& at) const {
    return {Vec(), at.weight, at.alpha + at.weight * (at.m - offset_)};
  }
  RowSites sites(const RowNewton::Known& at) const {
    return {Vec(), at.weight, at.slope + at.weight * (at.m - offset_)};
  }

  // Moments matched from these sites on (row_sites.hpp): q there, and the rows' log p(y).
  bool match(RowSites& sites, Point& at, double& log_density);

  int passes() const { return passes_; }

 private:
  struct System {
    Arr a, b;
    Vec lack, gap;  // (n) x and r_w
    double length;
  };
  struct Step {
    Vec alpha, weight;
    double slope;
  };

  bool settle(Point& at);
  bool look(Point& at);
  Point begin(const RowNewton::Known* near);
  Point begin_anew();
  bool take_near(const RowNewton::Known& near, Point& out);
  System system(const Point& at);
  Step newton(const Point& at, const System& here) const;
  Step natural(const Point& at, const System& here) const;
  Step promised(const Point& at, const System& here, Vec push, Vec weight) const;
  double rise(const Step& step, double least, Point& at);
  double divergence(const Point& at) const;
  bool take(const RowSites& sites, Point& at);

  const Problem& problem_;
  const Mat* k_ = nullptr;
  Host& host_;
  Arr y_, row_weight_, offset_;
  RowPosterior posterior_;
  Mat squares_;  // (n, n) S2 of the last system
  Mat spare_;  // memory of a covariance that is no longer wanted
  int passes_ = 0;
};

}  // namespace bsvm
