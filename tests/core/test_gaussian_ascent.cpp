// Gaussian variational inference where a source eliminates effects of groups: it is the one with
// their columns written out.
#include <doctest/doctest.h>

#include <cmath>

#include "coefficients/free_parameters.hpp"
#include "densities.hpp"
#include "fitting.hpp"
#include "forward_source.hpp"
#include "gaussian/ascent.hpp"
#include "gaussian_twin.hpp"
#include "hosts.hpp"
#include "loopback_source.hpp"
#include "rows/make_source.hpp"
#include "sparse_data.hpp"

using namespace bsvm_test;

namespace {

Data grouped(Index q, Index n = 60, Index p = 2) {
  Shape shape;
  shape.n = n;
  shape.p = p;
  shape.q = q;
  shape.groups = 7;
  shape.large = 12;
  return simulate(shape);
}

std::vector<PriorSpec> fixed_groups(Index q) {
  std::vector<PriorSpec> out;
  for (Index a = 0; a < q; ++a) out.push_back(normal_prior(1.5 + static_cast<double>(a), {a}));
  return out;
}

Problem known(const Data& data, const char* likelihood) {
  return with(to_problem(data, {normal_prior(3, range(0, data.shape.p))},
                         fixed_groups(data.shape.q)), likelihood);
}

// Columns `z` after the dense ones, whose outside scale is the standardised one.
Data written_out(const Data& data, const Mat& z) {
  Data out = data;
  const Index p = data.shape.p;
  out.shape.q = out.shape.groups = 0;
  out.shape.p = p + z.cols();
  out.x.resize(data.shape.n, p + z.cols());
  out.x << data.design(), z;
  out.center = Vec::Zero(p + z.cols());
  out.scale = Vec::Ones(p + z.cols());
  return out;
}

Mat effect_columns(const Data& data) {
  const MatL all = Oracle(data, data.design(), data.z).c;
  return all.rightCols(all.cols() - data.shape.p).cast<double>();
}

}  // namespace

TEST_CASE("ascent: a factor's effects that are eliminated are dense columns") {
  for (const char* likelihood : kLikelihoods)
    for (Index q : {1, 2}) {
      INFO(std::string(likelihood), " effects ", q);
      const Data data = grouped(q), dense = written_out(data, effect_columns(data));
      std::vector<PriorSpec> priors{normal_prior(3, {0, 1})};
      for (Index a = 0; a < q; ++a) {
        priors.push_back(normal_prior(1.5 + static_cast<double>(a), {}));
        for (Index g = 0; g < 7; ++g) priors.back().columns.push_back(2 + g * q + a);
      }
      const Top expected = climb(with(to_problem(dense, priors, {}), likelihood));
      const Top found = climb(known(data, likelihood));
      CHECK(found.progress.end == Termination::converged);
      CHECK(gap(found.node.log_density, expected.node.log_density) < 1e-12);
      CHECK(gap(full_mean(found.outside), full_mean(expected.outside)) < 1e-6);
      CHECK(gap(full_covariance(found.outside), full_covariance(expected.outside)) < 1e-6);
    }
}

TEST_CASE("ascent: no dense columns at all") {
  const Data data = grouped(1, 60, 0);
  const Top found = climb(with(to_problem(data, {}, fixed_groups(1)), "hinge"));
  CHECK(found.progress.end == Termination::converged);
  const GaussianTwin twin = gaussian_twin(data, "hinge", Vec(), Vec::Constant(1, 1.5));
  const VecL mean = full_mean(found.outside);
  const MatL covariance = full_covariance(found.outside);
  CHECK(gap(found.node.log_density, twin.bound(mean, lower_factor(covariance))) < 1e-12);
  CHECK(gap(inverse(covariance), twin.precision(mean, covariance)) < 1e-6);
}

