#include <doctest/doctest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <functional>
#include <map>

#include "block/dense.hpp"
#include "fitting.hpp"
#include "hosts.hpp"
#include "missing/imputation_model.hpp"
#include "missing/missing_predictors.hpp"
#include "model/gather.hpp"
#include "oracle.hpp"
#include "parameter_data.hpp"
#include "random/draws.hpp"
#include "tube_data.hpp"
#include "two_atoms.hpp"

using namespace bsvm_test;

namespace {

// A problem of p columns, of which all but the first may be missing, an auxiliary variable and a
// dummy; `pattern` chooses what is missing.
enum class Pattern { column, any, whole_rows };

struct Lost {
  Data data;
  Mat given, auxiliary;
  Unknowns of;
  Problem problem;

  Lost(const Shape& shape, Pattern pattern, const char* likelihood) : data(simulate(shape)) {
    Noise noise(shape.seed + 100);
    const Index n = shape.n, p = shape.p;
    given = Mat::Ones(n, 2);
    auxiliary = Mat::Zero(n, 1);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (Index i = 0; i < n; ++i) {
      given(i, 1) = noise.uniform() < 0.4 ? 1 : 0;
      auxiliary(i, 0) = data.x(i, 1) + noise.normal();
      for (Index j = 1; j < p; ++j)
        if (lost(pattern, i, j, p, noise)) data.x(i, j) = nan;
      if (pattern != Pattern::column && noise.uniform() < 0.3) auxiliary(i, 0) = nan;
    }
    problem = usual_problem(data);
    of.d = p;
    of.k = 2;
    of.center = Vec::Zero(p);
    of.factor = Vec::Ones(p);
    for (Index j = 1; j < p; ++j) {
      of.column.push_back(j);
      of.center[j - 1] = 0.3 * static_cast<double>(j);
      of.factor[j - 1] = 0.5 + static_cast<double>(j);
    }
    of.column.push_back(-1);
    of.auxiliary = auxiliary.data();
    of.given = given.data();
    of.gram = given.transpose() * given;
    of.mean_variance = 50;
    of.scale = 0.2;
    of.df = static_cast<double>(p) + 1;
    model();
    problem = with(std::move(problem), likelihood);
  }

  // What `of` says.
  void model() { problem.latent.reset(new MissingPredictors(of, problem.n)); }

  static bool lost(Pattern pattern, Index i, Index j, Index p, Noise& noise) {
    switch (pattern) {
      case Pattern::column: return j == p - 1 && noise.uniform() < 0.4;
      case Pattern::any: return noise.uniform() < 0.3;
      default: return i % 7 == 3 || (j == 1 && i % 3 == 0);
    }
  }
};

constexpr Pattern kPatterns[] = {Pattern::column, Pattern::any, Pattern::whole_rows};

Shape small_shape(Index q = 0, Index groups = 0) {
  Shape shape;
  shape.n = 70;
  shape.p = 4;
  shape.q = q;
  shape.groups = groups;
  return shape;
}

// K lower triangular with K'K = s.
Mat inverse_factor_of(const Mat& s) {
  const Mat turned = s.colwise().reverse().rowwise().reverse();
  const Mat factor = Eigen::LLT<Mat>(turned).matrixL();
  return Mat(factor.colwise().reverse().rowwise().reverse()).transpose();
}

Mat covariance_of(const State& state) {
  const Mat root = state.inverse_factor().triangularView<Eigen::Lower>();
  return root.transpose() * root;
}

Mat positive(Index d, double diagonal, std::uint64_t seed) {
  Noise noise(seed);
  Mat a(d, d);
  for (Index j = 0; j < d; ++j) a.col(j) = noise.normals(d);
  return 0.1 * a * a.transpose() + diagonal * Mat::Identity(d, d);
}

// Somewhere in the middle of a run.
State middle(const Lost& lost) {
  const Problem& problem = lost.problem;
  const Coefficients side(problem);
  Noise noise(11);
  const ImputationSlots slots(lost.of);
  State state = side.start(0.5 * noise.normals(problem.columns()));
  state.begun() = 1;
  state.inverse_factor() = inverse_factor_of(0.05 * positive(problem.columns(), 0.5, 12));
  slots.precision(state) = positive(lost.of.d, 0.8, 13);
  slots.formed(state) = positive(lost.of.d, 0.6, 14);
  state.group_prior() = positive(problem.effects(), 1, 15);
  for (Index j = 0; j < lost.of.d; ++j)
    slots.mean(state).col(j) = 0.3 * noise.normals(lost.of.k);
  return state;
}

struct Asked {
  Problem& problem;
  Use use;
  MemorySource source;
  Host host;

