#include <doctest/doctest.h>

#include <cstring>

#include "base/error.hpp"
#include "fitting.hpp"
#include "hosts.hpp"
#include "rows/sparse/sparse_source.hpp"
#include "rows/sparse/sparse_variance.hpp"
#include "sparse_data.hpp"

using namespace bsvm_test;

namespace {

Shape shape_of(Index n, Index p) {
  Shape out;
  out.n = n;
  out.p = p;
  return out;
}

// Correlated within a term, as a joint prior would give.
Mat effect_precision(const SparseData& data, double scale) {
  Mat out = Mat::Zero(data.effects(), data.effects());
  Index first = 0;
  for (const SparseTerm& term : data.terms) {
    auto block = out.block(first, first, term.effects, term.effects);
    block.setConstant(0.3 * scale);
    block.diagonal().array() += scale * (0.8 + 0.1 * static_cast<double>(first));
    first += term.effects;
  }
  return out;
}

// A source and the oracle, moved together on the inside scale.
struct SideBySide {
  SparseData data;
  Problem problem;
  SparseSource source;
  State state;
  RowSums sums;
  Mat moments;
  SparseOracle oracle;
  Host host;

  explicit SideBySide(SparseData from, double scale = 1, int threads = 1)
      : data(std::move(from)), problem(data.problem()), source(problem, Use::augmented, threads),
        state(Layout{source.pattern().root(), data.effects(), 0}), sums(state.layout.p),
        oracle(data, problem, source.pattern().order, source.pattern().leading) {
    const Index p = data.data.shape.p;
    state.damping() = 1;
    state.group_prior() = effect_precision(data, scale);
    oracle.set_prior(data, state.group_prior(), Vec::LinSpaced(p, 0.4, 0.9));
  }

  // The engine adds the priors of the dense columns.
  MatL without_dense_prior(MatL root) const {
    const Index p = data.data.shape.p;
    root.bottomRightCorner(p, p).diagonal() -= Vec::LinSpaced(p, 0.4, 0.9).cast<Real>();
    return root;
  }

  void advance(double fraction) {
    const Index p = state.layout.p;
    oracle.advance(state.damping(), fraction);
    state.inverse_factor() = oracle.inverse_factor().cast<double>();
    state.step() = oracle.step.head(p).cast<double>();
    state.mean() += fraction * state.step();
    state.fraction() = fraction;
    state.begun() = 1;
    moments = source.settle(state, Settle::advance, fraction);
  }

