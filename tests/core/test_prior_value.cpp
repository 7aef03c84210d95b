// The priors that ship: their share of the bound against integrals of what they say they are.
#include <doctest/doctest.h>

#include "densities.hpp"
#include "oracle.hpp"
#include "prior/prior.hpp"
#include "quadrature.hpp"

using namespace bsvm_test;

namespace {

std::unique_ptr<Prior> make(const std::string& name, std::map<std::string, double> numbers) {
  return Registry<Prior>::make(name, Params(name, std::move(numbers)));
}

// sum_j log N(b_j; 0, s2) for E sum b^2 = square.
Real log_coefficients(Real s2, Real count, Real square) {
  return -0.5L * (count * std::log(2 * kPi * s2) + square / s2);
}

// log of the integral of p(b) exp{-2 (1 - b)_+} db, where p is a mixture over s2.
template <class LogDensity>
Real log_evidence(LogDensity log_s2) {
  return std::log(over_positive([&](Real s2) {
    const Real s = std::sqrt(s2);  // E exp{-2 (1 - b)_+}, b ~ N(0, s2)
    const Real inside =
        -2 + 2 * s2 < 11000 ? std::exp(-2 + 2 * s2) * upper_tail((2 * s2 - 1) / s) : 0;
    return std::exp(log_s2(s2)) * (upper_tail(1 / s) + inside);
  }, -40, 8, 3000));
}

// The largest bound over q(b) = N(mean, sd^2) on a grid.
Real best_bound(const Prior& prior) {
  Real best = -1e300L;
  Vec hyper(prior.hyper_size(1));
  for (double mean = -1; mean < 2.5; mean += 0.1)
    for (double sd = 0.05; sd < 3; sd *= 1.2) {
      const Moments moments{Vec::Constant(1, mean * mean + sd * sd), 1, 0};
      prior.start(moments, hyper);
      prior.update(moments, 1, hyper);
      const Real row = mean - 1 - std::sqrt((1 - mean) * (1 - mean) + sd * sd);
      best = std::max(best, row + prior.value(moments, hyper) + 0.5L * (1 + std::log(2 * kPi)) +
                                std::log(sd));
    }
  return best;
}

template <class LogDensity>
void check_evidence(const Prior& prior, LogDensity log_s2, Real most) {
  const Real slack = log_evidence(log_s2) - best_bound(prior);
  CHECK(slack > 0);
  CHECK(slack < most);
}

}  // namespace

TEST_CASE("normal: value is the expected log density") {
  const Moments moments{Vec::LinSpaced(3, 0.5, 2), 5, 2};
  const Real expected = log_coefficients(1.7L, 3, moments.square.sum());
  CHECK(gap(make("normal", {{"variance", 1.7}})->value(moments, Vec()), expected) < 1e-14);
}

TEST_CASE("ridge: value is E log p(b|s2) + E log p(s2) - E log q(s2)") {
  const auto prior = make("ridge", {{"shape", 0.6}, {"scale", 1.4}});
  for (double count : {1.0, 7.0, 400.0}) {
    const Moments moments{Vec::Constant(1, 1.3 * count), count, 0};
    const Vec hyper = Eigen::Vector2d(0.7 + 0.6 * count, 1.1 + 0.8 * count);  // not the best
    const Real expected = over_positive([&](Real s2) {
      const Real q = log_inverse_gamma(s2, hyper[0], hyper[1]);
      return std::exp(q) * (log_coefficients(s2, count, moments.square[0]) +
                            log_inverse_gamma(s2, 0.6, 1.4) - q);
    });
    CHECK(gap(prior->value(moments, hyper), expected) < 1e-12);
  }
}

TEST_CASE("half-t: value is the expectation over both scales") {
  const double df = 3, scale = 0.7;
  const auto prior = make("half_t", {{"df", df}, {"scale", scale}});
  const Moments moments{Vec::Constant(1, 9.0), 7, 0};
  Vec hyper(4);
  hyper << 4.5, 5.5, 2.2, 4.1;  // not the best
  const Real expected = over_positive([&](Real s2) {
    const Real q_s2 = log_inverse_gamma(s2, hyper[0], hyper[1]);
    const Real own = std::exp(q_s2) * (log_coefficients(s2, 7, 9) - q_s2);
    return own + over_positive([&](Real a) {
      const Real q_a = log_inverse_gamma(a, hyper[2], hyper[3]);
      return std::exp(q_s2 + q_a) * (log_inverse_gamma(s2, df / 2, df / a) +
                                     log_inverse_gamma(a, 0.5L, 1 / (scale * scale)) - q_a);
    }, -20, 30, 500);
  }, -20, 20, 400);
  CHECK(gap(prior->value(moments, hyper), expected) < 1e-10);
}

TEST_CASE("half-t: the mixture it is fitted by is a half-t") {
  for (Real s2 : {0.01L, 1.0L, 30.0L}) {
    const Real mixture = over_positive([&](Real a) {
      return std::exp(log_inverse_gamma(s2, 1.5L, 3 / a) + log_inverse_gamma(a, 0.5L, 1 / 0.49L));
    });
    CHECK(gap(std::log(mixture), log_half_t_square(s2, 3, 0.7L)) < 1e-12);
  }
}

