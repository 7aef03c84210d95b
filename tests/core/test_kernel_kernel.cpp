// What every registered kernel must do, and the values of each against a plain loop of its formula.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "components.hpp"
#include "kernel/kernel.hpp"
#include "linalg/dense.hpp"
#include "oracle.hpp"

using namespace bsvm_test;

namespace {

constexpr Index kVariables = 3;

// k(x, v) at theta, of one pair of points.
using Formula = std::function<Real(const VecL& x, const VecL& v, const VecL& theta)>;

struct KernelCase {
  std::string name;
  std::map<std::string, double> numbers;
  Vec square;
  Formula formula;  // none of a kernel that is not known here

  std::unique_ptr<Kernel> make() const {
    std::map<std::string, Params::Array> arrays;
    if (square.size() > 0) arrays.emplace("square", Params::Array(square.data(), square.size(), 1));
    return Registry<Kernel>::make(name, Params(name, numbers, arrays));
  }
};

// Squared distance over squared length scales, whose logarithms theta begins with.
Real scaled_square(const VecL& x, const VecL& v, const VecL& theta, bool ard) {
  Real out = 0;
  for (Index k = 0; k < kVariables; ++k)
    out += std::pow((x[k] - v[k]) / std::exp(theta[ard ? k : 0]), 2);
  return out;
}

Formula radial(bool ard, const std::function<Real(Real r, Real a)>& of) {
  return [=](const VecL& x, const VecL& v, const VecL& theta) {
    const Real a = std::exp(theta[theta.size() - 1]);
    return of(std::sqrt(scaled_square(x, v, theta, ard)), a);
  };
}

Formula periodic(bool ard) {
  return [=](const VecL& x, const VecL& v, const VecL& theta) {
    Real sum = 0;
    for (Index k = 0; k < kVariables; ++k) {
      const Real period = std::exp(theta[(ard ? kVariables : 1) + k]);
      sum += std::pow(std::sin(std::acos(Real(-1)) * (x[k] - v[k]) / period) /
                      std::exp(theta[ard ? k : 0]), 2);
    }
    return std::exp(-2 * sum);
  };
}

Formula poly(bool ard, int degree, Real offset, const Vec& square, Real mean) {
  return [=](const VecL& x, const VecL& v, const VecL& theta) {
    Real u = 0, s = 0;
    for (Index k = 0; k < kVariables; ++k) {
      const Real scale = ard ? std::exp(2 * theta[k]) : 1;
      u += x[k] * v[k] / scale;
      s += Real(square[k]) / scale;
    }
    return std::pow((offset * s + u) / ((offset + 1) * s), degree) / mean;
  };
}

struct Inputs {
  Mat x, v;  // (3, n), (3, m): two columns of v are one of x, two are equal, one is near
};

Inputs inputs(Index n = 13, Index m = 9, double shift = 0) {
  Noise draws(21);
  Mat x(kVariables, n), v(kVariables, m);
  for (Index i = 0; i < n; ++i) x.col(i) = draws.normals(kVariables);
  for (Index j = 0; j < m; ++j) v.col(j) = draws.normals(kVariables);
  x.col(5) = x.col(2);
  v.col(1) = x.col(2);
  v.col(4) = v.col(1);
  v.col(6) = x.col(7);
  v(0, 6) += 1e-6;
  return {x.array() + shift, v.array() + shift};
}

Vec mean_square(const Mat& x) { return x.cwiseAbs2().rowwise().mean(); }

Mat weights(Index n, Index m) {
  Mat out(n, m);
  Noise draws(22);
  for (Index j = 0; j < m; ++j) out.col(j) = draws.normals(n);
  return out;
}

// Matern 1/2.
bool is_half(const KernelCase& one) {
  return one.numbers.count("nu") > 0 && one.numbers.at("nu") == 0.5;
}

std::vector<KernelCase> known_kernels() {
  std::vector<KernelCase> out;
  const Vec square = mean_square(inputs().x);
  for (bool ard : {false, true}) {
    const std::map<std::string, double> plain{{"variables", kVariables}, {"ard", ard}};
    const auto with = [&](std::map<std::string, double> more) {
      more.insert(plain.begin(), plain.end());
      return more;
    };
    out.push_back({"se", plain, {},
                   radial(ard, [](Real r, Real) { return std::exp(-r * r / 2); })});
    out.push_back({"matern", with({{"nu", 0.5}}), {},
                   radial(ard, [](Real r, Real) { return std::exp(-r); })});
    out.push_back({"matern", with({{"nu", 1.5}}), {}, radial(ard, [](Real r, Real) {
                     return (1 + std::sqrt(Real(3)) * r) * std::exp(-std::sqrt(Real(3)) * r);
                   })});
    out.push_back({"matern", with({{"nu", 2.5}}), {}, radial(ard, [](Real r, Real) {
                     return (1 + std::sqrt(Real(5)) * r + 5 * r * r / 3) *
                            std::exp(-std::sqrt(Real(5)) * r);
                   })});
    out.push_back({"rational", plain, {}, radial(ard, [](Real r, Real a) {
                     return std::pow(1 + r * r / (2 * a), -a);
                   })});
    out.push_back({"periodic", plain, {}, periodic(ard)});
    for (int degree : {1, 2, 3}) {
      const double offset = degree == 1 ? 0 : 0.7, mean = degree == 1 ? 1 : 1.3;
      std::map<std::string, double> numbers = with({{"degree", degree}, {"offset", offset}});
      if (degree > 1) numbers["mean"] = mean;
      out.push_back({"poly", numbers, square, poly(ard, degree, offset, square, mean)});
    }
  }
  return out;
}

// Those and what else is registered.
std::vector<KernelCase> all_kernels() {
  std::vector<KernelCase> out = known_kernels();
  for (const std::string& name : Registry<Kernel>::names()) {
    bool known = false;
    for (const KernelCase& one : out) known = known || one.name == name;
    if (known) continue;
    KernelCase more{name, {{"variables", kVariables}, {"ard", 1}}, mean_square(inputs().x), {}};
    const auto made = make_any<Kernel>(name, 0.8, more.numbers);  // refused: list it above
    out.push_back(more);
  }
  return out;
}

Vec some_theta(const Kernel& kernel) {
  Vec out(kernel.size());
  for (Index k = 0; k < out.size(); ++k) {
    const double at = static_cast<double>(k);
    out[k] = 0.3 + 0.4 * std::sin(2 * at);
  }
  return out;
}

template <class Visit>
void each_kernel(const std::vector<KernelCase>& kernels, Visit visit) {
  for (const KernelCase& one : kernels) {
    std::string label = one.name;
    for (const auto& number : one.numbers)
      label += " " + number.first + " " + std::to_string(number.second);
    CAPTURE(label);
    const auto kernel = one.make();
    visit(*kernel, one);
  }
}

MatL formula_values(const Formula& of, const MatL& x, const MatL& v, const VecL& theta) {
  MatL out(x.cols(), v.cols());
  for (Index j = 0; j < v.cols(); ++j)
    for (Index i = 0; i < x.cols(); ++i) out(i, j) = of(x.col(i), v.col(j), theta);
  return out;
}

Mat values(const Kernel& kernel, const Mat& x, const Mat& v, const Vec& theta) {
  Mat out;
  kernel.values(x, v, theta, out);
  return out;
}

// Derivative at zero, to fourth order.
template <class T, class F>
T slope_of(F f, T h) {
  return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h);
}

}  // namespace

