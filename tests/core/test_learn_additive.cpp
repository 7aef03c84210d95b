// The bound of an additive model of Gaussian processes: against plain inversion, exact regression,
// quadrature of few rows, and its gradient against differences of bounds that are found anew.
#include <doctest/doctest.h>

#include <algorithm>

#include "additive_data.hpp"
#include "base/error.hpp"
#include "hosts.hpp"
#include "kernel/points.hpp"

using namespace bsvm_test;

namespace {

constexpr double kTight = 1e-16;

Additive::Value best_at(const AdditiveSpec& spec, const Vec& theta) {
  Host host;
  return Additive(spec.model(), host).at(theta, nullptr, kTight);
}

Vec start_of(const AdditiveSpec& spec) {
  Host host;
  return Additive(spec.model(), host).start();
}

// Some rows of a specification, in this order.
AdditiveSpec rows_of(const AdditiveSpec& from, const std::vector<Index>& rows) {
  AdditiveSpec out = from;
  const auto some = [&](const Vec& x) { return x.size() > 0 ? picked(x, rows) : x; };
  out.y = some(from.y);
  out.weight = some(from.weight);
  out.offset = some(from.offset);
  if (from.fixed.size() > 0) out.fixed = picked(from.fixed, rows, range(0, from.fixed.cols()));
  for (SummandSpec& one : out.summands) {
    if (one.inputs.size() > 0) one.inputs = picked(one.inputs, range(0, one.inputs.rows()), rows);
    if (one.features.size() > 0)
      one.features = picked(one.features, rows, range(0, one.features.cols()));
    one.multiplier = some(one.multiplier);
  }
  return out;
}

// By five points, of the bound and the priors found anew on either side.
Vec differences(Additive& additive, const Additive::Value& at, double h) {
  Vec out(at.theta.size());
  for (Index k = 0; k < out.size(); ++k) {
    const auto objective = [&](double by) {
      Vec theta = at.theta;
      theta[k] += by;
      return additive.at(theta, &at, kTight).objective();
    };
    out[k] = (8 * (objective(h) - objective(-h)) - (objective(2 * h) - objective(-2 * h))) /
             (12 * h);
  }
  return out;
}

}  // namespace

TEST_CASE("additive: q is what its rows' slopes and weights say, by plain inversion") {
  double smallest = 0;
  for (const char* likelihood : kAdditiveLikelihoods)
    for (const bool everything : {false, true}) {
      CAPTURE(std::string(likelihood));
      CAPTURE(everything);
      AdditiveSpec spec = wavy(36, likelihood, everything, 7);
      if (of_classes(likelihood))  // rows on the wrong side, which have weights below zero
        for (Index i = 0; i < spec.n(); ++i)
          spec.y[i] = (spec.summands[0].inputs(0, i) > 0) == (i % 9 != 3) ? 1 : -1;
      Vec theta = start_of(spec);
      theta[0] = 1;
      theta[1] = 1.2;
      const Additive::Value found = best_at(spec, theta);
      REQUIRE(found.rows.converged);
      const VecL alpha = found.rows.slope.matrix().cast<Real>(),
                 w = found.rows.weight.matrix().cast<Real>();
      const PlainBound plain = plain_bound(spec, theta, alpha, w);
      CHECK(gap(found.rows.m.matrix(), plain.m) < 6e-10);
      CHECK(gap(lower(found.rows.covariance), lower(plain.covariance)) < 3e-9);
      CHECK(gap(found.rows.v.matrix(), plain.covariance.diagonal()) < 3e-9);
      CHECK(gap(found.bound, plain.bound) < 1e-13);
      const AdditiveLaw law = spec.law(theta);
      for (Index i = 0; i < spec.n(); ++i) {
        const Real times = row_weight(spec, i), m = found.rows.m[i], v = found.rows.v[i];
        CHECK(std::abs(alpha[i] - times * law.slope(spec.y[i], m, v)) < 4e-12);
        CHECK(std::abs(w[i] - times * law.weight(spec.y[i], m, v)) < 2e-11);
        if (std::string(likelihood) != "hinge") continue;
        const Real share = alpha[i] * Real(spec.y[i]) / times;  // twice P(inside its margin)
        CHECK(share >= 0);
        CHECK(share <= 2);
      }
      if (std::string(likelihood) == "hinge_normalized")
        smallest = std::min(smallest, found.rows.weight.minCoeff());
    }
  CHECK(smallest < -0.5);
}

