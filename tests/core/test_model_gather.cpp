// Rows are read in one place, which never shows a block that varies an empty State.
#include <doctest/doctest.h>

#include <functional>
#include <stdexcept>

#include "block/dense.hpp"
#include "chain/chains.hpp"
#include "components.hpp"
#include "fitting.hpp"
#include "loopback_source.hpp"
#include "model/gather.hpp"
#include "point/estimator.hpp"
#include "rows/make_source.hpp"
#include "sparse_data.hpp"

using namespace bsvm_test;

namespace {

// A block that says its columns depend on the State, and must be shown one.
class Varying : public Block {
 public:
  explicit Varying(std::unique_ptr<Block> of) : of_(std::move(of)) {}
  Index columns() const override { return of_->columns(); }
  bool varies() const override { return true; }
  const Vec& unit() const override { return of_->unit(); }
  void fill(const int* rows, Index r, const State& state,
            Eigen::Ref<Mat, 0, Eigen::OuterStride<>> out) const override {
    look(state);
    of_->fill(rows, r, state, out);
  }

 private:
  static void look(const State& state) {
    if (state.layout.p == 0) throw std::logic_error("An empty State.");
  }
  std::unique_ptr<Block> of_;
};

Problem varying(Problem problem) {
  for (auto& block : problem.blocks) block.reset(new Varying(std::move(block)));
  return problem;
}

using Run = std::function<Vec(const Problem&)>;

Options few() {
  Options options;
  options.max_passes = 30;
  return options;
}

// Every engine of every kind, and what it finds.
std::vector<std::pair<std::string, Run>> all_engines() {
  std::vector<std::pair<std::string, Run>> out;
  for (const std::string& name : Registry<Engine>::names())
    out.push_back({name, [=](const Problem& problem) -> Vec {
      Host host;
      const auto engine = make_any<Engine>(name);
      const auto source = make_source(problem, engine->use(), 1);
      return engine->run(problem, *source, few(), host).state.mean();
    }});
  for (const std::string& name : Registry<Approximator>::names())
    out.push_back({name, [=](const Problem& problem) -> Vec {
      Host host;
      return make_any<Approximator>(name)
          ->run(problem, source_maker(problem), few(), 1, host)
          .nodes.at(0)
          .state.mean();
    }});
  for (const std::string& name : Registry<Sampler>::names())
    out.push_back({name, [=](const Problem& problem) -> Vec {
      Host host;
      const auto sampler = make_any<Sampler>(name);
      SampleOptions options;
      options.chains = 1;
      options.draws = options.burnin = 5;
      return run_chains(*sampler, problem, source_maker(problem), options, host).chains.at(0).mean;
    }});
  for (const std::string& name : Registry<Estimator>::names())
    out.push_back({name, [=](const Problem& problem) -> Vec {
      Host host;
      return make_any<Estimator>(name)->run(problem, EstimateOptions(), host).coefficients;
    }});
  return out;
}

// Problems of every structure, of data that outlive them.
struct Structures {
  Data plain, grouped, wide;
  SparseData factors;
  std::vector<std::function<Problem()>> problems;

  Structures();
};

Shape small_shape(Index n, Index p, Index groups) {
  Shape out;
  out.n = n;
  out.p = p;
  out.q = groups > 0 ? 1 : 0;
  out.ones = groups > 0;
  out.groups = groups;
  return out;
}

Problem selecting(const Data& data) {
  const Params params("laplace_zero", {{"rho", 1}, {"shape", 1}, {"scale", 1}});
  return to_problem(data, {{"laplace_zero", params, range(0, data.shape.p)}}, {});
}

Structures::Structures()
    : plain(simulate(small_shape(40, 3, 0))), grouped(simulate(small_shape(40, 3, 6))),
      wide(simulate(small_shape(8, 12, 0))), factors(crossed(small_shape(40, 3, 0), {5, 4})) {
  problems = {
      [&] { return to_problem(plain, {normal_prior(3, range(0, 3))}, {}); },
      [&] { return usual_problem(plain); }, [&] { return usual_problem(grouped); },
      [&] { return with(usual_problem(grouped), "hinge", 0); },
      [&] { return with(usual_problem(grouped), "hinge_normalized", 0); },
      [&] { return with(usual_problem(plain), "hinge_normalized"); },
      [&] { return factors.problem(); },
      [&] { return selecting(plain); }, [&] { return selecting(wide); }};
}

}  // namespace

TEST_CASE("a block that varies is fitted with its State, or refused: never filled without one") {
  const Structures all;
  const auto& problems = all.problems;
  int fitted = 0, refused = 0;
  for (size_t k = 0; k < problems.size(); ++k)
    for (const auto& engine : all_engines()) {
      INFO(engine.first, " on problem ", k);
      Vec expected;
      try {
        expected = engine.second(problems[k]());
      } catch (const InvalidInput&) {
        continue;  // not an engine of this problem
      }
      try {
        const Vec found = engine.second(varying(problems[k]()));
        CHECK((found - expected).norm() < 1e-9 * (1 + expected.norm()));
        ++fitted;
      } catch (const InvalidInput& refusal) {
        CHECK(refusal.argument() == "formula");
        ++refused;
      }
    }
  CHECK(fitted >= 4);
  CHECK(refused >= 10);
}

TEST_CASE("rows that are elsewhere are read by nobody: every engine is refused, or has a source") {
  const Structures all;
  int refused = 0;
  for (size_t k = 0; k < all.problems.size(); ++k)
    for (const auto& engine : all_engines()) {
      if (all.problems[k]().sparse.columns > 0) continue;  // bring their rows along
      INFO(engine.first, " on problem ", k);
      try {
        engine.second(all.problems[k]());
      } catch (const InvalidInput&) {
        continue;  // not an engine of this problem
      }
      try {
        engine.second(elsewhere(all.problems[k]()));
        FAIL_CHECK("Rows were read.");
      } catch (const InvalidInput& refusal) {
        CHECK(refusal.argument() == "cluster");
        ++refused;
      }
    }
  CHECK(refused >= 20);
}

TEST_CASE("blocks stand below one another, in their order") {
  const Data data = simulate(small_shape(20, 3, 0));
  const Problem whole = usual_problem(data);
  Problem parts = usual_problem(data);
  parts.blocks.clear();
  for (Index first : {0, 1}) {
    const Index p = first == 0 ? 1 : 2;
    parts.blocks.emplace_back(new DenseBlock(data.x.col(first).data(), 20,
                                             data.center.segment(first, p),
                                             data.scale.segment(first, p)));
  }
  const std::vector<int> rows = all_rows(whole);
  Mat expected = Mat::Zero(3, 20), found = expected;
  gather_design(whole, rows.data(), 20, expected);
  gather_design(parts, rows.data(), 20, found);
  CHECK(found == expected);
}
