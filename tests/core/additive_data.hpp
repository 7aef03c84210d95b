#pragma once
#include <Eigen/LU>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "expectation.hpp"
#include "gaussian_twin.hpp"
#include "learn/additive.hpp"
#include "pair_law.hpp"

// Additive models of few rows, and their bound in long double by plain inversion.
namespace bsvm_test {

inline constexpr const char* kAdditiveLikelihoods[] = {"hinge", "hinge_normalized",
                                                       "eps_insensitive", "normal"};

inline bool of_classes(const std::string& likelihood) {
  return likelihood.compare(0, 5, "hinge") == 0;
}

// log p(y | f) at a likelihood's numbers, and its expectation under f ~ N(m, v).
struct AdditiveLaw {
  std::string name;
  Vec theta;

  PairLaw pair() const {
    const Real s = std::exp(Real(theta[0])), epsilon = s * std::exp(Real(theta[1]));
    return {1 / s, 1 / s, epsilon, epsilon};
  }
  Real log_p(Real y, Real f) const {
    if (of_classes(name)) return law_of(name.c_str()).log_p(y, f);
    if (name == "normal") return log_normal(y - f, std::exp(2 * Real(theta[0])));
    return pair().log_p(y - f);
  }
  Real expected(Real y, Real m, Real v) const {
    if (name == "normal") return log_p(y, m) - v / 2 * std::exp(-2 * Real(theta[0]));
    if (name == "eps_insensitive") return expected_pair(pair(), y - m, v).value;
    return expectation([&](Real g) { return law_of(name.c_str()).log_p(1, g); }, y * m, v);
  }
  // dl/dm and -2 dl/dv by differences of the fourth order.
  Real slope(Real y, Real m, Real v) const {
    return difference([&](Real h) { return expected(y, m + h, v); }, 1e-3L * std::sqrt(v));
  }
  Real weight(Real y, Real m, Real v) const {
    return -2 * difference([&](Real h) { return expected(y, m, v + h); }, 1e-3L * v);
  }
  static Real difference(const std::function<Real(Real)>& f, Real h) {
    return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h);
  }
  std::vector<Real> kinks(Real y) const {
    if (name == "hinge") return {y};
    if (name == "hinge_normalized") return {-1, 1};
    if (name == "normal") return {y};
    return {y - pair().e1, y + pair().e2};
  }
};

// A summand as its parts, so that models can be made of it again and again.
struct SummandSpec {
  std::string kernel;  // or empty
  std::map<std::string, double> numbers;
  Mat inputs, features, inducing;
  Vec multiplier;
  Vec square;                         // of polynomials' variables
  Vec start;                          // log s and the kernel's numbers
  std::vector<bool> length, free;     // of these
  Index points = 0;

  std::unique_ptr<Kernel> make() const {
    if (kernel.empty()) return nullptr;
    std::map<std::string, Params::Array> arrays;
    if (square.size() > 0) arrays.emplace("square", Params::Array(square.data(), square.size(), 1));
    return Registry<Kernel>::make(kernel, Params(kernel, numbers, arrays));
  }
};

struct AdditiveSpec {
  Vec y, weight, offset;  // the latter two may be empty
  Mat fixed;
  Vec variance;
  std::vector<SummandSpec> summands;
  std::string likelihood;
  Vec likelihood_start;  // of its numbers, which are free

  Index n() const { return y.size(); }

