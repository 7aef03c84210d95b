// A factor's effects integrated out of densities of numbers, whose parameters are given or inferred:
// sums over groups against brute force.
#include <doctest/doctest.h>

#include <cmath>

#include "base/error.hpp"
#include "components.hpp"
#include "gaussian/integrated.hpp"
#include "hosts.hpp"
#include "integrated_sums.hpp"
#include "integrated_twin.hpp"
#include "pair_row_law.hpp"
#include "parameter_data.hpp"

using namespace bsvm_test;

namespace {

Shape grouped_shape() {
  Shape shape;
  shape.n = 60;
  shape.q = 1;
  shape.groups = 9;
  return shape;
}

// Without parameters scale 0.7 and kappa 0.4, with one kappa is given.
Problem problem_of(const NumberData& from, Index parameters) {
  Problem out = to_problem(from.data, usual_priors(from.data.shape.p), usual_group_priors(1));
  std::map<std::string, double> given;
  if (parameters < 1) given["scale"] = 0.7;
  if (parameters < 2) given["kappa"] = 0.4;
  out.likelihood =
      Registry<Likelihood>::make("eps_insensitive", Params("eps_insensitive", given));
  for (Index k = 0; k < parameters; ++k) out.priors.push_back(parameter_prior(1));
  out.integrated = 0;
  check(out);
  return out;
}

// The rows' share by brute force at (b inside, log sd outside, log scale, log kappa).
class Truth {
 public:
  Truth(const Problem& problem, const Data& data) {
    const Mat design = data.design();
    Vec unit(problem.columns());
    Index first = 0;
    for (const auto& block : problem.blocks) {
      unit.segment(first, block->columns()) = block->unit();
      first += block->columns();
    }
    d_ = problem.columns();
    for (int g = 1; g <= data.shape.groups; ++g) {
      std::vector<Index> rows;
      for (Index i = 0; i < data.shape.n; ++i)
        if (data.group[i] == g) rows.push_back(i);
      const Index r = static_cast<Index>(rows.size());
      RowsData own{Vec(r), Vec(r), Vec(r), Vec(r), Mat(d_, r)};
      for (Index k = 0; k < r; ++k) {
        own.y[k] = data.y[rows[k]];
        own.weight[k] = data.weight[rows[k]];
        own.o[k] = data.offset[rows[k]];
        own.z[k] = data.z(rows[k], 0);
        own.c.col(k) = design.row(rows[k]).transpose().cwiseProduct(unit);
      }
      groups_.push_back(own);
      rows_.push_back(rows);
    }
  }

  RowLaw law(const VecL& at) const {
    const Real scale = at.size() > d_ + 1 ? std::exp(at[d_ + 1]) : 0.7L,
               kappa = at.size() > d_ + 2 ? std::exp(at[d_ + 2]) : 0.4L;
    return row_law({1 / scale, 1 / scale, scale * kappa, scale * kappa});
  }
  EffectTruth group(size_t g, const VecL& at, const std::vector<double>& cdf = {}) const {
    return brute_force(law(at), moved(groups_[g], at.head(d_).cast<double>()), std::exp(at[d_]),
                       cdf);
  }
  Real value(const VecL& at) const {
    Real sum = 0;
    for (size_t g = 0; g < groups_.size(); ++g)
      if (groups_[g].y.size() > 0) sum += group(g, at).value;
    return sum;
  }
  // In b and log sd as brute force has it, in parameters by differences.
  VecL gradient(const VecL& at) const {
    VecL out = VecL::Zero(at.size());
    for (size_t g = 0; g < groups_.size(); ++g)
      if (groups_[g].y.size() > 0) out.head(d_ + 1) += group(g, at).gradient;
    const Real h = 1e-4L;
    for (Index k = d_ + 1; k < at.size(); ++k) {
      const VecL by = h * VecL::Unit(at.size(), k);
      out[k] = (8 * (value(at + by) - value(at - by)) - value(at + 2 * by) + value(at - 2 * by)) /
               (12 * h);
    }
    return out;
  }

  std::vector<RowsData> groups_;
  std::vector<std::vector<Index>> rows_;

