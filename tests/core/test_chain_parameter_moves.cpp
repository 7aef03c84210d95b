// Slices of parameters, against a normal density that they are given as a log-likelihood.
#include "chain/parameter_moves.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "hosts.hpp"
#include "parameter_data.hpp"

using namespace bsvm_test;

namespace {

constexpr double kCorrelation = 0.98;

// Less the prior, so that what is drawn is the normal distribution with these means, sds 0.2 and
// 0.5 and that correlation.
double log_density(const Coefficients& side, const State& state) {
  Vec unused(2);
  const double a = (state.parameters()[0] - 0.3) / 0.2, b = (state.parameters()[1] + 1) / 0.5;
  return -0.5 * (a * a - 2 * kCorrelation * a * b + b * b) / (1 - kCorrelation * kCorrelation) -
         side.log_parameters(state.parameters(), unused);
}

Mat draws_of(const Coefficients& side, ParameterMoves& moves, State& state, int burnin, int draws) {
  Mat out(2, draws);
  for (int sweep = 1; sweep <= burnin + draws; ++sweep) {
    state.sweep() = sweep;
    moves.run(state, [&] { return log_density(side, state); }, sweep <= burnin);
    if (sweep > burnin) out.col(sweep - burnin - 1) = state.parameters();
  }
  return out;
}

}  // namespace

TEST_CASE("parameter moves: correlated parameters are drawn, and hardly depend on the last draw") {
  const NumberData numbers(Shape{});
  const Problem problem = numbers.problem(true);
  const Coefficients side(problem);
  State state = side.start(Vec());
  state.seed() = 5;
  ParameterMoves moves(side);
  constexpr int number = 4000;
  Mat draws = draws_of(side, moves, state, 500, number);
  const Vec mean = draws.rowwise().mean();
  CHECK(mean[0] == doctest::Approx(0.3).epsilon(0.04));
  CHECK(mean[1] == doctest::Approx(-1).epsilon(0.04));
  draws.colwise() -= mean;
  const Vec sd = (draws.rowwise().squaredNorm() / number).cwiseSqrt();
  CHECK(sd[0] == doctest::Approx(0.2).epsilon(0.06));
  CHECK(sd[1] == doctest::Approx(0.5).epsilon(0.06));
  CHECK(draws.row(0).dot(draws.row(1)) / number / sd.prod() ==
        doctest::Approx(kCorrelation).epsilon(0.01));
  for (Index k = 0; k < 2; ++k) {
    const double lag = draws.row(k).head(number - 1).dot(draws.row(k).tail(number - 1)) /
                       draws.row(k).squaredNorm();
    CHECK(lag < 0.3);
  }
}

// Half a normal density: there is no design beyond.
TEST_CASE("parameter moves: they don't go where the log-likelihood fails") {
  const NumberData numbers(Shape{});
  const Problem problem = numbers.problem(true);
  const Coefficients side(problem);
  State state = side.start(Vec());
  state.seed() = 7;
  ParameterMoves moves(side);
  constexpr int number = 4000;
  double sum = 0, highest = -1;
  for (int sweep = 1; sweep <= 300 + number; ++sweep) {
    state.sweep() = sweep;
    moves.run(state, [&] {
      if (state.parameters()[0] > 0.3) throw NumericalFailure("There is no design.");
      return log_density(side, state);
    }, sweep <= 300);
    if (sweep <= 300) continue;
    sum += state.parameters()[0];
    highest = std::max(highest, state.parameters()[0]);
  }
  CHECK(highest <= 0.3);
  CHECK(highest > 0.298);
  CHECK(sum / number == doctest::Approx(0.3 - 0.2 * std::sqrt(2 / 3.14159265)).epsilon(0.1));
}

TEST_CASE("parameter moves: what was learnt is all that goes on") {
  const NumberData numbers(Shape{});
  const Problem problem = numbers.problem(true);
  const Coefficients side(problem);
  for (const int cut : {7, 33, 60}) {
    State one = side.start(Vec()), other = one;
    one.seed() = other.seed() = 6;
    ParameterMoves whole(side), before(side), after(side);
    const auto sweeps = [&](ParameterMoves& moves, State& state, int from, int to) {
      for (int sweep = from; sweep <= to; ++sweep) {
        state.sweep() = sweep;
        moves.run(state, [&] { return log_density(side, state); }, sweep <= 50);
      }
    };
    sweeps(whole, one, 1, 80);
    sweeps(before, other, 1, cut);
    after.restore(before.learnt());
    sweeps(after, other, cut + 1, 80);
    CHECK(one.parameters() == other.parameters());
  }
}