TEST_CASE("additive: no other q has a higher bound") {
  for (const char* likelihood : kAdditiveLikelihoods) {
    CAPTURE(std::string(likelihood));
    const AdditiveSpec spec = wavy(9, likelihood, true);
    const Vec theta = start_of(spec);
    const Additive::Value found = best_at(spec, theta);
    Noise noise(3);
    for (int k = 0; k < 10; ++k) {
      const VecL alpha = (found.rows.slope.matrix() + 0.02 * noise.normals(9)).cast<Real>(),
                 w = (found.rows.weight.matrix() + 0.02 * noise.normals(9)).cast<Real>();
      CHECK(plain_bound(spec, theta, alpha, w).bound < found.bound);
    }
  }
}

TEST_CASE("additive: the gradient is that of bounds found anew") {
  for (const char* likelihood : kAdditiveLikelihoods)
    for (const bool everything : {false, true}) {
      CAPTURE(std::string(likelihood));
      CAPTURE(everything);
      AdditiveSpec spec = wavy(24, likelihood, everything);
      Host host;
      Additive additive(spec.model(), host);
      const Additive::Value at = additive.at(additive.start(), nullptr, kTight);
      const Vec expected = differences(additive, at, 2e-3);
      for (Index k = 0; k < expected.size(); ++k) {
        CAPTURE(k);
        CHECK(std::abs(at.gradient[k] - expected[k]) < 1e-7 * (1 + std::abs(expected[k])));
      }
    }
}

TEST_CASE("additive: numbers without a prior stay, and the others' gradients with them") {
  AdditiveSpec spec = wavy(20, "hinge", true);
  const Additive::Value all = best_at(spec, start_of(spec));
  spec.summands[0].free = {true, false, true};
  spec.summands[2].free = {false, true, true};
  const Additive::Value some = best_at(spec, start_of(spec));
  CHECK(some.bound == all.bound);
  CHECK(some.prior != all.prior);
  for (Index k = 0; k < all.gradient.size(); ++k)
    CHECK(some.gradient[k] == (k == 1 || k == 4 ? 0 : all.gradient[k]));
}

TEST_CASE("additive: a start nearby leads to the same place") {
  for (const char* likelihood : kAdditiveLikelihoods) {
    const AdditiveSpec spec = wavy(20, likelihood, true);
    Host host;
    Additive additive(spec.model(), host);
    const Additive::Value at = additive.at(additive.start(), nullptr, kTight);
    const Vec theta = additive.start().array() + 0.4;
    const Additive::Value near = additive.at(theta, &at, kTight),
                          anew = additive.at(theta, nullptr, kTight);
    CHECK(gap(near.bound, anew.bound) < 2e-14);
    CHECK(gap(near.rows.m.matrix(), anew.rows.m.matrix()) < 1e-10);
  }
}

// ---- a normal likelihood: everything is known ---------------------------------------------------

namespace {

struct Regression {
  MatL total;  // K and the noise of each row
  VecL noise, off;
  Regression(const AdditiveSpec& spec, const Vec& theta)
      : total(prior_covariance(spec, theta)), noise(spec.n()), off(spec.n()) {
    for (Index i = 0; i < spec.n(); ++i) {
      noise[i] = std::exp(2 * Real(theta[theta.size() - 1])) / row_weight(spec, i);
      off[i] = Real(spec.y[i]) - row_offset(spec, i);
    }
    total.diagonal() += noise;
  }
};

}  // namespace

