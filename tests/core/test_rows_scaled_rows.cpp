// Rows' sums with a scale that differs by row: derivatives in its coefficients, which no likelihood
// is moved for.
#include <doctest/doctest.h>

#include "components.hpp"
#include "fitting.hpp"
#include "parameter_differences.hpp"
#include "rows/make_source.hpp"
#include "rows/sparse/sparse_source.hpp"
#include "sparse_data.hpp"
#include "tube_data.hpp"

using namespace bsvm_test;

namespace {

constexpr Index kColumns = 3;

// What the likelihood looks up, and the rows' numbers in place of their responses.
struct LookedUp {
  Vec response, code;
  Mat columns;

  explicit LookedUp(const Vec& y)
      : response(y), code(Vec::LinSpaced(y.size(), 0, static_cast<double>(y.size() - 1))),
        columns(y.size(), kColumns) {
    Noise noise(8);
    for (Index k = 0; k < kColumns; ++k) columns.col(k) = noise.normals(y.size());
  }

  void infer(Problem& problem) const {
    infer_both(problem);
    problem.y = code.data();
    problem.likelihood = Registry<Likelihood>::make(
        "eps_insensitive",
        Params("eps_insensitive", {},
               {{"response", Params::Array(response.data(), response.size(), 1)},
                {"scale_columns", Params::Array(columns.data(), columns.rows(), kColumns)}}));
    for (Index k = 0; k < kColumns; ++k)
      problem.priors.push_back(parameter_slot("log_normal", {{"sd", 1}}));
    check(problem);
  }
};

Vec some_theta() { return (Vec(2 + kColumns) << -0.3, 0.2, 0.4, -0.2, 0.1).finished(); }

}  // namespace

TEST_CASE("scaled rows: derivatives of rows' sums in memory, grouped or not") {
  for (const Index groups : {0, 5})
    for (const Use use : {Use::augmented, Use::expected}) {
      const Data data = numbers(shape_of(60, 3, groups));
      Problem problem = usual_problem(data);
      const LookedUp looked_up(data.y);
      looked_up.infer(problem);
      MemorySource source(problem, use, 2);
      check_derivatives(source, some_state(Coefficients(problem), source, some_theta()));
    }
}

TEST_CASE("scaled rows: derivatives of rows' sums with sparse columns") {
  const SparseData data = crossed(shape_of(50, 2), {6, 4});
  Problem problem = data.problem();
  const LookedUp looked_up(Eigen::Map<const Vec>(problem.y, problem.n));
  looked_up.infer(problem);
  for (const Use use : {Use::augmented, Use::expected}) {
    SparseSource source(problem, use, 1);
    const Coefficients side(problem, source.extra());
    check_derivatives(source, some_state(side, source, some_theta()));
  }
}