TEST_CASE("kernel: values are those of the formula") {
  each_kernel(known_kernels(), [](const Kernel& kernel, const KernelCase& one) {
    const Vec theta = some_theta(kernel);
    for (double shift : {0.0, 40.0}) {
      if (shift > 0 && one.name == "poly") continue;
      for (Index n : {13, 900}) {  // many rows: several panels
        const Inputs at = inputs(n, 21, shift);
        const MatL expected = formula_values(one.formula, at.x.cast<Real>(), at.v.cast<Real>(),
                                             theta.cast<Real>());
        const Mat found = values(kernel, at.x, at.v, theta);
        CHECK((found.cast<Real>() - expected).cwiseAbs().maxCoeff() < 1.5e-14);
        const Vec diagonal = kernel.diagonal(at.x, theta);
        for (Index i = 0; i < n; ++i)
          CHECK(gap(diagonal[i], one.formula(at.x.col(i).cast<Real>(), at.x.col(i).cast<Real>(),
                                             theta.cast<Real>())) < 2e-15);
      }
    }
  });
}

TEST_CASE("kernel: pulls are slopes of the formula's sums, coincident points among them") {
  const Inputs at = inputs();
  const Index n = at.x.cols(), m = at.v.cols();
  const Mat weight = weights(n, m);
  const MatL x = at.x.cast<Real>(), v = at.v.cast<Real>(), w = weight.cast<Real>();
  each_kernel(known_kernels(), [&](const Kernel& kernel, const KernelCase& one) {
    const Vec theta = some_theta(kernel);
    const VecL wide = theta.cast<Real>(), row_weights = w.col(0);
    const bool half = is_half(one);  // of near points its slopes in r2 are huge
    const Vec pull = kernel.pull(at.x, at.v, theta, weight);
    const Vec diagonal = kernel.diagonal_pull(at.x, theta, weight.col(0));
    REQUIRE(pull.size() == kernel.size());
    REQUIRE(diagonal.size() == kernel.size());
    VecL expected(kernel.size()), expected_diagonal(kernel.size());
    const Real h = 5e-5L;
    for (Index k = 0; k < kernel.size(); ++k) {
      const auto moved = [&](Real step) {
        VecL out = wide;
        out[k] += step;
        return out;
      };
      expected[k] = slope_of<Real>([&](Real step) {
        return formula_values(one.formula, x, v, moved(step)).cwiseProduct(w).sum();
      }, h);
      expected_diagonal[k] = slope_of<Real>([&](Real step) {
        return formula_values(one.formula, x, x, moved(step)).diagonal().dot(row_weights);
      }, h);
    }
    CHECK((pull.cast<Real>() - expected).norm() <
          (half ? 1e-10 : 1e-13) * (1 + expected.norm()));
    CHECK((diagonal.cast<Real>() - expected_diagonal).norm() <
          1e-13 * (1 + expected_diagonal.norm()));

    // Where two points meet Matern kernels are less smooth: steps of one length on either side say
    // zero, and must be much shorter than the distance of the points that are near.
    const bool matern = one.name == "matern";
    const Real step_in = matern ? 1e-8L : 5e-5L;
    MatL expected_inputs(kVariables, m);
    for (Index j = 0; j < m; ++j)
      for (Index d = 0; d < kVariables; ++d)
        expected_inputs(d, j) = slope_of<Real>([&](Real step) {
          MatL point = v.col(j);
          point(d, 0) += step;
          return formula_values(one.formula, x, point, wide).cwiseProduct(w.col(j)).sum();
        }, step_in);
    const Mat found = kernel.input_pull(at.x, at.v, theta, weight);
    CHECK(gap(found, expected_inputs) < (matern ? 1e-10 : 2e-14));
  });
}