TEST_CASE("ascent: crossed and nested factors are dense columns") {
  for (const char* likelihood : kLikelihoods)
    for (bool mixture : {false, true}) {
      Shape shape;
      shape.n = 80;
      shape.p = 2;
      const SparseData data = mixture ? mixed(shape) : crossed(shape, {9, 6});
      const Data dense = written_out(data.data, data.dense());
      std::vector<PriorSpec> groups, priors{normal_prior(3, {0, 1})};
      Index effect = 0, column = 2;
      for (const SparseTerm& term : data.terms) {
        for (Index a = 0; a < term.effects; ++a, ++effect) {
          const double variance = 1 + 0.2 * static_cast<double>(effect);
          groups.push_back(normal_prior(variance, {effect}));
          priors.push_back(normal_prior(variance, {}));
          for (Index level = 0; level < term.levels; ++level)
            priors.back().columns.push_back(column + level * term.effects + a);
        }
        column += term.levels * term.effects;
      }
      Problem problem = with(data.problem(groups), likelihood);
      problem.priors.clear();
      problem.priors.push_back(to_slot(normal_prior(3, {0, 1})));
      const Top found = climb(problem);
      const Top expected = climb(with(to_problem(dense, priors, {}), likelihood));
      const Index columns = data.columns();
      INFO(std::string(likelihood), mixture ? " mixed" : " crossed");
      CHECK(found.progress.end == Termination::converged);
      CHECK(gap(found.node.log_density, expected.node.log_density) < 1e-12);
      CHECK(gap(found.outside.mean, expected.outside.mean.head(2)) < 1e-6);
      CHECK(gap(found.outside.covariance, expected.outside.covariance.topLeftCorner(2, 2)) < 1e-6);
      CHECK(gap(found.node.groups.effect, expected.outside.mean.tail(columns)) < 1e-6);
      CHECK(gap(found.node.groups.effect_sd.cwiseAbs2(),
                expected.outside.covariance.diagonal().tail(columns)) < 1e-6);
    }
}

// ---- the steps

namespace {

// Keeps what was accepted, and what was asked at which State.
class Watched : public Owned {
 public:
  using Owned::Owned;
  void sums(const State& state, RowSums& out, Host& host) override {
    Owned::sums(state, out, host);
    asked.push_back(state);
    values.push_back(out.value());
    if (static_cast<int>(asked.size()) == lie) out.value() -= 1e6;
  }
  void keep() override {
    Owned::keep();
    kept.push_back(static_cast<int>(asked.size()) - 1);
    groups_kept.push_back(groups());
  }

  int lie = -1;  // about this pass: it says that the bound fell
  std::vector<State> asked;
  std::vector<double> values;
  std::vector<int> kept;
  std::vector<GroupPosterior> groups_kept;
};

struct Run {
  Watched* source;  // owned by the next
  std::unique_ptr<Conditional> conditional;
  Node node;
};

Run run(const Problem& problem, Host& host, int lie) {
  std::unique_ptr<RowSource> expected(
      new ExpectedOnly(make_source(problem, Use::expected, 1)));
  std::unique_ptr<Watched> source(new Watched(std::move(expected)));
  Run out{source.get(), nullptr, Node()};
  out.source->lie = lie;
  out.conditional.reset(new Ascent(problem, std::move(source), close_options(), host));
  out.node = out.conditional->climb();
  return out;
}

// A <- A + t (D + C'WC - A), mu <- mu + t A^{-1} gradient, from every State that was kept.
void check_steps(const Data& data, const Problem& problem, const Watched& source) {
  const GaussianTwin twin =
      gaussian_twin(data, "hinge", Vec::Constant(2, 3.0), Vec::Constant(1, 1.5));
  const Coefficients side(problem);
  const auto q_of = [&](size_t k) {
    return side.outside(source.asked[source.kept[k]], source.groups_kept[k]);
  };
  for (size_t k = 0; k + 1 < source.kept.size(); ++k) {
    const State& from = source.asked[source.kept[k]];
    const OutsideMoments before = q_of(k), after = q_of(k + 1);
    const Real t = from.damping();
    const VecL mean = full_mean(before);
    const MatL covariance = full_covariance(before), now = inverse(covariance);
    const MatL next = now + t * (twin.precision(mean, covariance) - now);
    const MatL moved = inverse(next);
    CHECK(gap(full_covariance(after), moved) < 1e-9);
    const VecL step = t * product(moved, twin.slope(mean, covariance)).col(0);
    CHECK((full_mean(after) - mean - step).norm() < 1e-8 * (1 + step.norm()));
  }
}

}  // namespace