  void shorten(double change) {
    oracle.shorten(change);
    state.mean() += change * state.step();
    moments = source.settle(state, Settle::shorten, change);
  }
};

constexpr double kTight = 1e-11;

MatL schur(const MatL& a, Index p) {
  const Index rest = a.rows() - p;
  return a.topLeftCorner(p, p) -
         product(product(a.topRightCorner(p, rest), inverse(a.bottomRightCorner(rest, rest))),
                 a.bottomLeftCorner(rest, p));
}

void check_sums(SideBySide& both) {
  SparseOracle& oracle = both.oracle;
  both.source.sums(both.state, both.sums, both.host);
  const TermsL rows = oracle.terms();
  const Real damping = both.state.damping();
  const MatL next = oracle.precision(rows.weight);
  const MatL newton =
      oracle.precision(rows.curvature + damping * (rows.weight - rows.curvature));
  const Index p = oracle.p, lead = oracle.lead, dense = both.data.data.shape.p;
  VecL gradient = oracle.c.transpose() * rows.slope;
  const VecL pull = oracle.prior * oracle.mean;
  gradient.tail(lead) -= pull.tail(lead);
  gradient.head(p - dense) -= pull.head(p - dense);
  const VecL reach = inverse(newton.bottomRightCorner(lead, lead)) * gradient.tail(lead);
  const VecL linear = gradient.head(p) - newton.topRightCorner(p, lead) * reach;
  CHECK(gap(both.sums.value(), rows.value.sum()) < kTight);
  CHECK(both.sums.rows() == static_cast<double>(both.data.n()));
  CHECK(gap(both.sums.linear(), linear) < kTight);
  CHECK(gap(lower(both.sums.weight()), lower(both.without_dense_prior(schur(next, p)))) < kTight);
  CHECK(gap(lower(both.sums.curvature()), lower(both.without_dense_prior(schur(newton, p)))) <
        kTight);
  const Real logdet =
      2 * lower_factor(next.bottomRightCorner(lead, lead)).diagonal().array().log().sum();
  CHECK(std::abs(both.sums.group_logdet() - static_cast<double>(logdet)) < 1e-11);
  CHECK(
      std::abs(both.sums.group_decrement() - static_cast<double>(gradient.tail(lead).dot(reach))) <
      kTight * (1 + both.sums.group_decrement()));
  if (!oracle.begun) return;
  const double change = static_cast<double>(oracle.leading_divergence(next));
  CHECK(std::abs(both.sums.group_change() - change) < 1e-9 * change + 1e-13);
}

MatL expected_moments(const SideBySide& both) {
  const SparseOracle& oracle = both.oracle;
  MatL out = MatL::Zero(both.data.effects(), both.data.effects());
  Index column = 0, effect = 0;
  for (const SparseTerm& term : both.data.terms) {
    for (Index level = 0; level < term.levels; ++level, column += term.effects)
      for (Index a = 0; a < term.effects; ++a)
        for (Index b = 0; b < term.effects; ++b) {
          const Index i = oracle.at_column(column + a), j = oracle.at_column(column + b);
          out(effect + a, effect + b) +=
              oracle.mean[i] * oracle.mean[j] + oracle.covariance(i, j);
        }
    effect += term.effects;
  }
  return out;
}

void check_groups(SideBySide& both) {
  CHECK(gap(both.moments, expected_moments(both)) < kTight);
  both.source.keep();
  const GroupPosterior groups = both.source.groups();
  for (Index j = 0; j < both.data.columns(); ++j) {
    const Index at = both.oracle.at_column(j);
    CHECK(std::abs(groups.effect[j] - static_cast<double>(both.oracle.mean[at])) < kTight);
    CHECK(gap(groups.effect_sd[j], std::sqrt(both.oracle.covariance(at, at))) < kTight);
  }
}

// L of the groups' posterior and the root's: the precision of all, the dense on the outside.
void check_kept_factor(SideBySide& both) {
  const SparseFactor factor = both.source.groups().factor;
  const Index columns = both.data.columns(), lead = factor.leading;
  const Index size = both.oracle.size(), root = size - lead;
  MatL l = MatL::Zero(size, size);
  for (Index k = 0; k < lead; ++k)
    for (int t = factor.start[k]; t < factor.start[k + 1]; ++t)
      l(factor.row[t], k) = factor.value[t];
  VecL unit = VecL::Ones(size);
  unit.tail(size - columns) = both.problem.blocks[0]->unit().cast<Real>();
  l.bottomRightCorner(root, root) =
      lower_factor(inverse(both.oracle.covariance.topLeftCorner(root, root)));
  l.bottomRightCorner(root, root) = unit.tail(root).cwiseInverse().asDiagonal() *
                                    MatL(l.bottomRightCorner(root, root));
  const MatL found = product(l, l.transpose());
  MatL expected(size, size);
  const auto at = [&](Index k) { return k < columns ? both.oracle.at(k) : root - size + k; };
  for (Index i = 0; i < size; ++i)
    for (Index j = 0; j < size; ++j)
      expected(i, j) = both.oracle.previous(at(i), at(j)) / unit[i] / unit[j];
  CHECK(gap(found, expected) < kTight);
}

void check_passes(SparseData data, double scale = 1) {
  SideBySide both(std::move(data), scale);
  CAPTURE(both.source.pattern().leading);
  CAPTURE(both.source.pattern().root());
  CAPTURE(both.source.pattern().tail());
  for (double damping : {1.0, 0.25, 0.0625}) {
    both.state.damping() = damping;
    check_sums(both);
    both.advance(damping < 1 ? 0.5 : 1);
    check_groups(both);
  }
  check_kept_factor(both);
  both.shorten(-0.375);
  check_groups(both);
  check_sums(both);
}

}  // namespace

TEST_CASE("crossed factors are eliminated as by brute force") {
  check_passes(crossed(shape_of(120, 3), {12, 9}));
  check_passes(crossed(shape_of(200, 2), {50, 5}));
  check_passes(crossed(shape_of(90, 0), {8, 7, 4}));
  Shape plain = shape_of(90, 2);
  plain.weights = plain.offset = false;
  check_passes(crossed(plain, {9, 4}));
}

TEST_CASE("nested factors with slopes are eliminated as by brute force") {
  check_passes(nested(shape_of(150, 3), 5, 20));
  check_passes(nested(shape_of(90, 1), 2, 30));
}

