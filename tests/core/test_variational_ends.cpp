// How a run ends, and what it leaves.
#include <doctest/doctest.h>

#include "base/error.hpp"
#include "fitting.hpp"
#include "forward_source.hpp"
#include "hosts.hpp"

using namespace bsvm_test;

namespace {

Shape small_shape() {
  Shape shape;
  shape.n = 70;
  shape.q = 2;
  shape.groups = 8;
  return shape;
}

Options hard_options(int passes) {  // far off, so that steps have to be taken back
  Options out;
  out.max_passes = passes;
  out.start = Eigen::Vector3d(50, -200, 600);
  return out;
}

// Every pass finds less than the one before.
class Falling : public Forward {
 public:
  using Forward::Forward;
  void sums(const State& state, RowSums& out, Host& host) override {
    Forward::sums(state, out, host);
    out.value() -= 1e6 * ++passes_;
  }

 private:
  int passes_ = 0;
};

class Indefinite : public Forward {
 public:
  using Forward::Forward;
  void sums(const State& state, RowSums& out, Host& host) override {
    Forward::sums(state, out, host);
    out.weight()(0, 0) = -1e6;
  }
};

class Undefined : public Forward {
 public:
  using Forward::Forward;
  void sums(const State& state, RowSums& out, Host& host) override {
    Forward::sums(state, out, host);
    out.value() = std::numeric_limits<double>::quiet_NaN();
  }
};

template <class Source>
Fit fit_through(const Problem& problem) {
  MemorySource rows(problem, Use::augmented, 1);
  Source source(rows);
  Host host;
  return fit(problem, source, Options(), host);
}

class Listener : public Host {
 public:
  std::vector<std::string> texts;
  void progress(const std::string& text) override { texts.push_back(text); }
};

template <class Source>
std::string failure_of(const Problem& problem) {
  try {
    fit_through<Source>(problem);
  } catch (const NumericalFailure& failure) {
    return failure.what();
  }
  return "";
}

}  // namespace

TEST_CASE("wherever a run stops, its bound is that of the q it returns") {
  const Data data = simulate(small_shape());
  const Problem problem = usual_problem(data);
  for (int passes = 2; passes < 40; ++passes) {
    CAPTURE(passes);
    const Fit found = fit(problem, hard_options(passes));
    CHECK(found.result.end == Termination::pass_limit);
    CHECK(found.result.trace.size() == static_cast<size_t>(passes));
    CHECK(gap(found.result.bound, twin_at(data, found).bound()) < 1e-10);
  }
}

TEST_CASE("an interrupted run returns the best it has") {
  const Data data = simulate(small_shape());
  const Problem problem = usual_problem(data);
  for (int patience = 0; patience < 60; ++patience) {  // questions, several a pass
    MemorySource source(problem, Use::augmented, 1);
    ImpatientHost host(patience);
    const Fit found = fit(problem, source, hard_options(1000), host);
    CHECK(found.result.end == Termination::interrupted);
    CHECK(found.result.state.begun() == (found.result.trace.size() > 1));
    if (found.result.state.begun())
      CHECK(gap(found.result.bound, twin_at(data, found).bound()) < 1e-10);
  }
}

TEST_CASE("a bound that only falls ends the run as stalled, at the last good q") {
  const Data data = simulate(small_shape());
  const Fit found = fit_through<Falling>(usual_problem(data));
  CHECK(found.result.end == Termination::stalled);
  REQUIRE(found.result.trace.size() == 5);
  const double steps[] = {1, 0.25, 0};
  for (int k = 0; k < 3; ++k) CHECK(found.result.trace[k + 2].step == steps[k]);
  CHECK(found.result.bound == found.result.trace[1].bound);
  CHECK(gap(found.result.bound + 2e6, twin_at(data, found).bound()) < 1e-8);
}

TEST_CASE("a run stops when a pass gains less than the tolerance") {
  const Data data = simulate(small_shape());
  for (double tolerance : {1e-3, 1e-6, 1e-10}) {
    Options options;
    options.tolerance = tolerance;
    const Result result = fit(usual_problem(data), options).result;
    CHECK(result.end == Termination::converged);
    const auto& trace = result.trace;
    CHECK(trace.back().bound - trace[trace.size() - 2].bound <= tolerance + 1e-10);
    CHECK(result.gradient <= 10 * std::sqrt(tolerance));
    CHECK(result.bound == trace.back().bound);
  }
}

TEST_CASE("a run that cannot start says why") {
  const Data data = simulate(small_shape());
  const Problem problem = usual_problem(data);
  Options options;
  options.max_passes = 1;
  CHECK_THROWS_AS(fit(problem, options), InvalidInput);
  options.max_passes = 10;
  options.start = Vec::Zero(problem.columns() + 1);
  CHECK_THROWS_AS(fit(problem, options), InvalidInput);
  CHECK_THROWS_AS(MemorySource(problem, Use::augmented, 0), InvalidInput);
}

TEST_CASE("a source that has served a run serves the next one the same") {
  const Data data = simulate(small_shape());
  const Problem problem = usual_problem(data);
  MemorySource source(problem, Use::augmented, 1);
  Host host;
  const Result first = fit(problem, source, Options(), host).result;
  const Result second = fit(problem, source, Options(), host).result;
  REQUIRE(first.trace.size() == second.trace.size());
  for (size_t k = 0; k < first.trace.size(); ++k)
    CHECK(first.trace[k].bound == second.trace[k].bound);
}

TEST_CASE("ends have names") {
  CHECK(std::string(name_of(Termination::converged)) == "converged");
  CHECK(std::string(name_of(Termination::pass_limit)) == "pass_limit");
  CHECK(std::string(name_of(Termination::interrupted)) == "interrupted");
  CHECK(std::string(name_of(Termination::stalled)) == "stalled");
}

TEST_CASE("arithmetic that gives out is a failure that says where or what to try") {
  Data data = simulate(small_shape());
  const Problem problem = usual_problem(data);
  CHECK(failure_of<Indefinite>(problem).find("not positive definite") != std::string::npos);
  CHECK(failure_of<Undefined>(problem).find("became infinite or undefined") != std::string::npos);
  data.offset[3] = -1e200;
  CHECK_THROWS_AS(failure_of<Forward>(problem), InvalidInput);
}

TEST_CASE("the host hears of every pass") {
  const Data data = simulate(small_shape());
  const Problem problem = usual_problem(data);
  MemorySource source(problem, Use::augmented, 1);
  Listener host;
  const Fit found = fit(problem, source, Options(), host);
  REQUIRE(host.texts.size() == found.result.trace.size());
  CHECK(host.texts[1].find("iteration 2: bound -") == 0);
  CHECK(host.texts[1].find(", gradient ") != std::string::npos);
}