TEST_CASE("ascent: every step is the damped one, after a retreat too") {
  const Data data = grouped(1);
  const Problem problem = known(data, "hinge");
  for (int lie : {-1, 4, 7}) {
    Host host;
    const Run found = run(problem, host, lie);
    // Nothing is kept of the passes without a covariance; the retreat's pass is kept twice.
    Watched& source = *found.source;
    std::vector<int> once;
    std::vector<GroupPosterior> groups;
    for (size_t k = 0; k < source.kept.size(); ++k) {
      const size_t next = k + 1;
      if (next < source.kept.size() &&
          source.asked[source.kept[next]].mean() == source.asked[source.kept[k]].mean())
        continue;
      once.push_back(source.kept[k]);
      groups.push_back(source.groups_kept[k]);
    }
    source.kept = once;
    source.groups_kept = groups;
    CHECK(once.size() > 8);
    check_steps(data, problem, source);
  }
}

TEST_CASE("ascent: a retreat leads back to where it was, groups included") {
  Shape shape;
  shape.n = 80;
  shape.p = 2;
  const SparseData several = mixed(shape), two = crossed(shape, {9, 6});
  const Data one = grouped(2);
  for (const char* likelihood : kLikelihoods) {
    std::vector<Problem> problems;
    problems.push_back(with(several.problem(), likelihood));
    problems.push_back(with(two.problem(), likelihood));
    problems.push_back(with(usual_problem(one), likelihood));
    for (const Problem& problem : problems) {
      Host host;
      const Run honest = run(problem, host, -1);
      const int lie = 6;
      const Run found = run(problem, host, lie);
      const Watched& source = *found.source;
      const State &best = source.asked[lie - 2], &wrong = source.asked[lie - 1],
                  &back = source.asked[lie];
      CHECK_FALSE(same_bits(Vec(best.mean()), Vec(wrong.mean())));
      CHECK(same_bits(Vec(best.mean()), Vec(back.mean())));
      CHECK(same_bits(Mat(best.inverse_factor()), Mat(back.inverse_factor())));
      CHECK(same_bits(Vec(best.hyper()), Vec(back.hyper())));
      CHECK(back.damping() < best.damping());
      CHECK(source.values[lie] == source.values[lie - 2]);
      CHECK(found.conditional->progress().end == Termination::converged);
      CHECK(gap(found.node.log_density, honest.node.log_density) < 1e-11);
      CHECK(gap(found.node.state.mean(), honest.node.state.mean()) < 1e-6);
    }
  }
}

TEST_CASE("ascent: a bound that falls is gone back from, and it ends") {
  for (const char* likelihood : kLikelihoods)
    for (std::uint64_t seed = 1; seed < 6; ++seed) {
      Shape shape = grouped(2).shape;
      shape.seed = seed;
      const Data data = simulate(shape);
      Options options;
      options.start = Vec::Constant(2, 15.0);
      const Problem problem = with(usual_problem(data), likelihood);
      const Top found = climb(problem, false, options);
      CHECK(found.progress.end == Termination::converged);
      const std::vector<TraceEntry>& trace = found.progress.trace;
      double best = trace[0].bound;
      for (size_t k = 1; k + 1 < trace.size(); ++k) {
        if (trace[k].bound == trace[0].bound) best = trace[k].bound;  // a new start
        const bool fell = trace[k].bound < best - 1e-9 * (1 + std::abs(best));
        if (fell) CHECK(trace[k + 1].damping < trace[k].damping);
        best = std::max(best, trace[k].bound);
      }
      CHECK(found.node.log_density == doctest::Approx(best).epsilon(1e-9));
      CHECK(found.node.log_density ==
            doctest::Approx(climb(problem).node.log_density).epsilon(1e-6));
    }
}

namespace {

class Falling : public Owned {
 public:
  using Owned::Owned;
  void sums(const State& state, RowSums& out, Host& host) override {
    Owned::sums(state, out, host);
    out.value() -= 1e6 * ++passes_;
  }

 private:
  int passes_ = 0;
};

}  // namespace

