// The sparse factor against dense algebra in long double.
#include <doctest/doctest.h>

#include <numeric>

#include "base/error.hpp"
#include "linalg/sparse_cholesky.hpp"
#include "sparse_data.hpp"

using namespace bsvm_test;

namespace {

Shape shape_of(Index n, Index p) {
  Shape out;
  out.n = n;
  out.p = p;
  return out;
}

bool is_permutation(std::vector<int> order) {
  std::sort(order.begin(), order.end());
  for (size_t k = 0; k < order.size(); ++k)
    if (order[k] != static_cast<int>(k)) return false;
  return true;
}

// A precision over a problem's sparse and dense columns, as it is and by position.
struct Case {
  Graph graph;
  Levels levels;
  Index dense;
  MatL a;  // columns as in the problem, dense ones last

  Case(const SparseData& data, std::uint64_t seed)
      : graph(level_graph(data.view(), data.n(), Levels(data.view()))), levels(data.view()),
        dense(data.data.shape.p) {
    const Mat z = data.dense();
    Mat c(data.n(), z.cols() + dense);
    c << z, data.data.design();
    const Vec weight = Noise(seed).normals(data.n()).cwiseAbs();
    Mat effects = Mat::Constant(data.effects(), data.effects(), 0.4);
    effects.diagonal().setConstant(1.5);
    Mat prior = Mat::Identity(c.cols(), c.cols());
    prior.topLeftCorner(z.cols(), z.cols()) = level_precision(data, effects);
    const MatL wide = c.cast<Real>();
    a = product(wide.transpose() * weight.cast<Real>().asDiagonal(), wide) + prior.cast<Real>();
  }

  MatL permuted(const SparsePattern& pattern) const {
    std::vector<int> order(pattern.order);
    for (Index j = 0; j < dense; ++j) order.push_back(static_cast<int>(pattern.columns + j));
    MatL out(a.rows(), a.cols());
    for (Index i = 0; i < a.rows(); ++i)
      for (Index j = 0; j < a.cols(); ++j) out(i, j) = a(order[i], order[j]);
    return out;
  }
};

SparseValues values_of(const SparsePattern& pattern, const MatL& a) {
  SparseValues out(pattern);
  for (Index k = 0; k < pattern.leading; ++k) {
    out.diagonal[k] = static_cast<double>(a(k, k));
    for (Index t = pattern.start[k]; t < pattern.start[k + 1]; ++t)
      out.below[t] = static_cast<double>(a(pattern.row[t], k));
    out.tail.col(k) = a.col(k).tail(pattern.tail()).cast<double>();
  }
  return out;
}

// Leading columns as a dense matrix, nothing but the diagonal and below.
MatL dense_of(const SparsePattern& pattern, const SparseValues& x) {
  MatL out = MatL::Zero(pattern.columns + pattern.dense, pattern.leading);
  for (Index k = 0; k < pattern.leading; ++k) {
    out(k, k) = x.diagonal[k];
    for (Index t = pattern.start[k]; t < pattern.start[k + 1]; ++t)
      out(pattern.row[t], k) = x.below[t];
    out.col(k).tail(pattern.tail()) = x.tail.col(k).cast<Real>();
  }
  return out;
}

const Poll kNobody = [] {};
constexpr double kTight = 1e-13;

struct Factored {
  SparseValues l;
  SparseInverse s;
  Mat root;  // what is left, lower triangle
};

Factored factored(const SparsePattern& pattern, const MatL& a) {
  Factored out{values_of(pattern, a), {SparseValues(pattern), Mat()}, Mat()};
  const Index root = pattern.root();
  out.root = a.bottomRightCorner(root, root).cast<double>();
  factor(pattern, out.l, kNobody);
  reduce(pattern, out.l, out.root, kNobody);
  out.s.root = inverse(MatL(lower(out.root).selfadjointView<Eigen::Lower>())).cast<double>();
  invert(pattern, out.l, out.s, kNobody);
  return out;
}

void check_factor(const SparsePattern& pattern, const MatL& a) {
  const Factored found = factored(pattern, a);
  const Index lead = pattern.leading, root = pattern.root();
  const MatL l = lower_factor(a);
  CHECK(gap(dense_of(pattern, found.l), l.leftCols(lead)) < kTight);
  const MatL corner = l.bottomRightCorner(root, root);
  CHECK(gap(lower(found.root), lower(product(corner, corner.transpose()))) < kTight);
  const Real logdet = 2 * l.diagonal().head(lead).array().log().sum();
  CHECK(std::abs(log_determinant(found.l) - static_cast<double>(logdet)) <
        1e-13 * static_cast<double>(lead + 1));
}

void check_solves(const SparsePattern& pattern, const MatL& a) {
  const Factored found = factored(pattern, a);
  const Index lead = pattern.leading;
  const VecL b = Noise(9).normals(a.rows()).cast<Real>();
  const VecL expected = inverse(a) * b;
  Vec x = b.cast<double>();
  forward(pattern, found.l, x);
  const VecL reduced = inverse(MatL(lower(found.root).selfadjointView<Eigen::Lower>())) *
                       x.tail(pattern.root()).cast<Real>();
  CHECK(gap(reduced, expected.tail(pattern.root())) < kTight * 10);
  x.tail(pattern.root()) = reduced.cast<double>();
  backward(pattern, found.l, x);
  CHECK(gap(x.head(lead), expected.head(lead)) < kTight * 10);
}

void check_inverse(const SparsePattern& pattern, const MatL& a) {
  const Factored found = factored(pattern, a);
  SparseValues ones(pattern);
  ones.diagonal.setOnes();
  ones.below.setOnes();
  ones.tail.setOnes();
  const MatL expected =
      inverse(a).leftCols(pattern.leading).cwiseProduct(dense_of(pattern, ones));
  CHECK(gap(dense_of(pattern, found.s.leading), expected) < kTight * 10);
}

void check_divergence(const SparsePattern& pattern, const MatL& a, Real change) {
  MatL next = a;  // a positive definite matrix with the same pattern
  next.diagonal() *= 1 + change;
  const Factored before = factored(pattern, a), after = factored(pattern, next);
  const auto distance = [](const MatL& s, const MatL& n) -> Real {
    return product(s, n).trace() - static_cast<Real>(n.rows()) -
           2 * (lower_factor(s).diagonal().array().log() +
                lower_factor(n).diagonal().array().log()).sum();
  };
  const MatL root = lower(after.root).selfadjointView<Eigen::Lower>();
  const Real expected = distance(inverse(a), next) -
                        distance(before.s.root.cast<Real>(), root);
  const double found = divergence(pattern, before.l, before.s, after.l, kNobody);
  CHECK(found >= 0);
  CHECK(std::abs(found - static_cast<double>(expected)) < 1e-13 + 1e-10 * found);
}

void check_pattern(const SparsePattern& pattern, const Case& of) {
  CHECK(is_permutation(pattern.order));
  CHECK(is_permutation(pattern.position));
  const MatL a = of.permuted(pattern);
  check_factor(pattern, a);
  check_solves(pattern, a);
  check_inverse(pattern, a);
  for (Real change : {0.5L, 1e-4L, 1e-8L}) check_divergence(pattern, a, change);
}

void check_case(const SparseData& data) {
  const Case of(data, 3);
  const std::vector<int> order = elimination_order(of.graph, of.levels.weight);
  CHECK(is_permutation(order));
  std::vector<int> reversed(order.rbegin(), order.rend());
  for (const std::vector<int>& each : {order, reversed})
    for (Index lead : {Index(0), Index(1), of.graph.nodes() / 2, of.graph.nodes()})
      for (bool full : {false, true}) {
        CAPTURE(lead);
        CAPTURE(full);
        check_pattern(pattern_of(of.graph, of.levels.weight, of.dense, {each, lead, full}), of);
      }
  check_pattern(analyse(of.graph, of.levels.weight, of.dense,
                        late_levels(of.graph, of.levels)), of);
}

}  // namespace

