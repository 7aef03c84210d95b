#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <limits>
#include <map>
#include <sstream>

#include "block/dense.hpp"
#include "densities.hpp"
#include "integrated_groups.hpp"
#include "quadrature.hpp"
#include "rows/integrated/integrated_source.hpp"

using namespace bsvm_test;

namespace {

// A problem and a point (b, log s2) of it.
struct Point {
  const Problem& problem;
  IntegratedGroups source;
  Vec at;

  Point(const Problem& of, const Vec& b, double s2) : problem(of), source(of), at(b.size() + 1) {
    at << b, std::log(s2);
  }
  RowSums sums(const Vec& where) {
    State state(Layout{at.size(), 0, 0});
    state.mean() = where;
    RowSums out(at.size());
    Host host;
    source.sums(state, out, host);
    return out;
  }
};

// Where the integrand bends: at the kinks, and around them and zero on every scale.
std::vector<Real> breaks(const std::vector<Real>& kinks, Real s2, Real steepest) {
  const Real s = std::sqrt(s2), finest = 0.05L * std::min(s, 1 / steepest);
  std::vector<Real> out;
  for (int k = -80; k <= 80; ++k) out.push_back(s * k / 2);
  for (Real t : kinks) {
    out.push_back(t);
    for (Real step = finest; step < 60 * s; step *= 2) out.insert(out.end(), {t - step, t + step});
  }
  return out;
}

// What each row is given u: short of its margin by 1 - y (o + z u), if positive.
struct GroupRows {
  VecL y, o, z, weight;
  MatL c;  // (p, rows)

  GroupRows(const Point& point, Index group) {
    const Problem& problem = point.problem;
    std::vector<Index> rows;
    for (Index i = 0; i < problem.n; ++i)
      if (problem.group[i] == group) rows.push_back(i);
    const Index r = static_cast<Index>(rows.size()), p = point.at.size() - 1;
    const Mat design = point.source.design();
    for (VecL* v : {&y, &o, &z, &weight}) v->resize(r);
    c.resize(p, r);
    for (Index k = 0; k < r; ++k) {
      const Index i = rows[k];
      c.col(k) = design.col(i).cast<Real>();
      y[k] = problem.y[i];
      z[k] = point.source.multiplier()[i];
      weight[k] = problem.weight ? problem.weight[i] : 1;
      o[k] = (problem.offset ? problem.offset[i] : 0) + design.col(i).dot(point.at.head(p));
    }
  }