 private:
  Index d_;
};

Vec point_of(Index parameters) {
  Vec out(4 + parameters);
  out.head(4) << 0.3, -0.2, 0.4, 0.1;
  if (parameters > 0) out[4] = -0.3;
  if (parameters > 1) out[5] = -0.6;
  return out;
}

}  // namespace

TEST_CASE("integrated numbers: sums are brute force's, in parameters too") {
  const NumberData from(grouped_shape());
  for (Index parameters : {0, 1, 2}) {
    const Problem problem = problem_of(from, parameters);
    IntegratedSource source(problem, 1);
    const Truth truth(problem, from.data);
    const Vec point = point_of(parameters);
    REQUIRE(source.free() == 1 + parameters);
    RowSums sums = sums_at(source, point);
    const VecL at = point.cast<Real>();
    INFO("parameters " << parameters);
    CHECK(gap(sums.value(), truth.value(at)) < 1e-12);
    const VecL gradient = truth.gradient(at);
    const double size = 1 + static_cast<double>(gradient.norm());
    CHECK((sums.linear() - gradient.cast<double>()).norm() < 3e-8 * size);
    const Mat whole = sums.curvature().selfadjointView<Eigen::Lower>();
    for (Index k = 0; k < point.size(); ++k) {
      const Real h = 1e-5L;
      const VecL by = h * VecL::Unit(point.size(), k);
      const Vec bend =
          ((truth.gradient(at + by) - truth.gradient(at - by)) / (2 * h)).cast<double>();
      INFO("coordinate " << k);
      CHECK((whole.col(k) + bend).norm() < 2e-5 * (1 + bend.norm()));
    }
    RowSums shallow = sums_at(source, point, Depth::gradient);
    CHECK((shallow.linear() - sums.linear()).norm() < 1e-8 * size);
    CHECK(sums_at(source, point, Depth::value).value() == doctest::Approx(sums.value()));
  }
}

TEST_CASE("integrated numbers: terms and quantiles are brute force's") {
  const NumberData from(grouped_shape());
  for (Index parameters : {0, 2}) {
    const Problem problem = problem_of(from, parameters);
    IntegratedSource source(problem, 1);
    const Truth truth(problem, from.data);
    Mat points(4 + parameters, 2);
    points.col(0) = points.col(1) = point_of(parameters);
    points.col(1).array() += 0.2;
    Host host;
    INFO("parameters " << parameters);
    const Mat groups = source.group_terms(points, host), rows = source.row_terms(points, host);
    for (Index k = 0; k < 2; ++k) {
      const VecL at = points.col(k).cast<Real>();
      for (size_t g = 0; g < truth.groups_.size(); ++g) {
        if (truth.rows_[g].empty()) continue;
        const Real all = truth.group(g, at).value;
        CHECK(std::abs(static_cast<double>(groups(static_cast<Index>(g), k) - all)) < 1e-10);
        Truth without = truth;
        without.groups_[g].weight[0] = 0;
        CHECK(std::abs(static_cast<double>(rows(truth.rows_[g][0], k) -
                                           (all - without.group(g, at).value))) < 1e-10);
      }
    }
    Vec weights(2), p(3);
    weights << 1, 3;
    p << 0.025, 0.5, 0.9;
    const Mat quantiles = source.quantiles(points, weights, p, host);
    for (size_t g = 0; g < truth.groups_.size(); ++g) {
      const Index own = static_cast<Index>(g);
      std::vector<double> cut(3);
      for (Index j = 0; j < 3; ++j) cut[static_cast<size_t>(j)] = quantiles(j, own);
      const EffectTruth one = truth.group(g, points.col(0).cast<Real>(), cut),
                        other = truth.group(g, points.col(1).cast<Real>(), cut);
      for (size_t j = 0; j < 3; ++j)
        CHECK(std::abs(static_cast<double>((one.cdf[j] + 3 * other.cdf[j]) / 4) -
                       p[static_cast<Index>(j)]) < 1e-9);
    }
  }
}