  Asked(Problem& of, Use asked, int threads = 1)
      : problem(of), use(asked), source(of, asked, threads) {}

  RowSums sums(const State& state) {
    RowSums out(state.layout);
    source.sums(state, out, host);
    return out;
  }
  double value(const State& state) { return sums(state).value(); }

  // The groups' first posterior, and passes until it is that of coefficients that stand still.
  void settle_groups(State state, int passes) {
    state.step().setZero();
    state.fraction() = 1;
    State nothing = state;
    nothing.begun() = 0;
    value(nothing);
    for (int pass = 0; pass < passes; ++pass) {
      source.settle(state, Settle::advance, 1);
      value(state);
    }
  }
};

double slope(const std::function<double(double)>& f, double h) {
  return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h);
}

void check_derivatives(Asked asked, const State& state) {
  RowSums sums = asked.sums(state);
  const Index p = state.layout.p;
  const Mat weight = sums.weight().selfadjointView<Eigen::Lower>();
  const Mat covariance = covariance_of(state);
  for (Index j = 0; j < p; ++j) {
    const double found = slope([&](double t) {
      State at = state;
      at.mean()[j] += t;
      return asked.value(at);
    }, 1e-3);
    CHECK(std::abs(found - sums.linear()[j]) < 1e-6 * (1 + std::abs(found)));
    for (Index k = 0; k <= j; ++k) {
      const double twice = slope([&](double t) {
        State at = state;
        Mat s = covariance;
        s(j, k) += t;
        if (j != k) s(k, j) += t;
        at.inverse_factor() = inverse_factor_of(s);
        return asked.value(at);
      }, 1e-4);
      const double expected = -(j == k ? 0.5 : 1.0) * weight(j, k);
      CHECK(std::abs(twice - expected) < 1e-5 * (1 + std::abs(expected)));
    }
  }
}

const char* likelihood_of(Use use, Index number) {
  return use == Use::augmented ? kLikelihoods[0] : kLikelihoods[number];
}

}  // namespace

TEST_CASE("unknown rows: sums are derivatives of the value, in mean and covariance") {
  for (const Use use : {Use::augmented, Use::expected})
    for (Index number = 0; number < (use == Use::augmented ? 1 : 2); ++number)
      for (const Pattern pattern : kPatterns) {
        CAPTURE(static_cast<int>(use));
        CAPTURE(number);
        CAPTURE(static_cast<int>(pattern));
        Lost lost(small_shape(), pattern, likelihood_of(use, number));
        check_derivatives(Asked(lost.problem, use), middle(lost));
      }
}

TEST_CASE("unknown rows: with a mechanism too, and its probits' slope is that of the sums") {
  for (const Pattern pattern : kPatterns) {
    CAPTURE(static_cast<int>(pattern));
    Lost lost(small_shape(), pattern, kLikelihoods[0]);
    Unknowns& of = lost.of;
    of.indicators = {2};
    if (pattern == Pattern::any) of.indicators = {0, 2, 3};
    of.by_given = {0, 1};
    of.by = {2, 3};
    of.probit_variance = 4;
    lost.model();
    State state = middle(lost);
    Noise noise(21);
    const ImputationSlots slots(of);
    for (Index j = 0; j < slots.probit(state).cols(); ++j)
      slots.probit(state).col(j) = 0.6 * noise.normals(4);
    slots.probit_spread(state) = 0.05 * positive(4, 0.5, 22);
    check_derivatives(Asked(lost.problem, Use::augmented), state);

    Asked asked(lost.problem, Use::augmented);
    const ImputationModel model(of, lost.problem.n);
    const RowSums sums = asked.sums(state);
    State next = state;
    model.update(sums, next);
    const Mat expected =
        slots.latent(sums) - Mat(slots.probit_spread(next)).inverse() * slots.probit(state);
    for (Index k = 0; k < expected.size(); ++k) {
      const double found = slope([&](double t) {
        State at = state;
        slots.probit(at).data()[k] += t;
        return asked.value(at) + model.value(at);
      }, 1e-3);
      CHECK(std::abs(found - expected.data()[k]) < 1e-6 * (1 + std::abs(found)));
    }
  }
}