  VecL short_of(Real u) const {
    return (1 - y.array() * (o + u * z).array()).max(0);
  }
  std::vector<Node> nodes(Real s2) const {
    std::vector<Real> kinks;
    for (Index i = 0; i < y.size(); ++i)
      if (z[i] != 0) kinks.push_back((y[i] - o[i]) / z[i]);
    const Real steepest = 0.1L + 2 * weight.dot(z.cwiseAbs());
    return panel_nodes(breaks(kinks, s2, steepest));
  }
};

// The log of the group's integral and its gradient, by panels of Gauss-Legendre nodes.
VecL brute_force(const Point& point, Index group) {
  const GroupRows rows(point, group);
  const Index p = rows.c.rows();
  const Real s2 = std::exp(static_cast<Real>(point.at[p]));
  const std::vector<Node> nodes = rows.nodes(s2);
  const auto log_weight = [&](const Node& node) {
    return std::log(node.weight) + log_normal(node.x, s2) -
           2 * rows.weight.dot(rows.short_of(node.x));
  };
  Real largest = -std::numeric_limits<Real>::infinity();
  for (const Node& node : nodes) largest = std::max(largest, log_weight(node));
  VecL sums = VecL::Zero(p + 2);  // of one, and of the integrand's own gradient
  for (const Node& node : nodes) {
    const Real share = std::exp(log_weight(node) - largest);
    if (share < 1e-22L) continue;
    const VecL inside = (rows.short_of(node.x).array() > 0).cast<Real>();
    sums[0] += share;
    sums.segment(1, p) +=
        share * 2 * rows.c * rows.weight.cwiseProduct(rows.y).cwiseProduct(inside);
    sums[p + 1] += share * 0.5L * (node.x * node.x / s2 - 1);
  }
  sums.tail(p + 1) /= sums[0];
  sums[0] = largest + std::log(sums[0]);
  return sums;
}

void check_brute_force(Point& point, double value_tolerance, double gradient_tolerance) {
  VecL expected = VecL::Zero(point.at.size() + 1);
  for (Index g = 1; g <= point.problem.groups; ++g) expected += brute_force(point, g);
  RowSums sums = point.sums(point.at);
  CHECK(gap(sums.value(), expected[0]) < value_tolerance);
  CHECK(gap(sums.linear(), expected.tail(point.at.size())) < gradient_tolerance);
}

// Derivative of f(at) in one coordinate, to fourth order.
template <class F>
auto derivative(F f, const Vec& at, Index j, double h) -> decltype(f(at)) {
  const auto step = [&](double by) { return f(Vec(at + by * Vec::Unit(at.size(), j))); };
  return (8 * (step(h) - step(-h)) - (step(2 * h) - step(-2 * h))) / (12 * h);
}

Data small_data(bool ones = false) {
  Shape shape;
  shape.n = 40;
  shape.p = 3;
  shape.q = 1;
  shape.groups = 7;
  shape.ones = ones;
  shape.seed = 3;
  Data data = simulate(shape);
  data.z(5, 0) = data.z(17, 0) = 0;  // rows that do not see the effect
  return data;
}

const Vec kPoint = Eigen::Vector3d(-0.4, 0.9, -1.2);
const double kVariances[] = {1e-8, 1e-4, 0.01, 0.3, 1, 11, 300, 1e4, 1e5, 1e8};

void check_derivatives(Point& point, double gradient_tolerance, double hessian_tolerance) {
  RowSums sums = point.sums(point.at);
  for (Index j = 0; j < point.at.size(); ++j) {
    const double slope =
        derivative([&](const Vec& x) { return point.sums(x).value(); }, point.at, j, 1e-3);
    const Vec bend =
        derivative([&](const Vec& x) { return Vec(point.sums(x).linear()); }, point.at, j, 1e-4);
    CAPTURE(j);
    CHECK(std::abs(sums.linear()[j] - slope) < gradient_tolerance * (1 + std::abs(slope)));
    for (Index i = j; i < point.at.size(); ++i)
      CHECK(std::abs(sums.curvature()(i, j) + bend[i]) < hessian_tolerance * (1 + bend.norm()));
  }
}

}  // namespace

TEST_CASE("Mills' ratio is smooth where its formulas meet, and right far out") {
  CHECK(gap(log_mills(8 - 1e-9L), log_mills(8)) < 1e-9);
  CHECK(gap(log_mills(0), 0.5L * std::log(kPi / 2)) < 1e-17);
  CHECK(gap(log_mills(1e6L), -std::log(1e6L) - 1e-12L) < 1e-18);
}

TEST_CASE("integrated groups: value and gradient are the integral's, at any variance") {
  for (bool ones : {true, false}) {
    const Data data = small_data(ones);
    const Problem problem = usual_problem(data);
    for (double s2 : kVariances) {
      CAPTURE(s2);
      Point point(problem, kPoint, s2);
      check_brute_force(point, 1e-10, 1e-8);
    }
  }
}

TEST_CASE("integrated groups: gradient and curvature are the value's derivatives") {
  for (bool ones : {true, false}) {
    const Data data = small_data(ones);
    const Problem problem = usual_problem(data);
    for (double s2 : kVariances) {
      CAPTURE(s2);
      Point point(problem, kPoint, s2);
      check_derivatives(point, 1e-7, 1e-5);
    }
  }
}

TEST_CASE("integrated groups: without spread of the effects, rows separate again") {
  const Data data = small_data();
  const Problem problem = usual_problem(data);
  Point point(problem, kPoint, 1e-30);
  const Arr f = data.offset + point.source.design().transpose() * kPoint;
  const Arr short_of = (1 - data.y.array() * f).max(0);
  CHECK(gap(point.sums(point.at).value(), -2 * (data.weight.array() * short_of).sum()) < 1e-12);
}