TEST_CASE("additive: with a normal likelihood bound and moments are those of exact regression") {
  for (const bool everything : {false, true}) {
    AdditiveSpec spec = wavy(30, "normal", everything);
    const Vec theta = start_of(spec);
    const Additive::Value found = best_at(spec, theta);
    const Regression exact(spec, theta);
    const MatL precision = inverse(exact.total);
    const VecL pull = product(precision, exact.off).col(0);
    Real evidence = -0.5L * (log_determinant(exact.total) + exact.off.dot(pull) +
                             Real(spec.n()) * std::log(2 * kPi));
    // a density to the power w is a normal one times a constant
    for (Index i = 0; i < spec.n(); ++i) {
      const Real w = row_weight(spec, i);
      evidence += 0.5L * (1 - w) * std::log(2 * kPi) + 0.5L * std::log(exact.noise[i]) -
                  0.5L * w * std::log(exact.noise[i] * w);
    }
    CHECK(gap(found.bound, evidence) < 2e-14);
    const MatL k = prior_covariance(spec, theta);
    VecL mean = product(k, pull).col(0);
    const MatL covariance = k - product(product(k, precision), k);
    for (Index i = 0; i < spec.n(); ++i) mean[i] += row_offset(spec, i);
    CHECK(gap(found.rows.m.matrix(), mean) < 3e-13);
    CHECK(gap(found.rows.v.matrix(), covariance.diagonal()) < 1e-13);
  }
}

TEST_CASE("additive: with a normal likelihood the leave-one-out score is that of the other rows") {
  for (const bool everything : {false, true}) {
    const AdditiveSpec spec = wavy(14, "normal", everything);
    const Vec theta = start_of(spec);
    Host host;
    Additive additive(spec.model(), host);
    const double found = additive.leave_one_out(additive.at(theta, nullptr, kTight));
    const Regression all(spec, theta);
    const MatL k = prior_covariance(spec, theta);
    Real expected = 0;
    for (Index i = 0; i < spec.n(); ++i) {
      std::vector<Index> rest;
      for (Index j = 0; j < spec.n(); ++j)
        if (j != i) rest.push_back(j);
      const MatL precision = inverse(picked(all.total, rest, rest));
      const VecL others = picked(k, rest, {i}), off = picked(all.off, rest);
      const VecL gain = product(precision, others).col(0);
      const Real noise = std::exp(2 * Real(theta[theta.size() - 1]));
      expected += row_weight(spec, i) * log_normal(all.off[i] - gain.dot(off),
                                                   k(i, i) - gain.dot(others) + noise);
    }
    CHECK(gap(found, expected) < 3e-14);
  }
}

TEST_CASE("additive: leave-one-out scores of other likelihoods are near those of fits without") {
  for (const char* likelihood : {"hinge", "hinge_normalized", "eps_insensitive"}) {
    CAPTURE(std::string(likelihood));
    const AdditiveSpec spec = wavy(40, likelihood, false, 8);
    const Vec theta = start_of(spec);
    Host host;
    Additive additive(spec.model(), host);
    const double found = additive.leave_one_out(additive.at(theta, nullptr, kTight));
    const MatL k = prior_covariance(spec, theta);
    const AdditiveLaw law = spec.law(theta);
    Real expected = 0;
    for (Index i = 0; i < spec.n(); ++i) {
      std::vector<Index> rest;
      for (Index j = 0; j < spec.n(); ++j)
        if (j != i) rest.push_back(j);
      const Additive::Value without = best_at(rows_of(spec, rest), theta);
      const VecL others = picked(k, rest, {i}), w = without.rows.weight.matrix().cast<Real>(),
                 weighted = w.cwiseProduct(others);
      const MatL own = without.rows.covariance.cast<Real>();
      const MatL covariance = own.selfadjointView<Eigen::Lower>();
      const Real m = others.dot(without.rows.slope.matrix().cast<Real>());
      const Real v = k(i, i) - others.dot(weighted) +
                     weighted.dot(product(covariance, weighted).col(0));
      // log E p(y | f)
      std::vector<long double> breaks;
      for (Real z = -12; z <= 12; z += 0.5L) breaks.push_back(z);
      for (const Real kink : law.kinks(spec.y[i])) breaks.push_back((kink - m) / std::sqrt(v));
      Real sum = 0;
      for (const auto& z : panel_nodes(breaks))
        sum += z.weight * std::exp(log_normal(z.x, 1) +
                                   law.log_p(spec.y[i], m + std::sqrt(v) * z.x));
      expected += std::log(sum);
    }
    CHECK(std::abs(found - static_cast<double>(expected)) < 0.015 * spec.n());
  }
}