TEST_CASE("sparse predictors, slopes and factors together") {
  check_passes(mixed(shape_of(110, 2)));
}

TEST_CASE("accuracy at moderate and at large prior precision") {
  for (double scale : {1e-3, 1e4, 1e10}) check_passes(crossed(shape_of(90, 2), {9, 6}), scale);
}

TEST_CASE("a pass that was interrupted leaves the source as it was") {
  SideBySide both(crossed(shape_of(6000, 2), {40, 30}));
  check_sums(both);
  both.advance(1);
  for (int patience : {0, 3, 20}) {
    ImpatientHost host(patience);
    CHECK_THROWS_AS(both.source.sums(both.state, both.sums, host), Interrupted);
  }
  check_sums(both);
  both.advance(0.5);
  check_groups(both);
}

TEST_CASE("the number of threads does not change a bit") {
  const SparseData data = crossed(shape_of(30000, 3), {900, 40});
  const Problem problem = data.problem();
  std::vector<Vec> found;
  for (int threads : {1, 2, 4}) {
    SparseSource source(problem, Use::augmented, threads);
    Options options;
    options.max_passes = 4;
    Host host;
    found.push_back(engine_vb()->run(problem, source, options, host).state.x);
  }
  for (const Vec& x : found) CHECK(same_bits(x, found[0]));
}

TEST_CASE("one factor: the same fit as by eliminating its groups one by one") {
  Shape shape = shape_of(300, 3);
  shape.q = 2;
  shape.groups = 25;
  const Data data = simulate(shape);
  for (bool joint : {false, true}) {
    std::vector<PriorSpec> priors = usual_group_priors(2);
    if (joint)
      priors = {{"huang_wand",
                 Params("huang_wand", {{"effects", 2}, {"df", 2}, {"scale_1", 1}, {"scale_2", 2}}),
                 {0, 1}, 0}};
    Problem problem = to_problem(data, usual_priors(3), priors);
    for (PriorSlot& slot : problem.group_priors) slot.levels = 25;
    const Fit expected = fit(problem);

    Shape dense = shape;
    dense.q = dense.groups = 0;
    SparseData sparse(dense);
    sparse.data = data;
    sparse.data.shape = dense;
    std::vector<int> codes(data.group);
    for (int& code : codes) --code;
    sparse.add_factor(codes, 25, data.z);
    const Problem same = sparse.problem(priors);
    SparseSource source(same, Use::augmented, 1);
    Host host;
    const Fit found = fit(same, source, exact_options(), host);
    CHECK(found.result.bound == doctest::Approx(expected.result.bound).epsilon(1e-12));
    CHECK(gap(found.outside.mean, expected.outside.mean) < 1e-9);
    CHECK(gap(found.outside.covariance, expected.outside.covariance) < 1e-9);
    CHECK(gap(found.result.groups.effect,
              Eigen::Map<const Vec>(expected.outside.groups.mean.data(), 50)) < 1e-9);
    CHECK(gap(found.result.state.hyper(), expected.result.state.hyper()) < 1e-9);
    CHECK(found.result.trace.size() < expected.result.trace.size() + 10);
  }
}

namespace {

Twin sparse_twin(const SparseData& data) {
  const Index p = data.data.shape.p, columns = data.columns();
  Twin twin{Oracle(data.data, data.data.design(), Mat()), {}};
  twin.q.c.conservativeResize(Eigen::NoChange, p + columns);
  twin.q.c.rightCols(columns) = data.dense().cast<Real>();
  twin.q.prior = MatL::Identity(p + columns, p + columns);
  twin.q.mean = twin.q.step = VecL::Zero(p + columns);
  twin.priors = {fixed_variance(100, {0}), inferred_variance(0.7, 0.4, range(1, p))};
  Index column = p, effect = 0;
  for (const SparseTerm& term : data.terms) {
    for (Index a = 0; a < term.effects; ++a, ++effect) {
      std::vector<Index> at;
      for (Index level = 0; level < term.levels; ++level)
        at.push_back(column + level * term.effects + a);
      twin.priors.push_back(inferred_variance(0.5, 0.3 + 0.1 * static_cast<double>(effect), at));
    }
    column += term.levels * term.effects;
  }
  return twin;
}

void check_fit(const SparseData& data) {
  const Problem problem = data.problem();
  SparseSource source(problem, Use::augmented, 1);
  Host host;
  const Fit found = fit(problem, source, exact_options(), host);
  Twin twin = sparse_twin(data);
  CHECK(twin.run(5000, 1e-13L) <= 5000);
  const Index p = data.data.shape.p;
  CHECK(found.result.end == Termination::converged);
  CHECK(gap(found.result.bound, twin.bound()) < 1e-11);
  CHECK(gap(found.outside.mean, twin.q.mean.head(p)) < 1e-8);
  CHECK(gap(found.outside.covariance, twin.q.covariance.topLeftCorner(p, p)) < 1e-8);
  CHECK(gap(found.result.groups.effect, twin.q.mean.tail(data.columns())) < 1e-8);
  CHECK(gap(found.result.groups.effect_sd,
            twin.q.covariance.diagonal().tail(data.columns()).cwiseSqrt()) < 1e-8);
}

}  // namespace

