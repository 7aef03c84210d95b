#pragma once
#include <functional>
#include <vector>

#include "integral/one/effect_integral.hpp"
#include "oracle.hpp"

// An effect integrated out by brute force: panels of nodes in long double, split at the kinks
// and around them on every scale.
namespace bsvm_test {

// Owns what EffectRows look at.
struct RowsData {
  Vec y, weight, o, z;
  Mat c;  // (d, r)

  EffectRows rows() const {
    return {y.data(), weight.size() > 0 ? weight.data() : nullptr, o.data(), z.data(), c.data(),
            c.rows(), y.size()};
  }
  double w(Index i) const { return weight.size() > 0 ? weight[i] : 1; }
};

// log p(y | f) and its slope in f, and where it is not smooth.
struct RowLaw {
  std::function<Real(Real y, Real f)> log_p, slope;
  std::vector<Real> kinks;  // of y f, or f - y
  bool number = false;      // is y a number?
  Real steepest = 4;        // |slope|, at most

  Real kink(Real y, Real k) const { return number ? y + k : y * k; }
};
extern const RowLaw kPseudo, kNormalised;

struct EffectTruth {
  Real value;
  VecL gradient;         // (d + 1) in (b, log s)
  Real mean, variance;   // of u
  VecL slope;            // (d) Cov(u, dl/db)
  std::vector<Real> cdf;
};
// Panels grow by `ratio` away from kinks; `at` (increasing) is where the distribution is wanted.
EffectTruth brute_force(const RowLaw& law, const RowsData& data, Real s,
                        const std::vector<double>& at = {}, Real ratio = 2);

// Two effects u = F e: log of the integral over both, and moments of u. second (r): what
// multiplies the other effect.
struct PairTruth {
  Real value;
  VecL mean;        // (2)
  MatL covariance;  // (2, 2)
};
PairTruth brute_force_pair(const RowLaw& law, const RowsData& data, const Vec& second, Real f00,
                           Real f10, Real f11);

// The same with b moved: o + C'b.
RowsData moved(const RowsData& data, const Vec& b);

// Of brute_force's gradient by differences: (d + 1, d + 1).
Mat brute_force_hessian(const RowLaw& law, const RowsData& data, Real s, double step = 1e-5);

}  // namespace bsvm_test