TEST_CASE("unknown rows: with a mechanism they have no form in which they are integrated out") {
  Lost lost(small_shape(), Pattern::any, kLikelihoods[0]);
  for (const Use use : {Use::augmented, Use::drawn, Use::expected, Use::marginal})
    CHECK(lost.problem.latent->supports(use));
  lost.of.indicators = {0};
  lost.of.by = {0};
  lost.model();
  for (const Use use : {Use::augmented, Use::drawn}) CHECK(lost.problem.latent->supports(use));
  for (const Use use : {Use::expected, Use::marginal})
    CHECK_FALSE(lost.problem.latent->supports(use));
}

// Once the groups have followed, for coefficients that stand still, the value's slope along any
// direction is that of the sums.
TEST_CASE("unknown rows: with groups the slope in the mean is that of the sums") {
  for (const Use use : {Use::augmented, Use::expected})
    for (Index number = 0; number < (use == Use::augmented ? 1 : 2); ++number) {
      Lost lost(small_shape(2, 6), Pattern::any, likelihood_of(use, number));
      Asked asked(lost.problem, use);
      State state = middle(lost);
      asked.settle_groups(state, 400);
      asked.source.settle(state, Settle::advance, 1);
      const Vec linear = asked.sums(state).linear();
      for (Index j = 0; j < state.layout.p; ++j) {
        state.step().setZero();
        state.step()[j] = 1;
        double at = 0;
        const double found = slope([&](double t) {
          state.mean()[j] += t - at;
          asked.source.settle(state, Settle::shorten, t - at);
          at = t;
          return asked.value(state);
        }, 1e-3);
        state.mean()[j] -= at;
        asked.source.settle(state, Settle::shorten, -at);
        CHECK(std::abs(found - linear[j]) < 1e-5 * (1 + std::abs(found)));
      }
    }
}

TEST_CASE("unknown rows: the same bits for any number of threads") {
  Shape shape = small_shape(1, 40);
  shape.n = 1500;
  for (const Index groups : {Index{0}, Index{40}}) {
    shape.groups = groups;
    shape.q = groups > 0 ? 1 : 0;
    for (const Use use : {Use::augmented, Use::expected}) {
      Lost lost(shape, Pattern::any, kLikelihoods[0]);
      Asked one(lost.problem, use), two(lost.problem, use, 2);
      const State state = middle(lost);
      one.settle_groups(state, 1);
      two.settle_groups(state, 1);
      CHECK(same_bits(one.sums(state).x, two.sums(state).x));
    }
  }
}

// The dummy and the auxiliary variable stand beside the design, the latter in other units.
TEST_CASE("unknown rows: sums of parts of the rows are those of all") {
  for (const Use use : {Use::augmented, Use::expected}) {
    Lost lost(small_shape(), Pattern::any, kLikelihoods[0]);
    const Index n = lost.problem.n, p = lost.problem.columns(), h = 33;
    const State state = middle(lost);
    const RowSums whole = Asked(lost.problem, use).sums(state);
    Vec column(lost.of.d), given_from(2), auxiliary_from(1), center(1), scale(1);
    for (Index j = 0; j < lost.of.d; ++j) column[j] = static_cast<double>(lost.of.column[j] + 1);
    given_from << 0, -1;
    auxiliary_from << -2;
    center << 0.5;
    scale << 4;
    const Mat gram = lost.given.transpose() * lost.given;
    const auto view = [](const auto& of) { return Params::Array(of.data(), of.rows(), of.cols()); };
    const Params params("normal",
                        {{"mean_variance", lost.of.mean_variance}, {"scale", lost.of.scale},
                         {"df", lost.of.df}, {"rows", static_cast<double>(n)}},
                        {{"column", view(column)}, {"center", view(lost.of.center)},
                         {"factor", view(lost.of.factor)}, {"gram", view(gram)},
                         {"given_from", view(given_from)}, {"auxiliary_from", view(auxiliary_from)},
                         {"auxiliary_center", view(center)}, {"auxiliary_scale", view(scale)}});
    Problem part = with(usual_problem(lost.data), kLikelihoods[0]);
    const Problem all = with(usual_problem(lost.data), kLikelihoods[0]);
    auto* design = new DenseBlock(lost.data.center, lost.data.scale, all.blocks[0]->unit());
    part.blocks[0].reset(design);
    part.latent.reset(new MissingPredictors(params));
    RowSums both(state.layout);
    for (const auto& [first, rows] : {std::pair<Index, Index>{0, h}, {h, n - h}}) {
      const Mat x = lost.data.x.middleRows(first, rows);
      Mat beside(rows, 2);
      beside << lost.given.col(1).segment(first, rows),
          (4 * lost.auxiliary.col(0).segment(first, rows)).array() + 0.5;
      part.n = rows;
      part.y = all.y + first;
      part.weight = all.weight + first;
      part.offset = all.offset + first;
      design->look_at(x.data(), rows);
      part.latent->look_at({rows, x.data(), beside.data()});
      both += Asked(part, use).sums(state);
    }
    CHECK((both.x - whole.x).cwiseAbs().maxCoeff() < 1e-11 * (1 + whole.x.cwiseAbs().maxCoeff()));
    CHECK(both.latent().cwiseAbs().maxCoeff() > static_cast<double>(p));
    part.latent->look_at({});  // of levels alone
    part.y = nullptr;
    CHECK(part.latent->rows(part, cut(nullptr, h, 0, p))->count() == 0);
  }
}

