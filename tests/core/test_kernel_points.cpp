// Inducing inputs and features of a Gaussian process, against plain algebra in long double.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "hosts.hpp"
#include "kernel/points.hpp"
#include "oracle.hpp"

using namespace bsvm_test;

namespace {

std::unique_ptr<Kernel> kernel_of(const char* name, std::map<std::string, double> more = {}) {
  more.insert({{"variables", 2}, {"ard", 0}});
  return Registry<Kernel>::make(name, Params(name, more));
}

// Two of these rows are one of the others each.
Mat some_inputs(Index n) {
  Noise noise(12);
  Mat out(2, n);
  for (Index i = 0; i < n; ++i) out.col(i) = noise.normals(2);
  out.col(n - 1) = out.col(2);
  out.col(n - 2) = out.col(5);
  return out;
}

MatL values(const Kernel& kernel, const Mat& x, const Mat& v, const Vec& theta) {
  Mat out;
  kernel.values(x, v, theta, out);
  return out.cast<Real>();
}

MatL picked(const MatL& a, const std::vector<Index>& rows, const std::vector<Index>& columns) {
  MatL out(rows.size(), columns.size());
  for (Index j = 0; j < out.cols(); ++j)
    for (Index i = 0; i < out.rows(); ++i) out(i, j) = a(rows[i], columns[j]);
  return out;
}

// What points leave over of each variance, from the whole of K.
VecL plain_left_over(const MatL& k, const std::vector<Index>& points) {
  if (points.empty()) return k.diagonal();
  const MatL across = picked(k, range(0, k.rows()), points);
  const MatL solved = product(inverse(picked(k, points, points)), across.transpose());
  return k.diagonal() - across.cwiseProduct(solved.transpose()).rowwise().sum();
}

}  // namespace

TEST_CASE("points: each is where those before leave most over, of the whole covariance") {
  const Mat x = some_inputs(40);
  Host host;
  for (const char* name : {"se", "matern"})
    for (const double log_length : {-1.5, 0.0, 1.0}) {
      CAPTURE(log_length);
      const auto kernel = kernel_of(name, {{"nu", 1.5}});
      const Vec theta = Vec::Constant(1, log_length);
      const MatL k = values(*kernel, x, x, theta);
      const ChosenPoints chosen = choose_points(*kernel, x, theta, 15, 1e-7, host);
      std::vector<Index> before;
      for (const Index point : chosen.points) {
        const VecL left = plain_left_over(k, before);
        CHECK(left[point] > left.maxCoeff() - 1e-13);
        CHECK(left[point] > 1e-7L);
        before.push_back(point);
      }
      const VecL left = plain_left_over(k, before);
      if (before.size() < 15) CHECK(left.maxCoeff() < 1.0001e-7L);
      CHECK((chosen.left_over.cast<Real>() - left).cwiseAbs().maxCoeff() < 1e-12);
      CHECK(chosen.left_over.minCoeff() >= 0);
      // variances add up, and features have the covariance that points explain
      const MatL f = chosen.features.cast<Real>();
      CHECK(gap(f.cwiseAbs2().rowwise().sum() + chosen.left_over.cast<Real>(), k.diagonal()) <
            1e-14);
      const MatL across = picked(k, range(0, 40), before);
      const MatL explained =
          product(across, product(inverse(picked(k, before, before)), across.transpose()));
      CHECK((product(f, f.transpose()) - explained).cwiseAbs().maxCoeff() < 1e-10);
    }
}

TEST_CASE("points: repeated inputs are never chosen twice") {
  Host host;
  const Mat three = some_inputs(8).leftCols(3);
  Mat x(2, 30);
  for (Index i = 0; i < 30; ++i) x.col(i) = three.col(i % 3);
  const auto kernel = kernel_of("se");
  const ChosenPoints chosen = choose_points(*kernel, x, Vec::Zero(1), 30, 0, host);
  CHECK(chosen.points.size() == 3);
  CHECK(chosen.left_over.maxCoeff() < 1e-15);
  for (const double log_length : {-6.0, 0.0, 3.0}) {
    const Mat many = some_inputs(50);
    const ChosenPoints all =
        choose_points(*kernel, many, Vec::Constant(1, log_length), 50, 1e-8, host);
    std::set<std::pair<double, double>> seen;
    for (const Index i : all.points) seen.insert({many(0, i), many(1, i)});
    CHECK(seen.size() == all.points.size());
    CHECK(all.points.size() <= 48);
    CHECK(all.features.rows() == 50);
    CHECK(all.features.cols() == static_cast<Index>(all.points.size()));
    if (log_length < -5) CHECK(all.points.size() == 48);  // rows far apart are all of them
    if (log_length > 2) CHECK(all.points.size() < 20);    // a smooth function has few
  }
}

TEST_CASE("points: as many as asked for, the first the same for any number") {
  Host host;
  const auto kernel = kernel_of("se");
  const Mat x = some_inputs(40);
  const ChosenPoints many = choose_points(*kernel, x, Vec::Zero(1), 20, 1e-8, host);
  for (const Index most : {0, 1, 5, 20}) {
    const ChosenPoints some = choose_points(*kernel, x, Vec::Zero(1), most, 1e-8, host);
    REQUIRE(static_cast<Index>(some.points.size()) == most);
    CHECK(std::equal(some.points.begin(), some.points.end(), many.points.begin()));
    CHECK(some.features == many.features.leftCols(most));
    CHECK((some.left_over - many.left_over).minCoeff() > -1e-15);
  }
  ImpatientHost impatient(3);
  CHECK_THROWS_AS(choose_points(*kernel, x, Vec::Zero(1), 20, 1e-8, impatient), Interrupted);
}

