// Learning an additive model: against grids of its objective, and what must not matter.
#include <doctest/doctest.h>

#include <algorithm>

#include "additive_data.hpp"
#include "base/error.hpp"
#include "hosts.hpp"
#include "learn/learner.hpp"

using namespace bsvm_test;

namespace {

// Where a rough climb ends.
AdditiveModel from_there(const AdditiveSpec& spec) {
  Host host;
  const Learned rough = Learner(spec.model(), host).climb(2);
  AdditiveModel model = spec.model();
  Index k = 0;
  for (FreeNumber& number : model.numbers) number.start = rough.value.theta[k++];
  return model;
}

// As for users.
Learned learn(const AdditiveSpec& spec) {
  Host host;
  return Learner(from_there(spec), host).choose(1);
}

// The objective where the bound and the priors are highest, as it was found.
double top_of(const Learned& found) {
  for (const LookedAt& one : found.factors)
    if (one.log_factor == 0) return one.objective;
  return -1e300;
}

AdditiveSpec small(const char* likelihood, Index n = 16, std::uint64_t seed = 5) {
  AdditiveSpec out = wavy(n, likelihood, false, seed);
  out.summands[0].start << 0, 0.3;
  return out;
}

}  // namespace

TEST_CASE("learner: it finds the best of a grid over amplitude and length scale") {
  for (const char* likelihood : {"hinge", "hinge_normalized"})
    for (const std::uint64_t seed : {5, 6, 7}) {
      CAPTURE(std::string(likelihood));
      CAPTURE(seed);
      const AdditiveSpec spec = small(likelihood, 16, seed);
      Host host;
      Additive additive(spec.model(), host);
      double best = -1e300;
      Additive::Value near = additive.at(additive.start(), nullptr, 0);
      for (double log_sd = -3; log_sd < 3.1; log_sd += 0.25)
        for (double log_length = -3.5; log_length < 4.1; log_length += 0.25) {
          near = additive.at((Vec(2) << log_sd, log_length).finished(), &near, 0);
          best = std::max(best, near.objective());
        }
      const Learned found = Learner(from_there(spec), host).climb(1);
      CHECK(found.converged);
      CHECK(found.value.objective() > best - 0.01);
      CHECK(found.value.objective() < best + 0.15);  // and the grid is not far from there
    }
}

TEST_CASE("learner: of regression with inferred noise too") {
  AdditiveSpec spec = small("normal", 20);
  Host host;
  Additive additive(spec.model(), host);
  double best = -1e300;
  for (double log_sd = -2; log_sd < 2.1; log_sd += 0.4)
    for (double log_length = -2.5; log_length < 3.1; log_length += 0.4)
      for (double log_noise = -3; log_noise < 1.1; log_noise += 0.4) {
        const Vec theta = (Vec(3) << log_sd, log_length, log_noise).finished();
        best = std::max(best, additive.at(theta, nullptr, 0).objective());
      }
  const Learned found = learn(spec);
  CHECK(top_of(found) > best - 0.01);
}

TEST_CASE("learner: the common factor is the best by leave-one-out of those looked at") {
  for (const char* likelihood : {"hinge", "hinge_normalized", "eps_insensitive"})
    for (const std::uint64_t seed : {5, 6, 7, 8}) {
      CAPTURE(std::string(likelihood));
      const AdditiveSpec spec = small(likelihood, 24, seed);
      const Learned found = learn(spec);
      REQUIRE(found.factors.size() >= 2);
      double best = -1e300, chosen = 0;
      const double at = found.log_factor;
      for (std::size_t k = 0; k < found.factors.size(); ++k) {
        const LookedAt& one = found.factors[k];
        if (k > 0) CHECK(one.log_factor > found.factors[k - 1].log_factor);
        best = std::max(best, one.leave_one_out);
        if (one.log_factor == at) chosen = one.leave_one_out;
      }
      CHECK(chosen > best - 0.1);  // less is not worth another factor
      // the value is what is there
      Host host;
      Additive additive(spec.model(), host);
      const bool matched = additive.match();  // to a hundredth of a standard deviation
      const Additive::Value again = additive.at(found.value.theta, nullptr, 1e-14);
      CHECK(gap(again.objective(), found.value.objective()) < (matched ? 2e-4 : 2e-6));
      CHECK(std::abs(additive.leave_one_out(again) - chosen) < 0.02);
      for (const LookedAt& one : found.factors)
        if (one.log_factor == at) CHECK(gap(found.value.objective(), one.objective) < 1e-12);
      // all else is the best given the factor: the amplitude cannot gain
      for (const double by : {-0.3, 0.3}) {
        Vec moved = again.theta;
        moved[0] += by;
        CHECK(additive.at(moved, &again, 1e-12).objective() < again.objective() + 0.01);
      }
    }
}