TEST_CASE("ascent: where no step raises the bound it stalls, and says so") {
  const Data data = grouped(1);
  const Problem problem = known(data, "hinge");
  Host host;
  Ascent ascent(problem,
                std::unique_ptr<RowSource>(new Falling(make_source(problem, Use::expected, 1))),
                close_options(), host);
  const Node node = ascent.climb();
  CHECK(ascent.progress().end == Termination::stalled);
  CHECK(ascent.progress().passes < 60);
  CHECK(node.groups.mean.cols() == 7);
}

TEST_CASE("ascent: threads and a wire do not change a bit") {
  Shape shape;
  shape.n = 9000;
  shape.q = 2;
  shape.groups = 1200;
  shape.large = 300;
  const Data data = simulate(shape);
  const Problem problem = usual_problem(data);
  Options options;
  options.max_passes = 12;
  Host host;
  const Node one = ascent(problem, options, host, true, 1)->climb();
  const Node four = ascent(problem, options, host, true, 4)->climb();
  CHECK(same_bits(one.state.x, four.state.x));
  CHECK(same_bits(one.groups.mean, four.groups.mean));
  CHECK(one.log_density == four.log_density);

  const Data small = grouped(2);
  const Problem there = usual_problem(small);
  const Node here = ascent(there, Options(), host, true)->climb();
  Ascent far(there, std::unique_ptr<RowSource>(new LoopbackSource(there, Use::expected)), Options(),
             host);
  const Node sent = far.climb();
  CHECK(same_bits(here.state.x, sent.state.x));
  CHECK(same_bits(here.groups.regression, sent.groups.regression));
  CHECK(here.log_density == sent.log_density);
  Ascent split(there, std::unique_ptr<RowSource>(new SplitSource(there, Use::expected)), Options(),
               host);
  CHECK(gap(split.climb().log_density, here.log_density) < 1e-9);

  shape.q = shape.groups = 0;
  const SparseData crossed_data = crossed(shape, {60, 40});
  const Problem sparse = crossed_data.problem();
  const Node alone = ascent(sparse, options, host, true, 1)->climb();
  const Node three = ascent(sparse, options, host, true, 3)->climb();
  CHECK(same_bits(alone.state.x, three.state.x));
  CHECK(same_bits(alone.groups.effect, three.groups.effect));
}

// ---- hyper-parameters

TEST_CASE("ascent: the climb ends where hyper-parameters are best, given the effects' moments") {
  for (const char* likelihood : kLikelihoods) {
    const Data data = grouped(1);
    const Problem problem = with(usual_problem(data), likelihood);
    const Top top = climb(problem);
    REQUIRE(top.progress.end == Termination::converged);
    REQUIRE(top.node.theta.size() == 2);  // one slope's variance, the effects' variance
    CHECK(top.node.pull.norm() < 1e-5);
    const VecL mean = full_mean(top.outside), square =
        mean.cwiseAbs2() + full_covariance(top.outside).diagonal();
    const auto best = [](Real shape, Real scale, Real sum, Real count) {  // of IG, log s free
      return 0.5L * std::log((2 * scale + sum) / (2 * shape + count));
    };
    CHECK(std::abs(top.node.theta[0] - best(0.7L, 0.4L, square[1], 1)) < 1e-6);
    CHECK(std::abs(top.node.theta[1] - best(0.5L, 0.3L, square.tail(7).sum(), 7)) < 1e-6);

    const Vec variance = (Vec(2) << 100, std::exp(2 * top.node.theta[0])).finished();
    const Real s2 = variance[1], u2 = std::exp(2 * Real(top.node.theta[1]));
    const GaussianTwin twin = gaussian_twin(data, likelihood, variance,
                                            Vec::Constant(1, static_cast<double>(u2)));
    const Real expected = twin.bound(mean, lower_factor(full_covariance(top.outside))) +
                          log_inverse_gamma(s2, 0.7L, 0.4L) + std::log(2 * s2) +
                          log_inverse_gamma(u2, 0.5L, 0.3L) + std::log(2 * u2);
    CHECK(gap(top.node.log_density, expected) < 1e-10);
  }
}