TEST_CASE("integrated numbers: the climb ends at the top of b, variance and parameters") {
  const NumberData from(grouped_shape());
  for (Index parameters : {0, 1, 2}) {
    const Problem problem = problem_of(from, parameters);
    Options options;
    options.tolerance = 1e-12;
    Host host;
    Integrated engine(problem, Centre::mode, 1, options, host);
    const bsvm::Node top = engine.climb();
    INFO("parameters " << parameters);
    CHECK(engine.progress().end == Termination::converged);
    const PriorDensity prior(problem);
    const Truth truth(problem, from.data);
    const auto value = [&](const Vec& b, const Vec& theta) {
      VecL at(b.size() + prior.seen());
      at << b.cast<Real>(), prior.seen(theta).cast<Real>();
      return static_cast<double>(truth.value(at)) + prior.log_density(b, theta);
    };
    const Vec b = top.state.mean(), theta = top.theta;
    const double h = 1e-4;
    for (Index k = 0; k < b.size(); ++k) {
      const Vec by = h * Vec::Unit(b.size(), k);
      CHECK(std::abs(value(b + by, theta) - value(b - by, theta)) / (2 * h) < 1e-5);
    }
    for (const PriorDensity::Part& part : prior.parts())
      for (Index k = part.first; k < part.first + part.size; ++k) {
        if (part.seen < 0) continue;
        const Vec by = h * Vec::Unit(theta.size(), k);
        CHECK(std::abs(value(b, theta + by) - value(b, theta - by)) / (2 * h) < 1e-5);
      }
    // Nodes next to it: theirs is the mode of b there.
    bsvm::Node blind = top;
    blind.slope = Mat();
    for (const PriorDensity::Part& part : prior.parts()) {
      if (part.seen < 0 || part.size == 0) continue;
      const Vec by = 5e-3 * Vec::Unit(theta.size(), part.first);
      const Vec expected = (engine.at(theta + by, blind).state.mean() -
                            engine.at(theta - by, blind).state.mean()) / 1e-2;
      CHECK((top.slope.col(part.first) - expected).norm() < 0.01 * (1 + expected.norm()));
    }
  }
}

// The value is that of given parameters, which has its own oracle (integral_two_hinges).
TEST_CASE("integrated numbers: derivatives of two effects, parameters given or not") {
  Shape shape = grouped_shape();
  shape.q = 2;
  const NumberData from(shape);
  const auto problem_with = [&](const std::map<std::string, double>& numbers) {
    Problem out =
        to_problem(from.data, usual_priors(from.data.shape.p), usual_group_priors(2));
    out.integrated = 0;
    out.likelihood =
        Registry<Likelihood>::make("eps_insensitive", Params("eps_insensitive", numbers));
    return out;
  };
  const Problem known = problem_with({{"scale", 0.5}, {"kappa", 0.6}});
  Problem problem = problem_with({});
  for (int k = 0; k < 2; ++k) problem.priors.push_back(parameter_prior(1));
  IntegratedSource given(known, 1), source(problem, 1);
  const Index d = given.coefficients() + given.free();
  REQUIRE(source.free() == given.free() + 2);
  Vec point = Vec::Constant(d + 2, 0.1);
  point.tail(2) << std::log(0.5), std::log(0.6);
  RowSums sums = sums_at(source, point), fixed = sums_at(given, point.head(d));
  CHECK(gap(sums.value(), fixed.value()) < 1e-12);
  CHECK((sums.linear().head(d) - fixed.linear()).norm() < 1e-12 * (1 + fixed.linear().norm()));
  const Mat bend = sums.curvature().selfadjointView<Eigen::Lower>();
  for (Index k = 0; k < point.size(); ++k) {
    const double h = 1e-4;
    const Vec by = h * Vec::Unit(point.size(), k);
    RowSums up = sums_at(source, point + by, Depth::gradient),
            down = sums_at(source, point - by, Depth::gradient);
    INFO("coordinate " << k);
    CHECK(std::abs(sums.linear()[k] - (up.value() - down.value()) / (2 * h)) <
          1e-5 * (1 + sums.linear().norm()));
    CHECK((bend.col(k) + (up.linear() - down.linear()) / (2 * h)).norm() < 1e-3 * (1 + bend.norm()));
  }
}