TEST_CASE("kernel: pulls are slopes of its own values, in several panels") {
  const Inputs at = inputs(900, 21);
  const Mat weight = weights(900, 21);
  each_kernel(all_kernels(), [&](const Kernel& kernel, const KernelCase& one) {
    const Vec theta = some_theta(kernel);
    const Vec pull = kernel.pull(at.x, at.v, theta, weight);
    const double h = 2e-4;
    for (Index k = 0; k < kernel.size(); ++k) {
      const double expected = slope_of<double>([&](double step) {
        Vec moved = theta;
        moved[k] += step;
        return values(kernel, at.x, at.v, moved).cwiseProduct(weight).sum();
      }, h);
      CHECK(std::abs(pull[k] - expected) < 1e-9 * (1 + std::abs(expected)));
    }
    if (is_half(one)) return;  // kinks
    const Mat inputs_pull = kernel.input_pull(at.x, at.v, theta, weight);
    REQUIRE(inputs_pull.cols() == 21);
    for (Index j : {0, 1, 8, 9, 20})
      for (Index d = 0; d < kVariables; ++d) {
        const double expected = slope_of<double>([&](double step) {
          Mat point = at.v.col(j);
          point(d, 0) += step;
          return values(kernel, at.x, point, theta).col(0).dot(weight.col(j));
        }, h);
        CHECK(std::abs(inputs_pull(d, j) - expected) < 1e-8 * (1 + std::abs(expected)));
      }
  });
}