TEST_CASE("laplace_zero: value is the expectation over scale, mixing variable and indicator") {
  const Real rho = 0.3L, b = 1.7L, in = 0.6L, square = 2.3L;
  const auto prior = make("laplace_zero", {{"rho", 0.3}, {"shape", 0.6}, {"scale", 1.4}});
  Vec hyper(4);
  hyper << 1.9, 1.2, 1.7, 0.6;  // not the best
  const Real indicator = in * std::log(rho / in) + (1 - in) * std::log((1 - rho) / (1 - in));
  const Real expected = over_positive([&](Real s2) {
    const Real q_s2 = log_inverse_gamma(s2, hyper[0], hyper[1]);
    const Real own = std::exp(q_s2) * (log_inverse_gamma(s2, 0.6L, 1.4L) - q_s2);
    return own + over_positive([&](Real x) {
      const Real q_x = -0.5L * (std::log(2 * kPi * x * x * x) + (x - b) * (x - b) / (b * b * x));
      return std::exp(q_s2 + q_x) * (log_coefficients(s2 / x, 1, square) +
                                     log_inverse_gamma(x, 1, 0.5L) - q_x);
    }, -20, 20, 500);
  }, -20, 20, 400);
  CHECK(gap(prior->value({Vec::Constant(1, 2.3), 1, 0}, hyper), expected + indicator) < 1e-10);
}

TEST_CASE("laplace_zero: the mixture is a Laplace law with the common scale") {
  for (Real v : {0.05L, 0.7L, 3.0L}) {
    const Real s2 = 0.49L;
    const Real mixture = over_positive([&](Real b) {
      return std::exp(log_coefficients(s2 / b, 1, v * v) + log_inverse_gamma(b, 1, 0.5L));
    });
    CHECK(gap(std::log(mixture), -std::log(2 * 0.7L) - v / 0.7L) < 1e-12);
  }
}

TEST_CASE("laplace_zero: log odds of a coefficient are those of rho") {
  const auto prior = make("laplace_zero", {{"rho", 0.2}, {"shape", 1}, {"scale", 1}});
  CHECK(prior->log_odds(Vec()) == doctest::Approx(std::log(0.25)).epsilon(1e-14));
}

TEST_CASE("relevance: value is the expectation over each variance") {
  const auto prior = make("relevance", {{"shape", 0.6}, {"scale", 1.4}});
  Vec hyper(3);
  hyper << 1.9, 1.2, 0.4;  // not the best
  const Eigen::Vector2d square(2.3, 0.1);
  Real expected = 0;
  for (Index j = 0; j < 2; ++j)
    expected += over_positive([&](Real s2) {
      const Real q = log_inverse_gamma(s2, hyper[0], hyper[1 + j]);
      return std::exp(q) * (log_inverse_gamma(s2, 0.6L, 1.4L) - q +
                            log_coefficients(s2, 1, square[j]));
    }, -20, 30, 3000);
  CHECK(gap(prior->value({square, 2, 0}, hyper), expected) < 1e-11);
  // and the best q is no worse than those about it
  prior->update({square, 2, 0}, 1, hyper);
  const double best = prior->value({square, 2, 0}, hyper);
  for (Index k = 0; k < 3; ++k)
    for (const double factor : {0.99, 1.01}) {
      Vec other = hyper;
      other[k] *= factor;
      CHECK(prior->value({square, 2, 0}, other) < best);
    }
}

TEST_CASE("relevance: coefficients and variances are stretched together") {
  const auto prior = make("relevance", {{"shape", 0.6}, {"scale", 1.4}});
  const Moments b{Eigen::Vector2d(2.3, 0.1), 2, 0};
  Vec hyper(3);
  hyper << 1, 0.7, 2.4;  // a draw
  for (const double t : {0.3, 1.8}) {
    // normal densities and the Jacobian of b cancel
    Real expected = 4 * std::log(static_cast<Real>(t));
    for (Index j = 1; j < 3; ++j)
      expected += log_inverse_gamma(t * t * hyper[j], 0.6L, 1.4L) -
                  log_inverse_gamma(hyper[j], 0.6L, 1.4L);
    CHECK(gap(prior->log_scaled(b, hyper, t) - prior->log_scaled(b, hyper, 1), expected) < 1e-12);
  }
}

TEST_CASE("relevance: the mixture is Student's t") {
  for (Real b : {0.05L, 0.7L, 3.0L}) {
    const Real mixture = over_positive([&](Real s2) {
      return std::exp(log_coefficients(s2, 1, b * b) + log_inverse_gamma(s2, 1.5L, 2.4L));
    }, -20, 40, 3000);
    // three degrees of freedom, squared scale 1.6
    const Real t = std::log(2 / (kPi * std::sqrt(3 * 1.6L))) - 2 * std::log1p(b * b / (3 * 1.6L));
    CHECK(gap(std::log(mixture), t) < 1e-11);
  }
}

TEST_CASE("the log evidence of one coefficient and one row is above the bound, and near") {
  const auto normal = make("normal", {{"variance", 1.5}});
  const Real s = std::sqrt(1.5L);
  const Real evidence = upper_tail(1 / s) + std::exp(1.0L) * upper_tail((3 - 1) / s);
  CHECK(std::log(evidence) > best_bound(*normal));
  CHECK(std::log(evidence) < best_bound(*normal) + 0.2L);
  check_evidence(*make("ridge", {{"shape", 1.5}, {"scale", 1.2}}),
                 [](Real s2) { return log_inverse_gamma(s2, 1.5L, 1.2L); }, 0.4L);
  check_evidence(*make("half_t", {{"df", 3}, {"scale", 1.3}}),
                 [](Real s2) { return log_half_t_square(s2, 3, 1.3L); }, 1.1L);
}