TEST_CASE("unknown rows: the imputation model's step is its maximum") {
  for (const Use use : {Use::augmented, Use::expected})
    for (Index number = 0; number < (use == Use::augmented ? 1 : 2); ++number) {
      Lost lost(small_shape(), Pattern::any, likelihood_of(use, number));
      Asked asked(lost.problem, use);
      const ImputationModel model(lost.of, lost.problem.n);
      const ImputationSlots slots(lost.of);
      State state = middle(lost);
      const auto total = [&](const State& at) { return model.value(at) + asked.value(at); };
      double before = -1e300, change = 1;
      for (int step = 0; step < 3000 && change > 1e-22; ++step) {
        RowSums sums = asked.sums(state);
        change = model.change(sums, state);
        const double now = sums.value() + model.value(state);
        CHECK(now >= before - 1e-9 * std::abs(now));
        before = now;
        model.update(sums, state);
      }
      CHECK(change <= 1e-18);
      const double best = total(state);
      const Index d = lost.of.d;
      for (Index j = 0; j < d; ++j) {
        for (Index a = 0; a < lost.of.k; ++a) {
          const auto moved = [&](double t) {
            State at = state;
            slots.mean(at)(a, j) += t;
            return total(at);
          };
          CHECK(std::abs(slope(moved, 1e-3)) < 1e-5);
          CHECK(moved(0.03) < best);
        }
        for (Index k = 0; k <= j; ++k) {
          const auto moved = [&](double t) {
            State at = state;
            slots.precision(at)(j, k) += t;
            if (j != k) slots.precision(at)(k, j) += t;
            return total(at);
          };
          CHECK(std::abs(slope(moved, 1e-3)) < 1e-5);
          CHECK(moved(0.03) < best);
          CHECK(moved(-0.03) < best);
        }
      }
    }
}