TEST_CASE("whole fits are the papers' algorithm's: crossed, nested, slopes, predictors") {
  check_fit(crossed(shape_of(120, 3), {9, 6}));
  check_fit(nested(shape_of(120, 2), 3, 10));
  check_fit(mixed(shape_of(120, 2)));
}

TEST_CASE("variances of any rows come from the kept factor and the root's inverse") {
  for (SparseData data : {crossed(shape_of(120, 3), {12, 9}), mixed(shape_of(110, 2))}) {
    SideBySide both(std::move(data));
    check_sums(both);
    both.advance(1);
    both.source.keep();
    const SparseOracle& oracle = both.oracle;
    const Index columns = both.data.columns(), p = both.data.data.shape.p, rows = 30;
    SparseData any(shape_of(rows, 0));
    Noise noise(21);
    Mat z = Mat::Zero(rows, columns), x(rows, p);
    for (Index i = 0; i < rows; ++i) {
      for (Index k = 0; k < i % 5; ++k) z(i, noise.below(columns)) = noise.normal();
      x.row(i) = noise.normals(p).transpose();
    }
    any.add_predictors(z);
    MatL c = MatL::Zero(rows, oracle.size());
    const Vec unit = both.problem.blocks[0]->unit();
    for (Index j = 0; j < columns; ++j) c.col(oracle.at_column(j)) = z.col(j).cast<Real>();
    c.middleCols(oracle.p - p, p) = (x * unit.asDiagonal()).cast<Real>();
    Mat root = both.state.inverse_factor();
    root.rightCols(p) = (root.rightCols(p) * unit.asDiagonal()).eval();
    Host host;
    const Vec found =
        linear_variances(both.source.groups().factor, root, any.view(), x, host);
    const VecL expected = product(c, oracle.covariance).cwiseProduct(c).rowwise().sum();
    CHECK(gap(found, expected) < kTight);
    ImpatientHost impatient(0);
    CHECK_THROWS_AS(linear_variances(both.source.groups().factor, root, any.view(), x, impatient),
                    Interrupted);
    CHECK_THROWS_AS(linear_variances(both.source.groups().factor, root, any.view(),
                                     x.leftCols(p - 1), host), InvalidInput);
  }
}

TEST_CASE("a damaged factor is refused, not followed") {
  SideBySide both(crossed(shape_of(120, 2), {12, 9}));
  check_sums(both);
  both.advance(1);
  both.source.keep();
  const SparseFactor good = both.source.groups().factor;
  SparseData any(shape_of(3, 0));
  any.add_predictors(Mat::Ones(3, both.data.columns()));
  const Mat x = Mat::Ones(3, 2), root = both.state.inverse_factor();
  Host host;
  CHECK(linear_variances(good, root, any.view(), x, host).minCoeff() > 0);
  const auto refused = [&](const SparseFactor& factor) {
    CHECK_THROWS_AS(linear_variances(factor, root, any.view(), x, host), InvalidInput);
  };
  SparseFactor bad = good;
  bad.row[1] = 1000;
  refused(bad);
  bad = good;
  std::swap(bad.row[0], bad.row[1]);
  refused(bad);
  bad = good;
  bad.start[1] = 100000;
  refused(bad);
  bad = good;
  bad.order[0] = bad.order[1];
  refused(bad);
  bad = good;
  bad.value.pop_back();
  refused(bad);
  bad = good;
  bad.leading += 1;
  refused(bad);
  CHECK_THROWS_AS(linear_variances(good, root.leftCols(2), any.view(), x, host), InvalidInput);
}