// ---- few rows: the evidence by quadrature -------------------------------------------------------

namespace {

std::vector<bsvm_test::Node> cut_nodes(const AdditiveLaw& law, Real y, Real reach) {
  std::vector<long double> breaks;
  for (int k = -48; k <= 48; ++k) breaks.push_back(reach * k / 48);
  for (const Real kink : law.kinks(y)) breaks.push_back(kink);
  return panel_nodes(breaks);
}

Real log_evidence(const AdditiveSpec& spec, const Vec& theta) {
  const MatL k = prior_covariance(spec, theta);
  const AdditiveLaw law = spec.law(theta);
  Real sum = 0;
  const std::vector<bsvm_test::Node> first = cut_nodes(law, spec.y[0], 12 * std::sqrt(k(0, 0)));
  if (spec.n() == 1) {
    for (const auto& f : first)
      sum += f.weight * std::exp(law.log_p(spec.y[0], f.x) + log_normal(f.x, k(0, 0)));
    return std::log(sum);
  }
  const Real slope = k(0, 1) / k(0, 0), left = k(1, 1) - slope * k(0, 1);
  const std::vector<bsvm_test::Node> second = cut_nodes(law, spec.y[1], 12 * std::sqrt(k(1, 1)));
  for (const auto& f : first) {
    Real inner = 0;
    for (const auto& g : second)
      inner += g.weight * std::exp(law.log_p(spec.y[1], g.x) + log_normal(g.x - slope * f.x, left));
    sum += f.weight * inner * std::exp(law.log_p(spec.y[0], f.x) + log_normal(f.x, k(0, 0)));
  }
  return std::log(sum);
}

}  // namespace

TEST_CASE("additive: of one and two rows the bound is just below the evidence") {
  for (const char* likelihood : kAdditiveLikelihoods)
    for (const Index n : {1, 2})
      for (const double log_sd : {-1.5, 0.0, 1.0}) {
        CAPTURE(std::string(likelihood));
        CAPTURE(n);
        CAPTURE(log_sd);
        const AdditiveSpec spec = wavy(n, likelihood, false);
        Vec theta = start_of(spec);
        theta[0] = log_sd;
        const double under =
            static_cast<double>(log_evidence(spec, theta)) - best_at(spec, theta).bound;
        CHECK(under > -1e-13);
        const double n_rows = static_cast<double>(n);  // normal: exact
        CHECK(under < (std::string(likelihood) == "normal" ? 1e-13 : 0.1 * n_rows));
      }
}

TEST_CASE("additive: rows far apart are each a problem of their own") {
  for (const char* likelihood : kAdditiveLikelihoods) {
    CAPTURE(std::string(likelihood));
    const AdditiveSpec spec = wavy(12, likelihood, false);
    Vec theta = start_of(spec);
    theta[1] = std::log(1e-4);
    double sum = 0;
    for (Index i = 0; i < 12; ++i) sum += best_at(rows_of(spec, {i}), theta).bound;
    CHECK(gap(best_at(spec, theta).bound, sum) < 2e-14);
  }
}

// ---- the same model written differently ---------------------------------------------------------