// B given Sigma is normal, and then Sigma^{-1} is Wishart.
TEST_CASE("unknown rows: the imputation model is drawn from its law") {
  Lost lost(small_shape(), Pattern::any, kLikelihoods[0]);
  const Unknowns& of = lost.of;
  Asked asked(lost.problem, Use::augmented);
  const ImputationSlots slots(of);
  const ImputationModel model(of, lost.problem.n);
  const State state = middle(lost);
  RowSums sums = asked.sums(state);
  const Index d = of.d, k = of.k, kd = k * d;
  const Mat precision = slots.precision(state), gram = lost.given.transpose() * lost.given;
  Mat joint = Mat::Identity(kd, kd) / of.mean_variance;
  for (Index i = 0; i < d; ++i)
    for (Index j = 0; j < d; ++j) joint.block(i * k, j * k, k, k) += precision(i, j) * gram;
  const Mat covariance = joint.inverse();
  const Mat pulled = slots.cross(sums) * precision;
  const Vec center = covariance * Eigen::Map<const Vec>(pulled.data(), kd);
  const Mat square = slots.square(sums).selfadjointView<Eigen::Lower>();
  const double df = of.df + static_cast<double>(lost.problem.n);

  const int draws = 20000;
  Mat square_b = Mat::Zero(kd, kd), mean_w = Mat::Zero(d, d), square_w = Mat::Zero(d, d);
  Vec mean_b = Vec::Zero(kd);
  State at = state;
  for (int draw = 0; draw < draws; ++draw) {
    at.x = state.x;
    at.seed() = 5;
    at.sweep() = draw;
    model.draw(sums, at);
    const Mat b = slots.mean(at);
    const Vec away = Eigen::Map<const Vec>(b.data(), kd) - center;
    mean_b += away / draws;
    square_b += away * away.transpose() / draws;
    const Mat cross = b.transpose() * slots.cross(sums);
    Mat scale = square - cross - cross.transpose() + b.transpose() * gram * b;
    scale.diagonal().array() += of.scale;
    const Mat root = Eigen::LLT<Mat>(scale).matrixL();
    const Mat w = root.transpose() * slots.precision(at) * root - df * Mat::Identity(d, d);
    mean_w += w / draws;
    square_w += w.cwiseAbs2() / draws;
  }
  const double error = 5 / std::sqrt(static_cast<double>(draws));
  for (Index i = 0; i < kd; ++i) {
    CHECK(std::abs(mean_b[i]) < error * std::sqrt(covariance(i, i)));
    for (Index j = 0; j < kd; ++j) {
      const double size = std::sqrt(covariance(i, i) * covariance(j, j));
      CHECK(std::abs(square_b(i, j) - covariance(i, j)) < error * 1.5 * size);
    }
  }
  for (Index i = 0; i < d; ++i)
    for (Index j = 0; j < d; ++j) {
      const double variance = i == j ? 2 * df : df;
      CHECK(std::abs(mean_w(i, j)) < error * std::sqrt(variance));
      CHECK(std::abs(square_w(i, j) / variance - 1) < error * 2);
    }
}

TEST_CASE("unknown rows: a hinge in two halves leaves the same sums, with a mechanism too") {
  for (Pattern pattern : kPatterns) {
    Lost one(small_shape(), pattern, "hinge"), two(small_shape(), pattern, "hinge");
    two.problem.likelihood.reset(new Halves);
    const State state = middle(one);
    RowSums expected(state.layout), found(state.layout);
    Host host;
    MemorySource(one.problem, Use::augmented, 1).sums(state, expected, host);
    MemorySource(two.problem, Use::augmented, 1).sums(state, found, host);
    CHECK((found.x - expected.x).norm() < 1e-8 * expected.x.norm());
  }
}

// The sums are derivatives of the value, which they are only where q of the missing entries and both
// weights are at rest.
TEST_CASE("unknown rows: an insensitive loss, slope in the mean by finite differences") {
  Lost lost(small_shape(), Pattern::any, "hinge");
  lost.problem.likelihood.reset(new Insensitive(1.3, 0.5));
  const State state = middle(lost);
  RowSums sums(state.layout);
  Host host;
  MemorySource source(lost.problem, Use::augmented, 1);
  source.sums(state, sums, host);
  const Vec slope = sums.linear();
  const double h = 1e-5;
  for (Index j = 0; j < lost.problem.columns(); ++j) {
    double value[2];
    for (int side = 0; side < 2; ++side) {
      State near = state;
      near.mean()[j] += side ? h : -h;
      source.sums(near, sums, host);
      value[side] = sums.value();
    }
    CHECK(std::abs((value[1] - value[0]) / (2 * h) - slope[j]) < 1e-5 * (1 + slope.norm()));
  }
}

using Numbers = std::map<std::string, double>;

void take(Problem& problem, const std::string& name, const Numbers& numbers) {
  problem.likelihood = Registry<Likelihood>::make(name, Params(name, numbers));
  for (Index k = 0; k < problem.likelihood->free_size(); ++k)
    problem.priors.push_back(parameter_prior(1.3));
  check(problem);
}

