// Fits in numbers of rows alone: the posterior of linear predictors against plain inverses, and all
// of it against RowNewton, which has coefficients.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "coefficients/free_parameters.hpp"
#include "fitting.hpp"
#include "gaussian/full_kernel.hpp"
#include "gaussian/row_newton.hpp"
#include "gaussian/row_space.hpp"
#include "linalg/eigen_modules.hpp"
#include "parameter_data.hpp"

using namespace bsvm_test;

namespace {

Data data_of(Index n, Index p, std::uint64_t seed, bool weights = false) {
  Shape shape;
  shape.n = n;
  shape.p = p;
  shape.seed = seed;
  shape.weights = weights;
  return simulate(shape);
}

Problem with(const Data& data, const char* likelihood, std::vector<PriorSpec> priors) {
  Problem out = to_problem(data, priors, {});
  out.likelihood = Registry<Likelihood>::make(likelihood, Params());
  return out;
}

// The first column has a variance of its own, which is known.
Problem inferred(const Data& data, const char* likelihood) {
  return with(data, likelihood,
              {normal_prior(3, range(0, 1)), ridge_prior(2, 1.5, range(1, data.shape.p))});
}

Mat covariance_of(Index n, std::uint64_t seed) {
  const Data data = data_of(n, n + 3, seed);
  const Mat k = data.x * data.x.transpose();
  return k / k.diagonal().mean();
}

}  // namespace

TEST_CASE("row posterior: covariance and determinant are those of plain inverses") {
  const Index n = 40;
  const Mat k = covariance_of(n, 5);
  Host host;
  for (const int kind : {0, 1, 2, 3}) {
    INFO("kind ", kind);
    Arr w = Arr::LinSpaced(n, 0.01, 4);
    if (kind == 1) w.head(15).setZero();
    if (kind == 2) w.head(6).setConstant(-0.05);
    if (kind == 3) w.segment(3, 30) = Arr::LinSpaced(30, -0.08, -0.01);
    Mat found;
    double logdet = 0;
    RowPosterior posterior;
    REQUIRE(posterior(k, w, host, found, logdet));
    const Mat one = Mat::Identity(n, n) + k * w.matrix().asDiagonal();
    const Mat expected = one.partialPivLu().solve(k);
    CHECK((found - expected).cwiseAbs().maxCoeff() < 1e-10 * expected.cwiseAbs().maxCoeff());
    CHECK(std::abs(logdet - std::log(one.determinant())) < 1e-9);
    CHECK((found - found.transpose()).cwiseAbs().maxCoeff() == 0);
    Mat again;
    REQUIRE(posterior(k, w, host, again, logdet));
    CHECK(again == found);
  }
}

TEST_CASE("row posterior: weights that leave no covariance are refused") {
  const Mat k = covariance_of(20, 6);
  Host host;
  Mat found;
  double logdet;
  CHECK_FALSE(RowPosterior()(k, Arr::Constant(20, -1e3), host, found, logdet));
  CHECK_FALSE(RowPosterior()(k, Arr::Constant(20, std::nan("")), host, found, logdet));
}

namespace {

// Nodes of both rest within a hundredth of a standard deviation.
void check_nodes(const Problem& problem, const Node& a, const Node& b) {
  CHECK(a.matched == b.matched);
  CHECK(std::abs(a.log_density - b.log_density) < 2e-3);
  const OutsideMoments one = Coefficients(problem).outside(a.state, GroupPosterior()),
                       two = Coefficients(problem).outside(b.state, GroupPosterior());
  const Vec sd = one.covariance.diagonal().cwiseSqrt();
  const Vec ratio = two.covariance.diagonal().cwiseSqrt().cwiseQuotient(sd);
  CHECK((one.mean - two.mean).cwiseQuotient(sd).cwiseAbs().maxCoeff() < 0.02);
  CHECK((ratio.array() - 1).abs().maxCoeff() < 0.008);
}

}  // namespace

namespace {

// The highest bound where the inferred standard deviation is known.
double bound_at(const Data& data, const char* likelihood, double log_sd) {
  const Problem given =
      with(data, likelihood, {normal_prior(3, range(0, 1)),
                              normal_prior(std::exp(2 * log_sd), range(1, data.shape.p))});
  Host host;
  return RowNewton(given, close_options(), host).climb().bound;
}

}  // namespace