TEST_CASE("additive: the order of rows does not matter") {
  for (const char* likelihood : kAdditiveLikelihoods) {
    CAPTURE(std::string(likelihood));
    const AdditiveSpec spec = wavy(20, likelihood, true);
    std::vector<Index> order;
    for (Index i = 0; i < 20; ++i) order.push_back((7 * i + 3) % 20);
    const Vec theta = start_of(spec);
    Host host;
    Additive one(spec.model(), host);
    const AdditiveSpec turned_spec = rows_of(spec, order);
    Additive other(turned_spec.model(), host);
    const Additive::Value a = one.at(theta, nullptr, kTight), b = other.at(theta, nullptr, kTight);
    CHECK(gap(b.bound, a.bound) < 2e-14);
    CHECK(gap(b.gradient, a.gradient) < 1e-10);
    CHECK(gap(b.rows.m.matrix(), picked(Vec(a.rows.m), order)) < 1e-12);
    CHECK(gap(other.leave_one_out(b), one.leave_one_out(a)) < 1e-12);
  }
}

TEST_CASE("additive: a weight of two is a row twice") {
  for (const char* likelihood : kAdditiveLikelihoods) {
    CAPTURE(std::string(likelihood));
    AdditiveSpec spec = wavy(15, likelihood, true);
    spec.weight.setOnes();
    std::vector<Index> rows = {4, 4};
    for (Index i = 0; i < 15; ++i)
      if (i != 4) rows.push_back(i);
    const AdditiveSpec twice = rows_of(spec, rows);
    spec.weight[4] = 2;
    const Vec theta = start_of(spec);
    const Additive::Value a = best_at(spec, theta), b = best_at(twice, theta);
    CHECK(gap(b.bound, a.bound) < 2e-14);
    CHECK(gap(b.gradient, a.gradient) < 1e-10);
  }
}

TEST_CASE("additive: classes the other way round are the same") {
  for (const char* likelihood : {"hinge", "hinge_normalized"}) {
    AdditiveSpec spec = wavy(20, likelihood, true);
    const Vec theta = start_of(spec);
    const Additive::Value a = best_at(spec, theta);
    spec.y = -spec.y;
    spec.offset = -spec.offset;
    const Additive::Value b = best_at(spec, theta);
    CHECK(gap(b.bound, a.bound) < 1e-13);
    CHECK(gap(-b.rows.m.matrix(), a.rows.m.matrix()) < 1e-12);
  }
}

// ---- inducing inputs ----------------------------------------------------------------------------

TEST_CASE("additive: inducing inputs that leave nothing over change nothing") {
  for (const char* likelihood : kAdditiveLikelihoods) {
    CAPTURE(std::string(likelihood));
    AdditiveSpec spec = wavy(20, likelihood, true);
    spec.summands.pop_back();
    spec.summands[0].inputs.col(0) = spec.summands[0].inputs.col(19);  // all but one are all
    const Vec theta = start_of(spec);
    spec.summands[0].points = 19;
    Host host;
    Additive additive(spec.model(), host);
    const Additive::Value all = additive.at(theta, nullptr, kTight);
    const double score = additive.leave_one_out(all);
    REQUIRE(additive.approximate());
    const int before = additive.passes();
    const Additive::Value some = additive.at(theta, nullptr, kTight);
    CHECK(additive.passes() > before + 1);
    CHECK(gap(some.bound, all.bound) < 2e-14);
    CHECK(gap(some.rows.m.matrix(), all.rows.m.matrix()) < 1e-12);
    CHECK(gap(additive.leave_one_out(some), score) < 1e-11);
    spec.summands[0].points = 20;
    CHECK_FALSE(Additive(spec.model(), host).approximate());
    spec.summands[0].points = 0;
    CHECK_FALSE(Additive(spec.model(), host).approximate());
  }
}