TEST_CASE("integrated groups: the same sums take Newton's method to the certified mode") {
  const Data data = small_data(true);
  const Problem problem = usual_problem(data);
  Point point(problem, Vec::Zero(3), 2);
  for (int pass = 0; pass < 30; ++pass) {  // b ~ N(0, 10 I), s2 fixed: concave
    RowSums sums = point.sums(point.at);
    const Vec b = point.at.head(3);
    Mat curvature = sums.curvature().topLeftCorner(3, 3).selfadjointView<Eigen::Lower>();
    curvature.diagonal().array() += 0.1;
    const Vec slope = sums.linear().head(3) - 0.1 * b;
    const Vec step = product(inverse(curvature.cast<Real>()), slope.cast<Real>()).cast<double>();
    point.at.head(3) += step / std::max(1.0, step.norm());
  }
  RowSums sums = point.sums(point.at);
  CHECK((sums.linear().head(3) - 0.1 * point.at.head(3)).norm() < 1e-10);
}

namespace {

bool no_toenail() {
  if (std::getenv("BSVM_TOENAIL")) return false;
  std::cout << "The case with the toenail trial is skipped: BSVM_TOENAIL names no csv file.\n";
  return true;
}

// The columns of a csv file that are asked for.
Mat read_csv(const char* path, const std::vector<std::string>& names) {
  std::ifstream file(path);
  std::string line, cell;
  std::vector<double> cells;
  std::vector<std::string> header;
  std::getline(file, line);
  for (std::istringstream row(line); std::getline(row, cell, ',');) header.push_back(cell);
  while (std::getline(file, line))
    for (std::istringstream row(line); std::getline(row, cell, ',');)
      cells.push_back(std::stod(cell));
  const Index width = static_cast<Index>(header.size());
  const Mat all =
      Eigen::Map<const Mat>(cells.data(), width, static_cast<Index>(cells.size()) / width);
  Mat out(all.cols(), static_cast<Index>(names.size()));
  for (size_t k = 0; k < names.size(); ++k)
    out.col(k) = all.row(std::find(header.begin(), header.end(), names[k]) - header.begin());
  return out;
}

// One, month, terbinafine and their product; the patients' codes in order of appearance.
Data toenail() {
  const Mat csv = read_csv(std::getenv("BSVM_TOENAIL"), {"y", "patient", "month", "terbinafine"});
  Data data;
  data.shape.n = csv.rows();
  data.shape.p = 4;
  data.shape.q = 1;
  data.shape.ones = true;
  data.shape.weights = data.shape.offset = false;
  data.x.resize(csv.rows(), 4);
  data.x << Vec::Ones(csv.rows()), csv.rightCols(2), csv.col(2).cwiseProduct(csv.col(3));
  data.center = Vec::Zero(4);
  data.scale = Vec::Ones(4);
  data.y = 2 * csv.col(0).array() - 1;
  std::map<double, int> codes;
  for (Index i = 0; i < csv.rows(); ++i)
    data.group.push_back(
        codes.emplace(csv(i, 1), static_cast<int>(codes.size()) + 1).first->second);
  data.shape.groups = static_cast<Index>(codes.size());
  return data;
}

}  // namespace

TEST_CASE("integrated groups: the toenail trial at stated parameters" *
          doctest::skip(no_toenail())) {
  const Data data = toenail();
  REQUIRE(data.shape.n == 1908);
  REQUIRE(data.shape.groups == 294);
  const Problem problem = usual_problem(data);
  const Vec outside = Eigen::Vector4d(-1.1, -0.3, -0.1, -0.1);  // near the posterior's centre
  Point point(problem, outside.cwiseQuotient(problem.blocks[0]->unit()), 11);
  check_brute_force(point, 1e-10, 1e-8);
  check_derivatives(point, 1e-7, 1e-5);
  // The core's own sums, whose last coordinate is log s.
  Problem own = usual_problem(data);
  own.integrated = 0;
  IntegratedSource source(own, 2);
  Vec at = point.at;
  at[4] /= 2;
  RowSums sums(5), expected = point.sums(point.at);
  Host host;
  source.sums(at, Depth::curvature, sums, host);
  const Vec scale = (Vec(5) << 1, 1, 1, 1, 2).finished();
  const Mat curvature = sums.curvature().selfadjointView<Eigen::Lower>();
  const Mat twin = expected.curvature().selfadjointView<Eigen::Lower>();
  CHECK(gap(sums.value(), expected.value()) < 1e-13);
  CHECK(gap(sums.linear(), expected.linear().cwiseProduct(scale)) < 1e-11);
  CHECK(gap(curvature, scale.asDiagonal() * twin * scale.asDiagonal()) < 1e-9);
}