// If they stayed, or followed their prior, the objective would rise by 1 to 3 for one in them.
TEST_CASE("learner: numbers of a kernel that are no length scales are best given the factor too") {
  for (const std::uint64_t seed : {5, 6, 8}) {
    CAPTURE(seed);
    AdditiveSpec spec = small("hinge", 40, seed);
    spec.summands[0].kernel = "rational";
    spec.summands[0].start.conservativeResize(3);
    spec.summands[0].start[2] = 0;
    spec.summands[0].free.push_back(true);
    spec.summands[0].length.push_back(false);
    const Learned found = learn(spec);
    REQUIRE(found.log_factor != 0);
    Host host;
    Additive additive(spec.model(), host);
    REQUIRE(additive.match() == found.matched);
    CHECK(std::abs(additive.at(found.value.theta, nullptr, 1e-14).gradient[2]) < 0.5);
  }
}

TEST_CASE("learner: numbers stay within their limits, and those without a prior where they are") {
  for (const char* likelihood : kAdditiveLikelihoods) {
    CAPTURE(std::string(likelihood));
    AdditiveSpec spec = wavy(20, likelihood, true);
    spec.summands[0].free[2] = false;
    spec.summands[2].free[0] = false;
    AdditiveModel model = spec.model();
    std::vector<std::pair<double, double>> limits;
    Vec start(static_cast<Index>(model.numbers.size()));
    Index k = 0;
    for (FreeNumber& number : model.numbers) {
      number.low = number.start - 0.1;
      number.high = number.start + 0.15;
      limits.push_back({number.low, number.high});
      start[k++] = number.start;
    }
    Host host;
    const Learned found = Learner(std::move(model), host).choose(2);
    int at_limits = 0;
    for (k = 0; k < start.size(); ++k) {
      const double x = found.value.theta[k];
      CHECK(x >= limits[k].first);
      CHECK(x <= limits[k].second);
      if (x == limits[k].first || x == limits[k].second) ++at_limits;
      if (k == 2 || k == 4) CHECK(x == start[k]);
    }
    CHECK(at_limits > 0);
  }
}

TEST_CASE("learner: nothing that is free is nothing to learn") {
  AdditiveSpec spec = small("hinge");
  spec.summands[0].free = {false, false};
  const Learned found = learn(spec);
  CHECK(found.value.theta == spec.summands[0].start);
  CHECK(found.evaluations == 1);
  CHECK(found.factors.size() == 1);
  CHECK(found.log_factor == 0);
}

TEST_CASE("learner: the order of rows does not matter") {
  for (const char* likelihood : kAdditiveLikelihoods) {
    CAPTURE(std::string(likelihood));
    const AdditiveSpec spec = small(likelihood, 20);
    AdditiveSpec turned = spec;
    std::vector<Index> order;
    for (Index i = 0; i < 20; ++i) order.push_back((7 * i + 3) % 20);
    turned.y = picked(spec.y, order);
    turned.summands[0].inputs = picked(spec.summands[0].inputs, {0, 1}, order);
    const Learned a = learn(spec), b = learn(turned);
    CHECK((a.value.theta - b.value.theta).cwiseAbs().maxCoeff() < 1e-8);
    CHECK(a.log_factor == b.log_factor);
    CHECK(a.evaluations == b.evaluations);
    CHECK(gap(b.value.bound, a.value.bound) < 1e-10);
  }
}

