// Chains on priors that select: that which forms no Gram matrix makes the draws of that which does,
// and both keep what chains promise.
#include <doctest/doctest.h>

#include "base/error.hpp"
#include "gibbs/moving_chain.hpp"
#include "hosts.hpp"
#include "parameter_data.hpp"
#include "rows/memory/memory_source.hpp"

using namespace bsvm_test;

namespace {

PriorSpec spike_slab(std::vector<Index> columns) {
  return {"spike_slab",
          Params("spike_slab", {{"log_odds", -0.7}, {"shape_in", 1.2}, {"shape_out", 2.5},
                                {"nu", 0.9}}),
          std::move(columns)};
}

Problem selecting_problem(const Data& data) {
  const Index p = data.shape.p;
  return to_problem(data, {normal_prior(100, {0}), ridge_prior(2, 1, {1, 2}),
                           spike_slab(range(3, p))},
                    usual_group_priors(data.shape.q));
}

Data some_data(Index q = 0) {
  Shape shape;
  shape.n = 60;
  shape.p = 14;
  shape.q = q;
  shape.groups = q > 0 ? 9 : 0;
  return simulate(shape);
}

// Numbers, with an inferred scale and share outside the tube.
Problem number_problem(const Data& data) {
  Problem out = selecting_problem(data);
  out.likelihood = Registry<Likelihood>::make("eps_insensitive", Params("eps_insensitive", {}));
  out.priors.push_back(parameter_prior(0.7));
  out.priors.push_back(parameter_slot("beta", {{"shape1", 1}, {"shape2", 1}}));
  check(out);
  return out;
}

std::unique_ptr<Chain> summed(const Problem& problem, bool mixing) {
  const auto sampler = Registry<Sampler>::make("gibbs", Params("gibbs", {{"mixing", mixing}}));
  return sampler->start(
      problem, [&](Use, int threads) {
        return std::make_unique<MemorySource>(problem, Use::drawn, threads);
      }, 1, 77, 0, 100);
}

std::unique_ptr<Chain> wide(const Problem& problem, bool mixing) {
  return make_wide_chain(problem, {77, 0, 100, mixing});
}

const auto kBoth = {summed, wide};

// A saved chain goes on to the bit.
template <class ChainOf>
void check_goes_on(const ChainOf& chain_of, const Problem& problem, bool mixing) {
  const auto whole = chain_of(problem, mixing), first = chain_of(problem, mixing),
             second = chain_of(problem, mixing);
  Host host;
  for (int k = 0; k < 30; ++k) whole->sweep(host);
  for (int k = 0; k < 11; ++k) first->sweep(host);
  second->restore(first->save());
  for (int k = 11; k < 30; ++k) second->sweep(host);
  CHECK(whole->save() == second->save());
}

// Both chains make the same draws of the problem.
void check_same_draws(const Problem& problem) {
  for (const bool mixing : {false, true}) {
    const auto a = summed(problem, mixing), b = wide(problem, mixing);
    Host host;
    Draw one, other;
    Index zeros = 0, changes = 0;
    Vec before = Vec::Zero(14);
    for (int k = 0; k < 12; ++k) {
      a->sweep(host);
      b->sweep(host);
      a->read(one);
      b->read(other);
      CHECK((one.coefficients - other.coefficients).norm() < 1e-6);
      CHECK((one.expected - other.expected).norm() < 1e-6);
      CHECK((one.hyper - other.hyper).norm() < 1e-6);
      const auto in = [](const Vec& x) { return (x.array() != 0).count(); };
      zeros += 14 - in(one.coefficients);
      changes += in(one.coefficients) != in(before);
      before = one.coefficients;
    }
    CHECK(zeros > 12);
    CHECK(changes > 3);
  }
}

}  // namespace

TEST_CASE("columns asked for one by one and a whole Gram matrix give the same draws") {
  const Data data = some_data();
  check_same_draws(selecting_problem(data));
}

TEST_CASE("both chains draw a scale and a tube, and go on to the bit") {
  const NumberData numbers(some_data().shape);
  const Problem problem = number_problem(numbers.data);
  check_same_draws(problem);
  for (const auto chain_of : kBoth) check_goes_on(chain_of, problem, true);
}

TEST_CASE("moves along lines leave what is out where it is") {
  const Data data = some_data(1);
  const Problem problem = selecting_problem(data);
  for (const auto chain_of : kBoth) {
    const auto chain = chain_of(problem, true);
    Host host;
    for (int k = 0; k < 50; ++k) {
      chain->sweep(host);
      const Vec saved = chain->save();  // sweeps, mean (14), hyper: ridge (2), log odds, g (11)
      for (Index j = 0; j < 11; ++j) CHECK((saved[4 + j] != 0) == (saved[18 + j] == 1));
    }
  }
}

TEST_CASE("a saved chain that selects goes on to the bit") {
  const Data data = some_data(2);
  const Problem problem = selecting_problem(data);
  for (const auto chain_of : kBoth)
    for (const bool mixing : {false, true}) check_goes_on(chain_of, problem, mixing);
}

TEST_CASE("a sweep that selects, interrupted anywhere, has not been") {
  const Data data = some_data(1);
  const Problem problem = selecting_problem(data);
  Host patient;
  for (const auto chain_of : kBoth) {
    const auto whole = chain_of(problem, true);
    for (int k = 0; k < 4; ++k) whole->sweep(patient);
    int interrupted = 0;
    for (int patience = 0; patience < 40; ++patience) {
      const auto cut = chain_of(problem, true);
      for (int k = 0; k < 3; ++k) cut->sweep(patient);
      ImpatientHost host(patience);
      try {
        cut->sweep(host);
      } catch (const Interrupted&) {
        ++interrupted;
        cut->sweep(patient);
      }
      CHECK(cut->save() == whole->save());
    }
    CHECK(interrupted > 5);
  }
}