TEST_CASE("the sparse factor, solves and inverse are the dense ones: nested and crossed") {
  check_case(nested(shape_of(120, 3), 5, 20));
  check_case(crossed(shape_of(60, 2), {12, 9}));
  check_case(crossed(shape_of(90, 0), {7, 6, 5}));
}

TEST_CASE("the same with slopes, overlapping predictors and an empty column") {
  check_case(mixed(shape_of(70, 2)));
}

TEST_CASE("the same where columns are diagonal, and where there is one only") {
  check_case(crossed(shape_of(30, 1), {8}));
  check_case(crossed(shape_of(10, 0), {1}));
}

TEST_CASE("a random sparse matrix") {
  for (std::uint64_t seed : {1, 2, 3}) {
    SparseData data(shape_of(80, 1));
    Noise noise(seed);
    Mat x = Mat::Zero(80, 60);
    for (Index i = 0; i < 80; ++i)
      for (int k = 0; k < 3; ++k) x(i, noise.below(60)) = noise.normal();
    data.add_predictors(x);
    check_case(data);
  }
}

TEST_CASE("nested factors fill nothing in, and a hub does not either") {
  for (Index outer : {3, 400}) {
    const SparseData data = nested(shape_of(4000, 1), outer, 2000);
    const Levels levels(data.view());
    const Graph graph = level_graph(data.view(), data.n(), levels);
    const std::vector<int> order = elimination_order(graph, levels.weight);
    const SparsePattern pattern =
        pattern_of(graph, levels.weight, 1, {order, graph.nodes(), false});
    Index inner = 0;  // levels that have rows
    for (Index i = 0; i < 2000; ++i) inner += graph.degree(i) > 0;
    CHECK(static_cast<Index>(pattern.row.size()) <= 2000 + 2 * inner);
  }
}

TEST_CASE("of two factors crossed at random the larger is eliminated, the other is left") {
  const SparseData data = crossed(shape_of(8000, 2), {300, 200});
  const Levels levels(data.view());
  const Graph graph = level_graph(data.view(), data.n(), levels);
  const SparsePattern pattern = analyse(graph, levels.weight, 2, late_levels(graph, levels));
  CHECK(pattern.leading >= 299);
  CHECK(pattern.leading <= 310);
  for (Index k = 0; k < 299; ++k) CHECK(pattern.order[k] < 300);
}

TEST_CASE("a matrix that is not positive definite is refused") {
  const SparseData data = crossed(shape_of(60, 2), {12, 9});
  const Case of(data, 3);
  const SparsePattern pattern =
      pattern_of(of.graph, of.levels.weight, 2,
                 {elimination_order(of.graph, of.levels.weight), 10, false});
  const MatL a = of.permuted(pattern);
  for (double bad : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    SparseValues values = values_of(pattern, a);
    values.diagonal[4] = bad;
    CHECK_THROWS_AS(factor(pattern, values, kNobody), NumericalFailure);
  }
}