TEST_CASE("unknown rows: densities of a number, sums are derivatives of the value") {
  const std::map<std::string, Numbers> known{
      {"eps_insensitive", {{"scale", 0.7}, {"kappa", 0.8}}},
      {"asymmetric_laplace", {{"tau", 0.2}, {"scale", 0.7}}},
      {"normal", {{"sd", 0.9}}}};
  for (const auto& numbers : known)
    for (const Use use : {Use::augmented, Use::expected}) {
      CAPTURE(numbers.first);
      CAPTURE(static_cast<int>(use));
      Lost lost(small_shape(), Pattern::any, "hinge");
      take(lost.problem, numbers.first, numbers.second);
      check_derivatives(Asked(lost.problem, use), middle(lost));
    }
}

// A density with latent scales that is no sum of hinges.
class NoSum : public Insensitive {
 public:
  using Insensitive::Insensitive;
  Atoms atoms(double) const override { return {}; }
};

TEST_CASE("unknown rows: with latent scales it must be a sum of hinges") {
  Lost lost(small_shape(), Pattern::any, "hinge");
  lost.problem.likelihood.reset(new NoSum(1.3, 0.5));
  CHECK_THROWS_AS(Asked(lost.problem, Use::augmented).sums(middle(lost)), InvalidInput);
}

// ---- parameters that are inferred

const std::map<std::string, Numbers> kFamilies{
    {"eps_insensitive", {}}, {"asymmetric_laplace", {{"tau", 0.2}}}, {"normal", {}}};

State at_parameters(const Lost& lost, State state) {
  Vec theta(state.layout.parameters);
  for (Index k = 0; k < theta.size(); ++k) theta[k] = -0.3 + 0.5 * static_cast<double>(k);
  Coefficients(lost.problem).set_parameters(state, theta);
  state.slopes() = 1;
  return state;
}

// q of the entries follows the parameters in each pass, which the sums' slope need not know.
TEST_CASE("unknown rows: the slope in parameters is that of the value, and nothing else changes") {
  for (const Index groups : {0, 6})
    for (const auto& family : kFamilies)
      for (const Use use : {Use::augmented, Use::expected}) {
        CAPTURE(groups);
        CAPTURE(family.first);
        CAPTURE(static_cast<int>(use));
        Lost lost(small_shape(groups > 0 ? 2 : 0, groups), Pattern::any, "hinge");
        take(lost.problem, family.first, family.second);
        Asked asked(lost.problem, use);
        State state = at_parameters(lost, middle(lost));
        if (groups > 0) asked.settle_groups(state, 3);
        const RowSums sums = asked.sums(state);
        REQUIRE(state.layout.parameters == lost.problem.parameters());
        for (Index k = 0; k < state.layout.parameters; ++k) {
          const double found = slope([&](double t) {
            State moved = state;
            moved.parameters()[k] += t;
            return asked.value(moved);
          }, 1e-3);
          CHECK(std::abs(sums.pull()[k] - found) < 1e-7 * (1 + std::abs(found)));
        }
        state.slopes() = 0;
        RowSums without = asked.sums(state);
        without.pull() = sums.pull();
        CHECK(same_bits(without.x, sums.x));
      }
}

// With coefficients that are known a row says log E p^w, f ~ N(m, t), of a pair of hinges by the
// trapezoid rule: m and t from the conditional normal distribution of the last predictor.
TEST_CASE("unknown rows: the slope in parameters is that of integrals over f") {
  Lost lost(small_shape(), Pattern::column, "hinge");
  take(lost.problem, "eps_insensitive", {});
  State state = at_parameters(lost, middle(lost));
  const Index p = state.layout.p, last = p - 2;
  state.inverse_factor() = 1e-6 * Mat::Identity(p, p);
  const ImputationSlots slots(lost.of);
  const Mat precision = slots.precision(state), mean = slots.mean(state);
  const Vec b = state.mean().cwiseProduct(lost.problem.blocks[0]->unit());
  const Mat design = lost.data.design();
  const auto total = [&](double log_s, double log_kappa) {
    const PairLaw law = law_at(log_s, log_kappa);
    Real sum = 0;
    for (Index i = 0; i < lost.problem.n; ++i) {
      const Vec center = mean.transpose() * lost.given.row(i).transpose();
      Vec x = design.row(i).transpose(), away(p);
      for (Index j = 0; j < p - 1; ++j)
        away[j] = (x[j + 1] - lost.of.center[j]) / lost.of.factor[j] - center[j];
      away[p - 1] = lost.auxiliary(i, 0) - center[p - 1];
      const bool unknown = std::isnan(away[last]);
      const double weight = lost.data.weight[i], off = lost.data.y[i] - lost.data.offset[i];
      if (unknown) {
        away[last] = 0;
        const double at = center[last] - precision.row(last).dot(away) / precision(last, last);
        x[p - 1] = lost.of.center[last] + lost.of.factor[last] * at;
      }
      const Real m = x.dot(b);
      if (!unknown) {
        sum += weight * law.log_p(off - m);
        continue;
      }
      const Real s = lost.of.factor[last] * std::abs(b[p - 1]) / std::sqrt(precision(last, last));
      Real mass = 0;
      for (Real z = -12; z < 12; z += 0.0005L)
        mass += 0.0005L * std::exp(weight * law.log_p(off - m - s * z) - z * z / 2);
      sum += std::log(mass) - std::log(2 * kPi) / 2;
    }
    return sum;
  };
  const RowSums sums = Asked(lost.problem, Use::expected).sums(state);
  const double h = 1e-3, s = state.parameters()[0], kappa = state.parameters()[1];
  const Real by_s = (total(s + h, kappa) - total(s - h, kappa)) / (2 * h),
             by_kappa = (total(s, kappa + h) - total(s, kappa - h)) / (2 * h);
  CHECK(std::abs(sums.pull()[0] - by_s) < 4e-5L);
  CHECK(std::abs(sums.pull()[1] - by_kappa) < 1e-5L);
}