// Kernels whose variance differs by input.
TEST_CASE("points: a polynomial has as many as it has dimensions") {
  Host host;
  const Mat x = some_inputs(30);
  const Vec square = x.cwiseAbs2().rowwise().mean();
  const std::map<std::string, Params::Array> arrays{{"square", Params::Array(square.data(), 2, 1)}};
  for (const int degree : {1, 2, 3}) {
    const auto kernel = Registry<Kernel>::make(
        "poly", Params("poly", {{"variables", 2}, {"ard", 0}, {"degree", degree}, {"offset", 0.5},
                                {"mean", 1.1}}, arrays));
    const ChosenPoints chosen = choose_points(*kernel, x, Vec(), 30, 1e-9, host);
    CHECK(static_cast<int>(chosen.points.size()) == (degree + 1) * (degree + 2) / 2);
    CHECK(gap(chosen.features.rowwise().squaredNorm() + chosen.left_over,
              kernel->diagonal(x, Vec())) < 1e-14);
  }
}

TEST_CASE("points: features of new inputs have the covariance of their conditional means") {
  Host host;
  const Mat v = some_inputs(14).leftCols(12), x = some_inputs(40);
  for (const char* name : {"se", "matern"}) {
    const auto kernel = kernel_of(name, {{"nu", 2.5}});
    const Vec theta = Vec::Constant(1, -0.2);
    const Features features(*kernel, v, theta, host);
    REQUIRE(features.columns() == 12);
    Mat a(12, 40);
    features.fill(x, a);
    const Vec left = features.left_over(x, a);
    MatL inner = values(*kernel, v, v, theta);
    inner.diagonal().array() += 1e-8L;  // as little as it takes
    const MatL across = values(*kernel, x, v, theta);
    const MatL explained = product(across, product(inverse(inner), across.transpose()));
    CHECK((product(a.transpose().cast<Real>(), a.cast<Real>()) - explained)
              .cwiseAbs().maxCoeff() < 1e-13);
    CHECK((left.array() + a.colwise().squaredNorm().transpose().array() - 1)
              .abs().maxCoeff() < 1e-10);
    CHECK(left.minCoeff() >= 0);
    Mat own(12, 12);
    features.fill(v, own);
    CHECK(features.left_over(v, own).maxCoeff() < 1e-7);  // nothing at the points themselves
    Mat far(12, 1);
    const Mat away = Mat::Constant(2, 1, 1e3);
    features.fill(away, far);
    CHECK(far.norm() == 0);
    CHECK(features.left_over(away, far)[0] == 1);
  }
}

TEST_CASE("points: features of a row have the same bits whatever rows stand beside it") {
  Host host;
  Noise noise(7);
  for (const double d : {1.0, 3.0})
    for (const char* name : {"se", "matern", "periodic"}) {
      std::map<std::string, double> numbers{{"variables", d}, {"ard", 0}};
      if (name == std::string("matern")) numbers["nu"] = 1.5;
      const auto kernel = Registry<Kernel>::make(name, Params(name, numbers));
      Mat v(static_cast<Index>(d), 11), x(v.rows(), 85);
      for (Mat* of : {&v, &x})
        for (Index i = 0; i < of->cols(); ++i) of->col(i) = noise.normals(of->rows());
      const Features features(*kernel, v, Vec::Constant(kernel->size(), -0.3), host);
      Mat all(11, 85), part(11, 85);
      features.fill(x, all);
      for (Index first = 0, r = 1; first < 85; first += r, r = std::min<Index>(r + 2, 85 - first))
        features.fill(x.middleCols(first, r), part.middleCols(first, r));
      CHECK(part == all);
    }
}

// A column of tiny numbers alone had no scale, and a fit of it no precision.
TEST_CASE("points: features are zero or large enough to have a scale") {
  Host host;
  const auto kernel = kernel_of("se");
  Mat x(2, 400);
  x.row(0).setLinSpaced(400, 0, 40);
  x.row(1).setZero();
  const Mat v = x.leftCols(1);
  const Features features(*kernel, v, Vec::Zero(1), host);
  Mat a(1, 400);
  features.fill(x, a);
  const auto sound = [](const Mat& of) {
    return (of.array() == 0 || of.array().abs() >= 1e-100).all();
  };
  CHECK(sound(a));
  CHECK((a.array() != 0).count() == 215);  // exp(-r^2/2) >= 1e-100
  const ChosenPoints chosen = choose_points(*kernel, x, Vec::Zero(1), 3, 1e-9, host);
  CHECK(sound(chosen.features));
  CHECK((chosen.features.array() == 0).any());
}

TEST_CASE("points: a covariance that is singular has a root all the same, others are refused") {
  Host host;
  Mat k = Mat::Ones(6, 6) * 3;
  const Mat root = covariance_root(k, host);
  CHECK((root * root.transpose() - k).cwiseAbs().maxCoeff() < 3.1e-8);
  CHECK((root * root.transpose() - k - 3e-8 * Mat::Identity(6, 6)).cwiseAbs().maxCoeff() < 1e-14);
  k(0, 0) = k(1, 1) = 3 - 5e-6;  // by more than 1e-6 of the mean below
  const Mat more = covariance_root(k, host);
  const double raised = (more * more.transpose() - k).diagonal().mean() / k.diagonal().mean();
  CHECK(raised == doctest::Approx(1e-5).epsilon(1e-3));
  k(0, 0) = 1;
  CHECK_THROWS_AS(covariance_root(k, host), NumericalFailure);
  k(0, 0) = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(covariance_root(k, host), NumericalFailure);
}