TEST_CASE("kernel: it is symmetric, positive definite and of unit mean variance") {
  const Inputs at = inputs(40);
  each_kernel(all_kernels(), [&](const Kernel& kernel, const KernelCase& one) {
    CHECK(kernel.variables() == kVariables);
    const Vec theta = some_theta(kernel);
    const Mat k = values(kernel, at.x, at.x, theta);
    CHECK((k - k.transpose()).cwiseAbs().maxCoeff() < 1e-14);
    CHECK((k.diagonal() - kernel.diagonal(at.x, theta)).cwiseAbs().maxCoeff() < 1e-14);
    CHECK(SymmetricEigen(k).values.minCoeff() > -1e-12 * static_cast<double>(k.rows()));
    if (one.name != "poly") CHECK(std::abs(k.diagonal().mean() - 1) < 1e-15);
  });
  // Polynomials: over the rows they were made for, at l = 1.
  for (int degree : {1, 2, 3}) {
    KernelCase one{"poly",
                   {{"variables", kVariables}, {"ard", 1}, {"degree", degree}, {"offset", 0.4}},
                   mean_square(at.x), {}};
    one.numbers["mean"] = one.make()->diagonal(at.x, Vec::Zero(kVariables)).mean();
    CHECK(std::abs(one.make()->diagonal(at.x, Vec::Zero(kVariables)).mean() - 1) < 1e-15);
    if (degree == 1) CHECK(std::abs(one.numbers["mean"] - 1) < 1e-15);
  }
}

TEST_CASE("kernel: equal length scales are one length scale") {
  const Inputs at = inputs();
  const Mat weight = weights(at.x.cols(), at.v.cols());
  const std::vector<KernelCase> all = known_kernels();
  const std::size_t half = all.size() / 2;
  for (std::size_t k = 0; k < half; ++k) {
    CAPTURE(all[k].name);
    const auto one = all[k].make(), each = all[k + half].make();
    const Vec theta = some_theta(*one);
    const Index scales = one->size() == 0 ? 0 : 1, rest = one->size() - scales;
    Vec all_scales(each->size());
    all_scales << Vec::Constant(kVariables, scales ? theta[0] : 0.7), theta.tail(rest);
    CHECK(gap(values(*each, at.x, at.v, all_scales), values(*one, at.x, at.v, theta)) < 1e-15);
    const Vec pull = one->pull(at.x, at.v, theta, weight);
    const Vec pulls = each->pull(at.x, at.v, all_scales, weight);
    const double sum = pulls.head(kVariables).sum();
    CHECK(std::abs(sum - (scales ? pull[0] : 0)) <
          (is_half(all[k]) ? 1e-10 : 1e-13) * (1 + std::abs(sum)));
    if (rest > 0) CHECK(gap(pulls.tail(rest), pull.tail(rest)) < 1e-14);
    CHECK((each->input_pull(at.x, at.v, all_scales, weight) -
           one->input_pull(at.x, at.v, theta, weight)).cwiseAbs().maxCoeff() < 1e-13);
  }
}