TEST_CASE("learner: a row of weight two is a row twice") {
  for (const char* likelihood : {"hinge_normalized", "normal"}) {
    AdditiveSpec spec = small(likelihood, 20);
    AdditiveSpec twice = spec;
    std::vector<Index> rows = range(0, 20);
    rows.push_back(6);
    twice.y = picked(spec.y, rows);
    twice.summands[0].inputs = picked(spec.summands[0].inputs, {0, 1}, rows);
    spec.weight = Vec::Ones(20);
    spec.weight[6] = 2;
    const Learned a = learn(spec), b = learn(twice);
    CHECK(std::abs(top_of(a) - top_of(b)) < 1e-5);
    // but the score without the row is another one than without one of two
    CHECK(std::abs(a.value.theta[1] - a.log_factor - b.value.theta[1] + b.log_factor) < 1e-4);
  }
}

TEST_CASE("learner: with few inducing inputs the factor is chosen with these") {
  AdditiveSpec spec = small("hinge_normalized", 40, 9);
  spec.summands[0].points = 6;
  const Learned found = learn(spec);
  Host host;
  Additive additive(spec.model(), host);
  REQUIRE(additive.approximate());
  const Additive::Value there = additive.at(found.value.theta, nullptr, 1e-14);
  CHECK(gap(there.objective(), found.value.objective()) < 1e-7);
  double best = -1e300;
  for (const LookedAt& one : found.factors) best = std::max(best, one.leave_one_out);
  CHECK(std::abs(additive.leave_one_out(there) - best) < 5e-4);
  // the length scale times the factor is what the bound of all rows says
  spec.summands[0].points = 0;
  const Learned full = learn(spec);
  CHECK(found.value.theta[1] - found.log_factor ==
        doctest::Approx(full.value.theta[1] - full.log_factor).epsilon(1e-12));
}

TEST_CASE("learner: classes without any signal have hardly a higher bound than a constant") {
  Noise noise(31);
  AdditiveSpec spec = small("hinge_normalized", 60);
  for (Index i = 0; i < 60; ++i) spec.y[i] = noise.uniform() < 0.5 ? -1 : 1;
  spec.fixed = Mat::Ones(60, 1);
  spec.variance = Vec::Constant(1, 10);
  Host host;
  Additive additive(spec.model(), host);
  const double constant = additive.at((Vec(2) << -10, 0).finished(), nullptr, 1e-10).bound;
  const Learned found = learn(spec);
  CHECK(found.value.bound > constant - 1);
  CHECK(found.value.bound < constant + 1);
}

TEST_CASE("learner: an interrupt is obeyed") {
  const AdditiveSpec spec = small("hinge");
  ImpatientHost patient(1 << 30);
  Learner(spec.model(), patient).choose(2);
  for (const int patience : {0, 5, patient.calls / 2, patient.calls - 1}) {
    ImpatientHost host(patience);
    CHECK_THROWS_AS(Learner(spec.model(), host).choose(2), Interrupted);
  }
}

TEST_CASE("additive: with moments matched the gradient is that of log p(y)") {
  for (const char* likelihood : {"hinge", "hinge_normalized"}) {
    CAPTURE(std::string(likelihood));
    const AdditiveSpec spec = small(likelihood, 24, 3);
    Host host;
    Additive additive(spec.model(), host);
    REQUIRE(additive.match());
    const Additive::Value here = additive.at(additive.start(), nullptr, 0);
    const double step = 0.2;
    const auto at = [&](double by) {
      Vec theta = here.theta;
      theta[0] += by;
      return additive.at(theta, &here, 0).objective();
    };
    const double slope = (at(-2 * step) - at(2 * step) + 8 * (at(step) - at(-step))) / (12 * step);
    CHECK(std::abs(here.gradient[0] - slope) < 0.02);
  }
}