TEST_CASE("unknown rows: what a fit says of entries is at the parameters it ended with") {
  for (const Use use : {Use::augmented, Use::expected}) {
    Lost lost(small_shape(), Pattern::any, "hinge"), known(small_shape(), Pattern::any, "hinge");
    take(lost.problem, "normal", {});
    State state = at_parameters(lost, middle(lost));
    take(known.problem, "normal", {{"sd", std::exp(state.parameters()[0])}});
    Asked asked(lost.problem, use);
    State elsewhere = state;
    elsewhere.parameters()[0] += 1;
    asked.value(elsewhere);
    const Imputations found = asked.source.imputations(state),
                      expected = Asked(known.problem, use).source.imputations(middle(known));
    CHECK(same_bits(found.mean, expected.mean));
    CHECK(same_bits(found.sd, expected.sd));
  }
}

TEST_CASE("unknown rows: parameters of terms are refused") {
  Lost lost(small_shape(), Pattern::any, "hinge");
  Noise noise(8);
  lost.problem.blocks.emplace_back(new Waves(noise.normals(lost.problem.n), 1));
  const Index p = lost.problem.columns();
  lost.problem.priors.push_back(to_slot(normal_prior(1, {p - 1})));
  lost.problem.priors.push_back(parameter_prior(1.5));
  lost.problem.blocks.back()->find_parameters(0);
  CHECK_THROWS_WITH_AS(check(lost.problem), doctest::Contains("parameters of terms"), InvalidInput);
  lost.problem.latent = std::make_unique<Latent>();
  CHECK_NOTHROW(check(lost.problem));
}

TEST_CASE("unknown rows: entries as they were drawn last, in a design") {
  for (Index most_gathered : {0, 1 << 22}) {
    const Lost lost(small_shape(), Pattern::any, "hinge");
    MemorySource source(lost.problem, Use::drawn, 1, most_gathered);
    State state = middle(lost);
    RowSums sums(state.layout);
    Host host;
    source.sums(state, sums, host);
    const Mat known = gather_design(lost.problem).transpose();
    Mat design = Mat::Zero(known.rows(), known.cols());
    source.fill_unknown(design);
    const Imputations drawn = source.imputations(state);
    Index entries = 0;
    for (size_t e = 0; e < drawn.row.size(); ++e) {
      const Index variable = drawn.variable[e], j = lost.of.column[variable];
      if (j < 0) continue;
      ++entries;
      CHECK(std::isnan(known(drawn.row[e], j)));
      const double outside = lost.of.center[variable] +
                             lost.of.factor[variable] * drawn.mean[static_cast<Index>(e)];
      CHECK(gap(design(drawn.row[e], j), outside * lost.problem.blocks[0]->unit()[j]) < 1e-13);
    }
    CHECK(entries > 0);
    for (Index i = 0; i < known.rows(); ++i)
      for (Index j = 0; j < known.cols(); ++j)
        if (!std::isnan(known(i, j))) CHECK(design(i, j) == known(i, j));
  }
}