TEST_CASE("ascent: nodes beside the top are what their variances alone give") {
  for (const char* likelihood : kLikelihoods) {
    const Data data = grouped(1);
    const Problem problem = with(
        to_problem(data, {normal_prior(3, {0, 1})}, {ridge_prior(0.5, 0.3, {0})}), likelihood);
    Host host;
    const auto conditional = ascent(problem, close_options(), host);
    const Node top = conditional->climb();
    Node last = top;
    for (double step : {0.5, 1.0, -0.7}) {
      last = conditional->at(top.theta.array() + step, last);
      const double s2 = std::exp(2 * last.theta[0]);
      const Top expected =
          climb(with(to_problem(data, {normal_prior(3, {0, 1})}, {normal_prior(s2, {0})}),
                     likelihood));
      const Real prior = log_inverse_gamma(s2, 0.5L, 0.3L) + std::log(2 * Real(s2));
      CHECK(std::abs(last.log_density - static_cast<double>(expected.node.log_density + prior)) <
            4e-3);
      const OutsideMoments found = Coefficients(problem).outside(last.state, last.groups);
      CHECK(gap(full_mean(found), full_mean(expected.outside)) < 0.05);
      CHECK(gap(full_covariance(found), full_covariance(expected.outside)) < 0.05);
    }
  }
}

TEST_CASE("ascent: curvature is about the second difference of the nodes' densities") {
  Shape shape = grouped(1).shape;
  shape.n = 300;
  shape.groups = 40;
  const Data data = simulate(shape);
  const Problem problem =
      to_problem(data, {normal_prior(3, {0, 1})}, {ridge_prior(0.5, 0.3, {0})});
  Host host;
  const auto conditional = ascent(problem, close_options(), host);
  const Node top = conditional->climb();
  const Mat curvature = conditional->curvature(top);
  Vec density(2);
  const double h = 0.3;
  for (int side : {0, 1})
    density[side] = conditional->at(top.theta.array() + (side ? h : -h), top).log_density;
  CHECK(curvature(0, 0) ==
        doctest::Approx((2 * top.log_density - density.sum()) / (h * h)).epsilon(0.15));
}

// Where an effect's multiplier is a thousand times as large, its standard deviation is a
// thousandth, and so are the entries of its row of the covariance's root: in units all is the same.
TEST_CASE("ascent: curvature in a covariance's parameters is in their units") {
  Shape shape = grouped(2).shape;
  shape.n = 300;
  shape.groups = 40;
  Mat in_units[2];
  for (int k : {0, 1}) {
    const double times = k == 0 ? 1 : 1000;
    Data data = simulate(shape);
    data.z.col(1) *= times;
    Problem problem = to_problem(data, {normal_prior(3, {0, 1})}, fixed_groups(2));
    const Params wishart("inverse_wishart", {{"effects", 2}, {"df", 6}, {"scale_1_1", 3},
                                             {"scale_2_1", 0.5 / times},
                                             {"scale_2_2", 3 / (times * times)}});
    problem.group_priors.clear();
    problem.group_priors.push_back(
        {Registry<Prior>::make("inverse_wishart", wishart), {0, 1}, 0, problem.groups});
    Host host;
    const auto conditional = ascent(problem, close_options(), host);
    const Node top = conditional->climb();
    const Vec unit = free_units(problem, top.theta).unit;
    in_units[k] = unit.asDiagonal() * conditional->curvature(top) * unit.asDiagonal();
  }
  CHECK(gap(in_units[1], in_units[0]) < 1e-5 * in_units[0].norm());
  CHECK(in_units[0](1, 1) > 1);
}

TEST_CASE("ascent: interrupted, it is as far as it came; its groups too") {
  const Data data = grouped(2);
  const Problem problem = usual_problem(data);
  for (int patience : {8, 14, 20}) {
    ImpatientHost host(patience);
    const auto conditional = ascent(problem, close_options(), host, true);
    const Node node = conditional->climb();
    CHECK(conditional->progress().end == Termination::interrupted);
    CHECK(node.groups.mean.cols() == 7);
    double best = -std::numeric_limits<double>::infinity();
    for (const TraceEntry& entry : conditional->progress().trace)
      best = std::max(best, entry.bound);
    CHECK(node.log_density == best);
  }
}
