#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "block/dense.hpp"
#include "coefficients/coefficients.hpp"
#include "simulate.hpp"
#include "sparse_data.hpp"

using namespace bsvm_test;

namespace {

// One variance a coefficient: cannot be shared among coefficients no row sees.
class Separate : public Prior {
  bool exchangeable() const override { return false; }
  Index hyper_size(Index) const override { return 0; }
  void start(const Moments&, VecRef) const override {}
  void update(const Moments&, double, VecRef) const override {}
  void draw(const Moments&, Draws&, VecRef) const override {}
  void precision(ConstVecRef, VecRef out) const override { out.setOnes(); }
  double value(const Moments&, ConstVecRef) const override { return 0; }
  double log_scaled(const Moments&, ConstVecRef, double) const override { return 0; }
  void scale(VecRef, double) const override {}
  Index free_size(Index) const override { return 0; }
  void fix(ConstVecRef, VecRef) const override {}
  void free(ConstVecRef, VecRef) const override {}
  double log_joint(const Moments&, ConstVecRef, VecRef) const override { return 0; }
  NamedNumbers report(ConstVecRef) const override { return {}; }
  NamedNumbers drawn(ConstVecRef) const override { return {}; }
};

const Data& data() {
  static const Data made = [] {
    Shape shape;
    shape.n = 30;
    shape.q = 2;
    shape.groups = 5;
    return simulate(shape);
  }();
  return made;
}

std::string refused_argument(const Problem& problem) {
  try {
    check(problem);
  } catch (const InvalidInput& error) {
    CHECK(std::string(error.what()).back() == '.');
    return error.argument();
  }
  return "";
}

Problem with_slots(const std::vector<PriorSpec>& priors, const std::vector<PriorSpec>& groups) {
  return to_problem(data(), priors, groups);
}

}  // namespace

TEST_CASE("a problem whose parts fit is accepted") {
  const Problem problem = usual_problem(data());
  CHECK(refused_argument(problem) == "");
  CHECK(problem.columns() == 3);
  CHECK(problem.effects() == 2);
}

TEST_CASE("every column has exactly one prior") {
  const auto groups = usual_group_priors(2);
  CHECK(refused_argument(with_slots({normal_prior(1, {0, 1})}, groups)) == "blocks");
  CHECK(refused_argument(with_slots({normal_prior(1, {0, 1, 2, 2})}, groups)) == "blocks");
  CHECK(refused_argument(with_slots({normal_prior(1, {0, 1, 3})}, groups)) == "blocks");
  CHECK(refused_argument(with_slots({normal_prior(1, {-1, 0, 1})}, groups)) == "blocks");
  CHECK(refused_argument(with_slots(usual_priors(3), {})) == "group_blocks");
  CHECK(refused_argument(with_slots(usual_priors(3), usual_group_priors(3))) == "group_blocks");
}

TEST_CASE("group effects and unseen coefficients need one variance for all") {
  Problem problem = usual_problem(data());
  problem.group_priors[0].prior.reset(new Separate);
  CHECK_THROWS_AS(Coefficients{problem}, InvalidInput);
  problem = usual_problem(data());
  problem.priors[1].prior.reset(new Separate);
  CHECK(refused_argument(problem) == "");
  problem.priors[1].unseen = 4;
  CHECK(refused_argument(problem) == "prior");
}

TEST_CASE("a joint prior is for the effects of one factor") {
  const auto joint = [](double effects) {
    return Registry<Prior>::make(
        "inverse_wishart",
        Params("inverse_wishart", {{"effects", effects}, {"df", 3.0}, {"scale_1_1", 1.0},
                                   {"scale_2_1", 0.0}, {"scale_2_2", 1.0}}));
  };
  Problem problem = usual_problem(data());
  problem.group_priors.resize(1);
  problem.group_priors[0].prior = joint(2);
  problem.group_priors[0].columns = {0, 1};
  CHECK(refused_argument(problem) == "");
  problem.group_priors[0].levels = 3;
  CHECK(refused_argument(problem) == "group_blocks");
  problem = usual_problem(data());
  problem.group_priors[0].prior = joint(2);
  CHECK(refused_argument(problem) == "prior");
  problem = usual_problem(data());
  problem.priors[1].prior = joint(2);
  CHECK(refused_argument(problem) == "prior");
}

TEST_CASE("each multiplier has a prior of its own") {
  CHECK(refused_argument(with_slots(usual_priors(3), {ridge_prior(1, 1, {0, 1})})) == "prior");
}

TEST_CASE("a group has at most twelve effects") {
  Shape shape;
  shape.q = 13;
  shape.groups = 5;
  const Data many = simulate(shape);
  CHECK(refused_argument(usual_problem(many)) == "formula");
}

TEST_CASE("rows have classes of -1 and 1, weights from zero on, offsets that numbers tell apart") {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN(),
                   kEndless = std::numeric_limits<double>::infinity();
  Data own = data();
  const Problem problem = usual_problem(own);
  for (double y : {0.0, 2.0, -1.5, kNone}) {
    own.y = data().y;
    own.y[7] = y;
    CHECK(refused_argument(problem) == "y");
  }
  own.y = data().y;
  for (double weight : {-1e-9, kNone, kEndless}) {
    own.weight = data().weight;
    own.weight[29] = weight;
    CHECK(refused_argument(problem) == "weight");
  }
  own.weight[29] = 0;
  CHECK(refused_argument(problem) == "");
  for (double offset : {1.1e6, -1e9, kEndless, std::nan("")}) {
    own.offset[3] = offset;
    CHECK(refused_argument(problem) == "offset");
  }
  own.offset[3] = -9e5;
  CHECK(refused_argument(problem) == "");
}

TEST_CASE("sparse columns are compressed, with rows in increasing order and finite numbers") {
  const SparseData sparse = crossed(Shape(), {7, 5});
  Problem problem = sparse.problem({ridge_prior(1, 1, {0}), ridge_prior(1, 1, {1})});
  CHECK(refused_argument(problem) == "");
  const SparseColumns good = problem.sparse;
  const int size = good.start[good.columns];
  REQUIRE(good.start[1] > 1);
  std::vector<int> row(good.row, good.row + size), start(good.start, good.start + good.columns + 1);
  std::vector<double> value(good.value, good.value + size);
  problem.sparse.row = row.data();
  problem.sparse.start = start.data();
  problem.sparse.value = value.data();
  CHECK(refused_argument(problem) == "");
  const auto bad = [&](auto& place, auto to) {
    const auto before = place;
    place = to;
    CHECK(refused_argument(problem) == "sparse");
    place = before;
  };
  bad(row[1], row[0]);
  bad(row[0], static_cast<int>(problem.n));
  bad(row[0], -1);
  bad(start[0], 1);
  bad(start[1], start[2] + 1);
  bad(value[size - 1], std::numeric_limits<double>::quiet_NaN());
  bad(problem.sparse.columns, good.columns - 1);
  CHECK(refused_argument(problem) == "");
}