TEST_CASE("full kernel: bound, moments and hyper-parameters are RowNewton's") {
  for (const char* likelihood : kLikelihoods)
    for (const auto& size : {std::pair<Index, Index>{30, 30}, {25, 40}, {40, 20}})
      for (const bool weights : {false, true}) {
        INFO(std::string(likelihood), " ", size.first, " x ", size.second, " weights ", weights);
        const Data data = data_of(size.first, size.second, 3, weights);
        const Problem problem = inferred(data, likelihood);
        Host host;
        const Options options = close_options();
        RowNewton rows(problem, options, host);
        FullKernel kernel(problem, options, host);
        const Node expected = rows.climb(), found = kernel.climb();
        CHECK(kernel.progress().end == Termination::converged);
        CHECK(found.bound < expected.bound + 3e-4);
        Vec unused = Vec::Zero(1);
        CHECK(std::abs(found.bound - log_prior(problem, found.theta, unused) -
                       bound_at(data, likelihood, found.theta[0])) < 3e-4);
        for (const double by : {-1.0, 0.0, 0.8}) {
          INFO("by ", by);
          const Vec theta = expected.theta + Vec::Constant(1, by);
          check_nodes(problem, rows.at(theta, expected), kernel.at(theta, found));
        }
      }
}

TEST_CASE("full kernel: it climbs to the top of the density with moments matched") {
  for (const char* likelihood : kLikelihoods)
    for (const auto& size : {std::pair<Index, Index>{30, 30}, {25, 40}, {40, 20}}) {
      INFO(std::string(likelihood), " ", size.first, " x ", size.second);
      const Data data = data_of(size.first, size.second, 3, false);
      const Problem problem = inferred(data, likelihood);
      Host host;
      FullKernel kernel(problem, close_options(), host);
      const Node top = kernel.climb();
      REQUIRE(top.matched);
      const double step = 0.2;
      const auto at = [&](double by) { return kernel.at(top.theta + Vec::Constant(1, by), top); };
      const Node up = at(step), down = at(-step), far = at(2 * step), near = at(-2 * step);
      CHECK(up.log_density < top.log_density + 0.02);
      CHECK(down.log_density < top.log_density + 0.02);
      // The gradient is that of the density itself: five-point differences.
      const double slope = (near.log_density - far.log_density +
                            8 * (up.log_density - down.log_density)) / (12 * step);
      CHECK(std::abs(top.pull[0] - slope) < 0.02);
      const double bend = (2 * top.log_density - up.log_density - down.log_density) / (step * step);
      // Nearby is near enough for a line's steps, whose square it is one over of.
      const double curved = kernel.curvature(top)(0, 0);
      CHECK(curved > 0.5 * bend);
      CHECK(curved < 2 * bend);
    }
}

TEST_CASE("full kernel: what it is for") {
  const Data small = data_of(40, 60, 4), wide = data_of(120, 130, 4), few = data_of(120, 20, 4);
  CHECK_FALSE(FullKernel::suits(inferred(small, "hinge")));
  CHECK(FullKernel::suits(inferred(wide, "hinge")));
  CHECK_FALSE(FullKernel::suits(inferred(few, "hinge")));
  CHECK_FALSE(FullKernel::suits(
      with(wide, "hinge", {normal_prior(1e8, range(0, 1)), normal_prior(1, range(1, 130))})));
}

namespace {

// A likelihood whose moments never match: what is left is the bound.
class BoundAlone : public Likelihood {
 public:
  explicit BoundAlone(std::unique_ptr<Likelihood> own) : own_(std::move(own)) {}
  bool supports(Use use) const override { return own_->supports(use); }
  bool concave() const override { return own_->concave(); }
  Index free_size() const override { return own_->free_size(); }
  std::unique_ptr<Likelihood> with(ConstVecRef theta) const override {
    return std::make_unique<BoundAlone>(own_->with(theta));
  }
  void terms(Use use, const Eigen::Ref<const Arr>& y, const Eigen::Ref<const Arr>& m,
             const Eigen::Ref<const Arr>& v, RowTerms& out) const override {
    own_->terms(use, y, m, v, out);
  }
  Tilted averaged(double, double, double, double) const override {
    return {std::nan(""), std::nan(""), std::nan("")};
  }