TEST_CASE("additive: the bound grows with inducing inputs towards that of all") {
  for (const char* likelihood : kAdditiveLikelihoods) {
    CAPTURE(std::string(likelihood));
    AdditiveSpec spec = wavy(24, likelihood, true);
    const Vec theta = start_of(spec);
    const double all = best_at(spec, theta).bound;
    double last = -1e300;
    for (const Index points : {1, 2, 3, 5, 8, 12, 17, 23}) {
      for (SummandSpec& one : spec.summands) one.points = points;
      Host host;
      Additive additive(spec.model(), host);
      REQUIRE(additive.approximate());
      const double bound = additive.at(theta, nullptr, kTight).bound;
      CHECK(bound > last);
      CHECK(bound < all + 1e-6);
      last = bound;
    }
  }
}

TEST_CASE("additive: amplitudes with inducing inputs have the gradient of bounds found anew") {
  for (const char* likelihood : kAdditiveLikelihoods) {
    CAPTURE(std::string(likelihood));
    AdditiveSpec spec = wavy(24, likelihood, true);
    for (SummandSpec& one : spec.summands) one.points = 6;
    Host host;
    Additive additive(spec.model(), host);
    REQUIRE(additive.approximate());
    const Additive::Value at = additive.at(additive.start(), nullptr, kTight);
    const Vec expected = differences(additive, at, 2e-3);
    for (Index k = 0; k < expected.size(); ++k)
      if (k == 0 || k == 3 || k == 4 || k > 6)  // and the likelihood's numbers
        CHECK(std::abs(at.gradient[k] - expected[k]) < 4e-9 * (1 + std::abs(expected[k])));
  }
}

TEST_CASE("additive: with inducing inputs a kernel's own numbers stay") {
  AdditiveSpec spec = wavy(24, "hinge", true);
  for (SummandSpec& one : spec.summands) one.points = 6;
  Host host;
  Additive additive(spec.model(), host);
  REQUIRE(additive.approximate());
  const Additive::Value at = additive.at(additive.start(), nullptr, kTight);
  for (const Index k : {1, 2, 5, 6}) CHECK(at.gradient[k] == 0);
}

TEST_CASE("additive: with inducing inputs a normal likelihood's scores are those of fits without") {
  AdditiveSpec spec = wavy(16, "normal", false);
  spec.summands[0].points = 4;
  const Vec theta = start_of(spec);
  Host host;
  Additive additive(spec.model(), host);
  REQUIRE(additive.approximate());
  const double found = additive.leave_one_out(additive.at(theta, nullptr, kTight));
  // f = F b + what is left over, of which a row's own is all that its score knows
  const ChosenPoints chosen = choose_points(*spec.summands[0].make(), spec.summands[0].inputs,
                                            theta.segment(1, 1), 4, 1e-8, host);
  const Real variance = std::exp(2 * Real(theta[0])), noise = std::exp(2 * Real(theta[2]));
  const MatL f = chosen.features.cast<Real>();
  const MatL k = variance * product(f, f.transpose());
  Real expected = 0;
  for (Index i = 0; i < 16; ++i) {
    std::vector<Index> rest;
    for (Index j = 0; j < 16; ++j)
      if (j != i) rest.push_back(j);
    MatL total = picked(k, rest, rest);
    total.diagonal().array() += noise;
    const VecL others = picked(k, rest, {i});
    const VecL gain = product(inverse(total), others).col(0);
    const Real v = k(i, i) - gain.dot(others) + variance * Real(chosen.left_over[i]) + noise;
    const VecL y = picked(spec.y, rest).cast<Real>();
    expected += log_normal(Real(spec.y[i]) - gain.dot(y), v);
  }
  CHECK(gap(found, expected) < 3e-14);
}

TEST_CASE("additive: an interrupt is obeyed") {
  const AdditiveSpec spec = wavy(20, "hinge", false);
  for (int patience : {0, 1, 3}) {
    ImpatientHost host(patience);
    Additive additive(spec.model(), host);
    CHECK_THROWS_AS(additive.at(additive.start(), nullptr, kTight), Interrupted);
  }
}
