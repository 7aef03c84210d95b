#include <doctest/doctest.h>

#include <cstring>
#include <memory>

#include "base/error.hpp"
#include "block/dense.hpp"
#include "coefficients/coefficients.hpp"
#include "hosts.hpp"
#include "oracle.hpp"
#include "rows/memory/memory_source.hpp"
#include "varying_block.hpp"

using namespace bsvm_test;

namespace {

Mat own_precision(Index q) {  // full, as a correlated prior would give
  Mat out = Mat::Constant(q, q, 0.3);
  for (Index a = 0; a < q; ++a) out(a, a) = 1.1 + static_cast<double>(a);
  return out;
}

Vec dense_precision(Index p) { return Vec::LinSpaced(p, 0.4, 0.9); }

// A source and the oracle, moved together on the inside scale.
struct SideBySide {
  Data data;
  Problem problem;
  MemorySource source;
  State state;
  RowSums sums;
  Mat moments;
  Oracle oracle;
  Host host;

  explicit SideBySide(const Shape& shape, double group_scale = 1, int threads = 1)
      : data(simulate(shape)), problem(usual_problem(data)),
        source(problem, Use::augmented, threads), state(Layout{shape.p, shape.q, 0}),
        sums(shape.p),
        oracle(data, inside(problem).transpose(),
               shape.q > 0 ? Mat(inside(*problem.multipliers, shape.n).transpose()) : Mat()) {
    state.damping() = 1;
    state.group_prior() = group_scale * own_precision(shape.q);
    oracle.set_group_prior(state.group_prior());
    for (Index j = 0; j < shape.p; ++j) oracle.prior(j, j) = dense_precision(shape.p)[j];
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

constexpr double kTight = 1e-12;

void check_sums(SideBySide& both) {
  both.source.sums(both.state, both.sums, both.host);
  const ReducedSums expected = both.oracle.reduce(both.state.damping());
  CHECK(gap(both.sums.value(), expected.value) < kTight);
  CHECK(both.sums.rows() == static_cast<double>(both.data.shape.n));
  CHECK(gap(both.sums.linear(), expected.linear) < kTight);
  CHECK(gap(lower(both.sums.weight()), lower(expected.weight)) < kTight);
  CHECK(gap(lower(both.sums.curvature()), lower(expected.curvature)) < kTight);
  CHECK(gap(both.sums.group_logdet(), expected.logdet) < kTight);
  CHECK(gap(both.sums.group_decrement(), expected.decrement) < kTight);
  // A sum of squares of differences, each good to the last bits of what it compares.
  CHECK(std::abs(both.sums.group_change() - expected.change) <=
        1e-13 * std::sqrt(expected.change) + 1e-28);
}

void check_groups(SideBySide& both) {
  CHECK(gap(both.moments, both.oracle.group_moments()) < kTight);
  both.source.keep();
  const GroupPosterior groups = both.source.groups();
  CHECK(gap(groups.mean, both.oracle.group_mean()) < kTight);
  CHECK(gap(groups.precision, both.oracle.group_precision()) < kTight);
  CHECK(gap(groups.regression, both.oracle.group_regression()) < kTight);
}

void check_passes(const Shape& shape, double group_scale = 1) {
  CAPTURE(shape.p);
  CAPTURE(shape.q);
  SideBySide both(shape, group_scale);
  for (double damping : {1.0, 0.25, 0.0625}) {
    both.state.damping() = damping;
    check_sums(both);
    both.advance(damping < 1 ? 0.5 : 1);
    check_groups(both);
  }
  both.shorten(-0.375);
  check_groups(both);
  check_sums(both);
}

Shape shape_of(Index n, Index p, Index q, Index groups, Index large = 0) {
  Shape out;
  out.n = n;
  out.p = p;
  out.q = q;
  out.groups = groups;
  out.large = large;
  return out;
}

}  // namespace

TEST_CASE("rows without groups add to the brute force sums") {
  check_passes(shape_of(130, 4, 0, 0));
  check_passes(shape_of(600, 1, 0, 0));
  Shape plain = shape_of(40, 2, 0, 0);
  plain.weights = plain.offset = false;
  check_passes(plain);
}

TEST_CASE("groups are eliminated as by brute force: a random intercept") {
  Shape shape = shape_of(150, 3, 1, 12);
  shape.ones = true;
  check_passes(shape);
  shape.weights = shape.offset = false;
  check_passes(shape);
}

TEST_CASE("groups are eliminated as by brute force: slopes, and a level longer than a block") {
  check_passes(shape_of(120, 3, 1, 9));
  check_passes(shape_of(600, 3, 2, 14, 300));
  check_passes(shape_of(90, 2, 4, 7));
}

TEST_CASE("a design of group effects alone has sums") { check_passes(shape_of(80, 0, 2, 8)); }

TEST_CASE("a problem without any coefficients has a value") {
  SideBySide both(shape_of(30, 0, 0, 0));
  check_sums(both);
}

TEST_CASE("elimination keeps its accuracy at moderate and at large prior precision") {
  for (double scale : {1e-3, 1e4, 1e12}) check_passes(shape_of(90, 3, 1, 8), scale);
}

TEST_CASE("nothing cancels in the elimination when the groups' prior is weak") {
  Shape shape = shape_of(90, 1, 1, 8);
  shape.ones = true;
  for (double precision : {1e-12, 1e-8, 1.0, 1e12}) {
    SideBySide both(shape, precision / 1.1);
    both.source.sums(both.state, both.sums, both.host);
    const VecL weight = both.oracle.terms().weight;
    Real expected = 0;  // s D / (s + D) a group, s the sum of the group's weights
    for (Index g = 1; g <= shape.groups; ++g) {
      Real sum = 0;
      for (Index i = 0; i < shape.n; ++i) sum += both.data.group[i] == g ? weight[i] : 0;
      expected += sum * both.state.group_prior()(0, 0) / (sum + both.state.group_prior()(0, 0));
    }
    const Real unit = both.problem.blocks[0]->unit()[0];
    CHECK(gap(both.sums.weight()(0, 0), unit * unit * expected) < kTight);
  }
}

TEST_CASE("weight two is a row seen twice") {
  Shape shape = shape_of(60, 3, 1, 6);
  shape.weights = false;
  const Data once = simulate(shape);
  shape.weights = true;
  Data heavy = once, twice = once;
  heavy.shape = shape;
  heavy.weight.setConstant(2);
  twice.shape.n = 2 * shape.n;
  const auto repeat = [](auto& a) { a = a.replicate(2, 1).eval(); };
  repeat(twice.x), repeat(twice.y), repeat(twice.z), repeat(twice.offset), repeat(twice.weight);
  twice.group.insert(twice.group.end(), once.group.begin(), once.group.end());
  Vec found[2];
  for (const Data* data : {&heavy, &twice}) {
    const Problem problem = usual_problem(*data);
    MemorySource source(problem, Use::augmented, 1);
    State state(Layout{3, 1, 0});
    state.damping() = 0.5;
    state.group_prior()(0, 0) = 2;
    RowSums sums(3);
    Host host;
    source.sums(state, sums, host);
    sums.rows() = 0;
    found[data == &twice] = sums.x;
  }
  CHECK(gap(found[0], found[1]) < kTight);
}

TEST_CASE("the number of threads does not change a bit") {
  Shape shape = shape_of(9000, 3, 2, 1500, 300);
  std::vector<Vec> found;
  for (int threads : {1, 2, 4}) {
    const Data data = simulate(shape);
    const Problem problem = usual_problem(data);
    MemorySource source(problem, Use::augmented, threads);
    State state(Layout{3, 2, 0});
    RowSums sums(3);
    Host host;
    state.damping() = 0.5;
    state.group_prior().setIdentity();
    for (int pass = 0; pass < 3; ++pass) {
      source.sums(state, sums, host);
      state.begun() = 1;
      state.inverse_factor() = 0.03 * Mat::Identity(3, 3);
      state.step() = 1e-4 * sums.linear();
      state.mean() += state.step();
      source.settle(state, Settle::advance, 1);
    }
    found.push_back(sums.x);
  }
  for (const Vec& x : found)
    CHECK(std::memcmp(x.data(), found[0].data(), sizeof(double) * x.size()) == 0);
}

TEST_CASE("a pass that was interrupted leaves the source as it was") {
  SideBySide both(shape_of(600, 3, 2, 14, 300)), calm(shape_of(600, 3, 2, 14, 300));
  check_sums(both);
  both.advance(1);
  ImpatientHost host(2);
  CHECK_THROWS_AS(both.source.sums(both.state, both.sums, host), Interrupted);
  check_sums(both);
  both.advance(0.5);
  check_groups(both);
}

TEST_CASE("an interrupt stops a pass at the next block") {
  Shape shape = shape_of(9000, 2, 0, 0);
  const Data data = simulate(shape);
  const Problem problem = usual_problem(data);
  MemorySource source(problem, Use::augmented, 1);
  RowSums sums(2);
  ImpatientHost host(5);
  CHECK_THROWS_AS(source.sums(State(Layout{2, 0, 0}), sums, host), Interrupted);
  CHECK(host.calls < 10);  // of some forty blocks
}

TEST_CASE("an error in a row function leaves the source, whatever the threads") {
  class Faulty : public Likelihood {
    bool supports(Use) const override { return true; }
    void terms(Use, const Eigen::Ref<const Arr>&, const Eigen::Ref<const Arr>&,
               const Eigen::Ref<const Arr>&, RowTerms&) const override {
      throw NumericalFailure("a row function failed");
    }
  };
  const Data data = simulate(shape_of(9000, 2, 0, 0));
  Problem problem = usual_problem(data);
  problem.likelihood.reset(new Faulty);
  for (int threads : {1, 2, 4}) {
    MemorySource source(problem, Use::augmented, threads);
    RowSums sums(2);
    Host host;
    CHECK_THROWS_AS(source.sums(State(Layout{2, 0, 0}), sums, host), NumericalFailure);
  }
}

TEST_CASE("a block of odd length at the end is not read beyond") {  // under AddressSanitizer
  Shape shape;
  shape.n = 208;  // blocks of 207 rows
  shape.p = 401;
  const Data data = simulate(shape);
  const Problem problem = usual_problem(data);
  MemorySource source(problem, Use::augmented, 1);
  const Coefficients side(problem);
  State state = side.start(Vec());
  state.begun() = 1;
  state.inverse_factor().setIdentity();
  RowSums sums(state.layout.p);
  Host host;
  source.sums(state, sums, host);
  CHECK(sums.x.allFinite());
}

namespace {

// Notes the random numbers it is given, in the order of its calls.
class Noting : public Likelihood {
 public:
  bool supports(Use use) const override { return use == Use::drawn; }
  void terms(Use, const Eigen::Ref<const Arr>&, const Eigen::Ref<const Arr>&,
             const Eigen::Ref<const Arr>&, RowTerms&) const override {}
  void draw(const Eigen::Ref<const Arr>& y, const Eigen::Ref<const Arr>&,
            const Eigen::Ref<const Arr>&, const RowDraws& random, RowTerms& out) const override {
    for (Arr* a : {&out.value, &out.slope, &out.weight, &out.curvature}) a->setOnes();
    for (Index i = 0; i < y.size(); ++i)
      noted.push_back({random.normal[i], random.uniform[i]});
  }
  mutable std::vector<std::pair<double, double>> noted;
};

}  // namespace

TEST_CASE("a row's random numbers are its own, whatever block it lies in") {
  Shape shape;
  shape.n = 1000;
  const Data data = simulate(shape);
  Problem problem = usual_problem(data);
  auto* likelihood = new Noting;
  problem.likelihood.reset(likelihood);
  MemorySource source(problem, Use::drawn, 1);
  const Coefficients side(problem);
  State state = side.start(Vec());
  state.seed() = 4;
  state.chain() = 1;
  state.sweep() = 9;
  RowSums sums(state.layout.p);
  Host host;
  source.sums(state, sums, host);
  REQUIRE(likelihood->noted.size() == 1000);
  for (std::uint64_t i = 0; i < 1000; ++i) {  // without groups the working order is the rows'
    Draws own(state.key(), Purpose::rows, i);
    CHECK(likelihood->noted[i].first == own.normal());
    CHECK(likelihood->noted[i].second == own.uniform());
  }
}

TEST_CASE("a block that varies is filled anew for every State") {
  Shape shape;
  shape.q = 1;
  shape.groups = 9;
  const Data data = simulate(shape);
  const Problem varying = turned(data, 0);
  MemorySource source(varying, Use::augmented, 1);
  State state(Layout{3, 1, 0});
  state.damping() = 1;
  state.group_prior().setConstant(1.3);
  Host host;
  for (double first : {0.4, -0.2, 2.0}) {
    state.mean() << first, 0.3, -0.7;
    const Problem fixed = turned(data, 1 + first);
    MemorySource other(fixed, Use::augmented, 1);
    RowSums found(3), expected(3);
    source.sums(state, found, host);
    other.sums(state, expected, host);
    INFO(first);
    CHECK(found.x == expected.x);
  }
}