TEST_CASE("kernel: any finite theta gives finite numbers") {
  const Inputs at = inputs();
  const Mat weight = weights(at.x.cols(), at.v.cols());
  each_kernel(all_kernels(), [&](const Kernel& kernel, const KernelCase&) {
    for (double size : {-1e4, -300.0, -40.0, 40.0, 300.0, 1e4})
      for (double other : {-1e4, 0.0, 1e4}) {
        CAPTURE(size);
        CAPTURE(other);
        Vec theta = Vec::Constant(kernel.size(), size);
        if (theta.size() > 1) theta[theta.size() - 1] = other;
        const Mat found = values(kernel, at.x, at.v, theta);
        CHECK(found.allFinite());
        CHECK(kernel.diagonal(at.x, theta).allFinite());
        CHECK(kernel.pull(at.x, at.v, theta, weight).allFinite());
        CHECK(kernel.input_pull(at.x, at.v, theta, weight).allFinite());
      }
  });
}

TEST_CASE("kernel: without rows or without points there is nothing to sum") {
  const Inputs at = inputs();
  const Mat none(kVariables, 0);
  each_kernel(all_kernels(), [&](const Kernel& kernel, const KernelCase&) {
    const Vec theta = some_theta(kernel);
    CHECK(values(kernel, none, at.v, theta).rows() == 0);
    CHECK(values(kernel, at.x, none, theta).cols() == 0);
    CHECK(kernel.pull(none, at.v, theta, Mat(0, at.v.cols())).isZero(0));
    CHECK(kernel.input_pull(at.x, none, theta, Mat(at.x.cols(), 0)).cols() == 0);
    CHECK(kernel.input_pull(none, at.v, theta, Mat(0, at.v.cols())).isZero(0));
  });
}

TEST_CASE("kernel: squared distances are exact where points meet, and far from zero") {
  for (double shift : {0.0, 1e6}) {
    const Inputs at = inputs(50, 30, shift);
    const Mat found = squared_distances(at.x, at.v);
    MatL expected(50, 30);
    for (Index j = 0; j < 30; ++j)
      for (Index i = 0; i < 50; ++i)
        expected(i, j) = (at.x.col(i).cast<Real>() - at.v.col(j).cast<Real>()).squaredNorm();
    CHECK(found(2, 1) == 0);
    CHECK(found(5, 4) == 0);
    CHECK(gap(found(7, 6), expected(7, 6)) < (shift > 0 ? 1e-3 : 1e-9));
    CHECK(((found.cast<Real>() - expected).array().abs() <= 1e-11L * (expected.array() + 1e-3L))
              .all());
    CHECK(found.minCoeff() == 0);
  }
}

TEST_CASE("kernel: what a kernel cannot be made from is refused") {
  const auto make = [](const std::string& name, std::map<std::string, double> numbers) {
    return Registry<Kernel>::make(name, Params(name, numbers));
  };
  CHECK_THROWS_AS(make("se", {{"variables", 1.5}, {"ard", 0}}), InvalidInput);
  CHECK_THROWS_AS(make("se", {{"variables", 0}, {"ard", 0}}), InvalidInput);
  CHECK_THROWS_AS(make("se", {{"variables", 2}}), InvalidInput);
  CHECK_THROWS_AS(make("se", {{"variables", 2}, {"ard", 2}}), InvalidInput);
  CHECK_THROWS_AS(make("matern", {{"variables", 2}, {"ard", 0}, {"nu", 1}}), InvalidInput);
  std::map<std::string, double> poly{{"variables", 2}, {"ard", 0}, {"degree", 2}, {"offset", 1}};
  CHECK_THROWS_AS(make("poly", poly), InvalidInput);  // no `square`
  for (const auto& wrong : std::map<std::string, double>{{"degree", 1.5}, {"offset", -1}}) {
    std::map<std::string, double> numbers = poly;
    numbers[wrong.first] = wrong.second;
    const Vec square = Vec::Ones(2);
    CHECK_THROWS_AS(Registry<Kernel>::make("poly", Params("poly", numbers,
                        {{"square", Params::Array(square.data(), 2, 1)}})), InvalidInput);
  }
  const Vec square = Vec::Unit(2, 0);
  CHECK_THROWS_AS(Registry<Kernel>::make("poly", Params("poly", poly,
                      {{"square", Params::Array(square.data(), 2, 1)}})), InvalidInput);
}