  AdditiveModel model() const {
    AdditiveModel out;
    out.n = n();
    out.y = y.data();
    out.weight = weight.size() > 0 ? weight.data() : nullptr;
    out.offset = offset.size() > 0 ? offset.data() : nullptr;
    out.fixed = fixed.size() > 0 ? fixed : Mat(n(), 0);
    out.variance = variance;
    for (const SummandSpec& spec : summands) {
      Summand one;
      one.kernel = spec.make();
      one.inputs = spec.inputs;
      one.features = spec.features;
      one.inducing = spec.inducing;
      one.multiplier = spec.multiplier;
      one.points = spec.points;
      for (Index k = 0; k < one.size(); ++k) {
        FreeNumber number;
        number.start = spec.start[k];
        number.length = spec.length[k];
        if (spec.free[k] && k == 0)
          number.prior = prior("half_t", {{"df", 3}, {"scale", 2.5}});
        else if (spec.free[k])
          number.prior = prior("log_normal", {{"median", 1.3}, {"sd", 1}});
        out.numbers.push_back(std::move(number));
      }
      out.summands.push_back(std::move(one));
    }
    out.likelihood = Registry<Likelihood>::make(likelihood, Params());
    for (Index k = 0; k < likelihood_start.size(); ++k) {
      FreeNumber number;
      number.start = likelihood_start[k];
      number.prior = k == 0 ? prior("half_t", {{"df", 3}, {"scale", 1.5}})
                            : prior("beta", {{"shape1", 1.5}, {"shape2", 2}});
      out.numbers.push_back(std::move(number));
    }
    return out;
  }

  static std::unique_ptr<Prior> prior(const char* name, std::map<std::string, double> numbers) {
    return Registry<Prior>::make(name, Params(name, std::move(numbers)));
  }

  AdditiveLaw law(const Vec& theta) const {
    return {likelihood, theta.tail(likelihood_start.size())};
  }
};

// Squared exponential of inputs (d, n).
inline SummandSpec se_summand(const Mat& inputs, double log_sd, const Vec& log_lengths) {
  SummandSpec out;
  const bool ard = log_lengths.size() > 1;
  out.kernel = "se";
  out.numbers = {{"variables", static_cast<double>(inputs.rows())}, {"ard", ard ? 1.0 : 0.0}};
  out.inputs = inputs;
  out.start = Vec(1 + log_lengths.size());
  out.start << log_sd, log_lengths;
  out.length.assign(out.start.size(), true);
  out.length[0] = false;
  out.free.assign(out.start.size(), true);
  return out;
}

inline SummandSpec feature_summand(const Mat& features, double log_sd) {
  SummandSpec out;
  out.features = features;
  out.start = Vec::Constant(1, log_sd);
  out.length = {false};
  out.free = {true};
  return out;
}

// Some rows and columns, or entries, of a.
template <class A>
A picked(const A& a, const std::vector<Index>& rows, const std::vector<Index>& columns) {
  A out(rows.size(), columns.size());
  for (Index j = 0; j < out.cols(); ++j)
    for (Index i = 0; i < out.rows(); ++i) out(i, j) = a(rows[i], columns[j]);
  return out;
}
template <class A>
A picked(const A& a, const std::vector<Index>& rows) {
  return picked(a, rows, {0});
}

inline Mat normal_matrix(Index rows, Index columns, Noise& noise) {
  Mat out(rows, columns);
  for (Index j = 0; j < columns; ++j) out.col(j) = noise.normals(rows);
  return out;
}