 private:
  std::unique_ptr<Likelihood> own_;
};

// A known variance, one that is inferred, and columns that move with a number of their own and have
// another variance; then the likelihood's numbers, if it has some.
struct Moving {
  Moving(const char* name, bool bound, bool moves = true) : data(data_of(50, 5, 8, true)) {
    Noise noise(3);
    problem = usual_problem(data);
    problem.likelihood = Registry<Likelihood>::make(name, Params(name, {}));
    const Index own = problem.likelihood->free_size();
    const Vec x = 0.7 * noise.normals(50);
    data.y = data.offset + 0.5 * data.design() * noise.normals(5) + 0.7 * noise.normals(50);
    data.y.array() += 2 * (1.4 * x.array()).cos() - 1;
    if (own == 0) data.y = data.y.array().sign();
    if (bound) problem.likelihood = std::make_unique<BoundAlone>(std::move(problem.likelihood));
    problem.priors.clear();
    problem.priors.push_back(to_slot(normal_prior(3, range(0, 1))));
    problem.priors.push_back(to_slot(ridge_prior(2, 1.5, range(1, 5))));
    if (moves) {
      problem.blocks.emplace_back(new Waves(x, 4));
      problem.priors.push_back(to_slot(ridge_prior(2, 1.5, range(5, 9))));
    }
    for (Index k = 0; k < own; ++k) problem.priors.push_back(parameter_prior(1.5));
    if (moves) {
      problem.priors.push_back(parameter_slot("log_normal", {{"sd", 0.8}}));
      problem.blocks.back()->find_parameters(own);
    }
    check(problem);
  }

  Data data;
  Problem problem;
};

}  // namespace

// Sites are at rest within a hundredth of a standard deviation, or closer from those of places that
// are ever nearer. The bound has its q closely at the top alone: then differences have an error of
// second order.
TEST_CASE("full kernel: gradients in what moves columns, variances and a likelihood's numbers") {
  for (const char* likelihood : {"hinge", "hinge_normalized", "normal", "eps_insensitive"})
    for (const int kind : {0, 1, 2, 3}) {
      const bool bound = kind % 2 == 0, moves = kind < 2;
      INFO(std::string(likelihood), std::string(bound ? " bound" : " matched"),
           std::string(moves ? " columns move" : ""));
      const Moving moving(likelihood, bound, moves);
      Host host;
      FullKernel kernel(moving.problem, close_options(), host);
      const Node top = kernel.climb();
      REQUIRE(top.matched == !bound);
      const Index size = top.theta.size();
      REQUIRE(size == (moves ? 3 : 1) + moving.problem.likelihood->free_size());
      const auto tight = [&](const Vec& theta) {
        for (double by = 1e-3; by > 1e-12 && !bound; by *= 0.3)
          kernel.at(theta + Vec::Constant(size, by), top);
        return kernel.at(theta, top);
      };
      // Of the bound at its top, which is found closely; moments where rounds settle without damping.
      const Vec theta = bound ? top.theta : Vec(top.theta + Vec::LinSpaced(size, 0.2, -0.1));
      const Node here = bound ? top : tight(theta);
      REQUIRE(here.pull.size() == size);
      const double h = bound ? 0.03 : 0.01;
      for (Index k = 0; k < size; ++k) {
        const auto value = [&](double by) {
          return tight(theta + by * Vec::Unit(size, k)).log_density;
        };
        const double slope = (8 * (value(h) - value(-h)) - value(2 * h) + value(-2 * h)) / (12 * h);
        INFO("number ", k, " at ", theta[k], ": ", here.pull[k], " ", slope);
        CHECK(std::abs(here.pull[k] - slope) < (bound ? 2e-3 : 5e-5));
      }
    }
}

TEST_CASE("full kernel: a start that is known leads to the same top, sooner") {
  const Data data = data_of(40, 40, 3, false);
  Problem problem = inferred(data, "hinge_normalized");
  Host host;
  FullKernel plain(problem, close_options(), host);
  const Node top = plain.climb();
  for (PriorSlot& slot : problem.priors)
    if (slot.prior->free_size(static_cast<Index>(slot.columns.size())) == 1) slot.start = top.theta;
  const Coefficients side(problem);
  CHECK(gap(side.free(side.start(Vec()))[0], top.theta[0]) < 1e-14);
  FullKernel started(problem, close_options(), host);
  const Node again = started.climb();
  CHECK(std::abs(again.log_density - top.log_density) < 0.02);
  CHECK(std::abs(again.theta[0] - top.theta[0]) < 0.05);
}
