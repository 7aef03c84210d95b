#pragma once
#include <vector>

#include "oracle.hpp"
#include "rows/row_source.hpp"

namespace bsvm_test {

// Rows that no longer separate: each group's scalar effect u ~ N(0, s2),
// f_i = offset_i + x_i'b + z_i u, is integrated out of the hinge pseudo-likelihood
//
//   prod_g  integral prod_{i in g} exp{-2 weight_i (1 - y_i f_i)_+} N(u; 0, s2) du
//
// in closed form: between the sorted kinks t_i = (y_i - o_i) / z_i, with o_i the part
// of f_i without u, the log integrand is a + b u - u^2 / (2 s2). The
// State's mean is a point (b, log s2), p + 1 coordinates, and RowSums hold
// value, gradient (`linear`) and minus the Hessian (`curvature`) there.
class IntegratedGroups {
 public:
  explicit IntegratedGroups(const Problem& problem);  // one multiplier a row

  void sums(const State& state, RowSums& out, Host& host);

  Mat design() const { return c_; }  // (p, n) inside scale
  Vec multiplier() const { return z_; }

 private:
  struct Kink {
    Real at;   // t_i
    Index row;
  };
  struct Segment {
    Real low, high;  // of u
    Real a, b;       // log integrand of the rows: a + b u
    VecL slope;      // (p) its gradient in the coefficients
    Real mass;       // share of the integral
    Real first, second;  // integrals of u and u^2 over it, of the same whole
  };
  struct Line {  // a group's integrand along u
    std::vector<Kink> kinks;
    std::vector<Segment> segments;  // one more than kinks
    Real log_total;
    VecL density;   // at the kinks, of u given the rows
    VecL gradient;  // (p) of log_total
  };
  struct ScaleTerms {  // derivatives that touch log s
    Real slope, curvature;
    VecL cross;  // (p)
  };

  Line line(const std::vector<Index>& rows, const VecL& o, Real s2) const;
  void cut(const std::vector<Index>& rows, const VecL& o, Line& out) const;
  static void weigh(Real s2, Line& out);
  ScaleTerms scale_terms(const Line& line) const;
  ScaleTerms scale_differences(const std::vector<Index>& rows, const VecL& o, Real s2) const;
  void add_flat_rows(const std::vector<Index>& rows, const VecL& o, RowSums& out) const;
  void add_group(const std::vector<Index>& rows, const VecL& o, Real s2, RowSums& out) const;

  Mat c_;
  Vec z_, y_, weight_, offset_;
  std::vector<std::vector<Index>> groups_;  // rows of each
};

// log of the integral of exp(a + b u) N(u; 0, s2) over (low, high).
Real log_segment(Real a, Real b, Real low, Real high, Real s2);

// log of (1 - Phi(x)) / phi(x).
Real log_mills(Real x);

}  // namespace bsvm_test