// Rows of a wavy function of two inputs. `everything`: a fixed column, a feature summand, a
// multiplier, a rational kernel, weights and an offset too.
inline AdditiveSpec wavy(Index n, const char* likelihood, bool everything,
                         std::uint64_t seed = 5) {
  Noise noise(seed);
  AdditiveSpec out;
  out.likelihood = likelihood;
  const Mat x = normal_matrix(2, n, noise);
  out.summands.push_back(
      se_summand(x, 0.4, everything ? Vec(Vec::LinSpaced(2, -0.1, 0.5)) : Vec::Constant(1, 0.1)));
  out.y = Vec(n);
  for (Index i = 0; i < n; ++i)
    out.y[i] = 1.5 * std::sin(2 * x(0, i)) + x(1, i) + 0.6 * noise.normal();
  if (of_classes(likelihood)) out.y = out.y.unaryExpr([](double y) { return y > 0 ? 1.0 : -1.0; });
  if (std::strcmp(likelihood, "normal") == 0) out.likelihood_start = Vec::Constant(1, -0.6);
  if (std::strcmp(likelihood, "eps_insensitive") == 0)
    out.likelihood_start = (Vec(2) << -0.9, 0.2).finished();
  if (!everything) return out;
  out.weight = Vec(n);
  for (Index i = 0; i < n; ++i) out.weight[i] = 0.4 + 1.5 * noise.uniform();
  out.offset = 0.3 * noise.normals(n);
  out.fixed = normal_matrix(n, 2, noise);
  out.fixed.col(0).setOnes();
  out.variance = (Vec(2) << 8, 0.7).finished();
  out.summands.push_back(feature_summand(normal_matrix(n, 3, noise), -0.5));
  SummandSpec more = se_summand(normal_matrix(1, n, noise), -0.2, Vec::Constant(1, 0.2));
  more.kernel = "rational";
  more.start = (Vec(3) << -0.2, 0.2, 0.1).finished();
  more.length = {false, true, false};
  more.free = {true, true, true};
  more.multiplier = noise.normals(n);
  out.summands.push_back(more);
  return out;
}

// The prior covariance of f.
inline MatL prior_covariance(const AdditiveSpec& spec, const Vec& theta) {
  const Index n = spec.n();
  MatL out = MatL::Zero(n, n);
  Index first = 0;
  for (const SummandSpec& one : spec.summands) {
    const Real variance = std::exp(2 * Real(theta[first]));
    MatL k(n, n);
    if (one.kernel.empty()) {
      k = product(one.features.cast<Real>(), one.features.cast<Real>().transpose());
    } else {
      Mat values(n, n);
      one.make()->values(one.inputs, one.inputs, theta.segment(first + 1, one.start.size() - 1),
                         values);
      k = values.cast<Real>();
      for (Index i = 0; i < n && one.multiplier.size() > 0; ++i) {
        k.row(i) *= Real(one.multiplier[i]);
        k.col(i) *= Real(one.multiplier[i]);
      }
    }
    out += variance * k;
    first += one.start.size();
  }
  for (Index j = 0; j < spec.fixed.cols(); ++j) {
    const VecL x = spec.fixed.col(j).cast<Real>();
    out += Real(spec.variance[j]) * (x * x.transpose());
  }
  return out;
}

inline Real row_weight(const AdditiveSpec& spec, Index i) {
  return spec.weight.size() > 0 ? spec.weight[i] : 1;
}
inline Real row_offset(const AdditiveSpec& spec, Index i) {
  return spec.offset.size() > 0 ? spec.offset[i] : 0;
}

inline Real log_determinant(const MatL& a) {
  return 2 * lower_factor(a).diagonal().array().log().sum();
}

// Of q(f) with these slopes alpha and weights w: m = K alpha and S = (K^-1 + W)^-1, which is
// (I + K W)^-1 K where K has no inverse. w may have either sign.
struct PlainBound {
  VecL m;
  MatL covariance;
  Real bound;
};
inline PlainBound plain_bound(const AdditiveSpec& spec, const Vec& theta, const VecL& alpha,
                              const VecL& w) {
  const MatL k = prior_covariance(spec, theta);
  MatL ratio = k * w.asDiagonal();
  ratio.diagonal().array() += 1;
  const Eigen::PartialPivLU<MatL> factor(ratio);
  const MatL share = factor.inverse();  // of S in K
  PlainBound out;
  out.covariance = product(share, k);
  out.m = product(k, alpha).col(0);
  out.bound = -0.5L * (share.trace() + alpha.dot(out.m) - Real(spec.n()) +
                       factor.matrixLU().diagonal().array().abs().log().sum());
  const AdditiveLaw law = spec.law(theta);
  for (Index i = 0; i < spec.n(); ++i) {
    out.m[i] += row_offset(spec, i);
    out.bound += row_weight(spec, i) * law.expected(spec.y[i], out.m[i], out.covariance(i, i));
  }
  return out;
}

}  // namespace bsvm_test
