// Hyper-parameters as free numbers: what every prior must do with them, and the density of each
// that ships against what its law says elsewhere.
#include <doctest/doctest.h>

#include "components.hpp"
#include "densities.hpp"
#include "oracle.hpp"
#include "prior/prior.hpp"
#include "quadrature.hpp"
#include "special/functions.hpp"

using namespace bsvm_test;

namespace {

using Numbers = std::map<std::string, double>;

std::unique_ptr<Prior> make(const std::string& name, Numbers numbers) {
  return Registry<Prior>::make(name, Params(name, std::move(numbers)));
}

// Moments of three coefficients and some unseen ones, or of the joint effects of five levels.
Moments moments_of(const Prior& prior) {
  const Index q = prior.effects();
  const Vec u = Noise(21).normals(5 * q);
  if (q == 1) {
    const double unseen = prior.exchangeable() ? 4 : 0;
    return {u.head(3).cwiseAbs2(), 3 + unseen, unseen};
  }
  Eigen::Map<const Mat> all(u.data(), q, 5);
  const Mat square = all * all.transpose();
  return {Eigen::Map<const Vec>(square.data(), q * q), static_cast<double>(5 * q), 0};
}

Moments none(const Prior& prior) {
  const Moments some = moments_of(prior);
  return {Vec::Zero(some.square.size()), 0, 0};
}

// visit(prior) for every prior with free numbers, those that can be joint also on two effects and
// on three.
template <class Visit>
void each_prior(Visit visit) {
  Numbers three = kTwoEffects;
  three["effects"] = 3;
  three["scale_3_1"] = three["scale_3_2"] = -0.1;
  for (const std::string& name : coefficient_priors())
    for (const Numbers& numbers : {Numbers{}, kTwoEffects, three}) {
      const auto prior = make_any<Prior>(name, 0.8, numbers);
      if (!prior->supports(Use::expected)) continue;
      if (!numbers.empty() && prior->effects() == 1) continue;
      CAPTURE(name);
      visit(*prior);
    }
}

Index free_size(const Prior& prior) {
  return prior.free_size(prior.effects() > 1 ? prior.effects() : moments_of(prior).square.size());
}

Vec some_theta(const Prior& prior, double size = 0.7) {
  return size * Noise(22).normals(12).head(free_size(prior));
}

double log_joint(const Prior& prior, const Moments& moments, const Vec& theta) {
  Vec gradient(theta.size());
  return prior.log_joint(moments, theta, gradient);
}

Vec fixed(const Prior& prior, const Vec& theta) {
  Vec hyper(prior.hyper_size(prior.effects() > 1 ? 1 : moments_of(prior).square.size()));
  prior.fix(theta, hyper);
  return hyper;
}

Vec precision_at(const Prior& prior, const Vec& theta) {
  Vec out(moments_of(prior).square.size());
  prior.precision(fixed(prior, theta), out);
  return out;
}

Mat as_matrix(const Prior& prior, const Vec& numbers) {
  return Eigen::Map<const Mat>(numbers.data(), prior.effects(), prior.effects());
}

// E log p(b | variances) from the precisions alone.
double coefficients(const Prior& prior, const Moments& b, const Vec& precision) {
  double log_det = precision.array().log().sum();
  const double m = static_cast<double>(precision.size());
  if (prior.effects() > 1) {
    const MatL factor = lower_factor(as_matrix(prior, precision).cast<Real>());
    log_det = 2 * static_cast<double>(factor.diagonal().array().log().sum()) * b.count /
              static_cast<double>(prior.effects());
  } else {
    log_det *= b.seen() / m;
  }
  return 0.5 * (log_det - b.seen() * kLog2Pi - precision.dot(b.square));
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// theta at one variance, by brute force.
template <class LogDensity>
Real total(LogDensity f, Real low = -40, Real high = 40) {
  return trapezoid([&](Real t) { return std::exp(f(t)); }, low, high, 8000);
}

}  // namespace

TEST_CASE("free: the gradient is the derivative") {
  each_prior([](const Prior& prior) {
    for (const Moments& moments : {moments_of(prior), none(prior)})
      for (double size : {0.3, 1.5}) {
        const Vec theta = some_theta(prior, size);
        Vec gradient(theta.size());
        prior.log_joint(moments, theta, gradient);
        for (Index k = 0; k < theta.size(); ++k) {
          const auto at = [&](double h) {
            return log_joint(prior, moments, theta + h * Vec::Unit(theta.size(), k));
          };
          const double h = 1e-3;
          const double slope = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
          CHECK(std::abs(slope - gradient[k]) < 1e-8 * (1 + gradient.cwiseAbs().maxCoeff()));
        }
      }
  });
}

TEST_CASE("free: reading what was written gives the numbers back") {
  each_prior([](const Prior& prior) {
    const Vec theta = some_theta(prior);
    Vec again(theta.size());
    prior.free(fixed(prior, theta), again);
    CHECK(gap(again, theta) < 1e-14);
  });
}

TEST_CASE("free: they are read from where q has its centre") {
  each_prior([](const Prior& prior) {
    const Moments moments = moments_of(prior);
    Vec hyper(prior.hyper_size(moments.square.size())), theta(free_size(prior));
    Vec expected(moments.square.size());
    prior.start(moments, hyper);
    prior.update(moments, 1, hyper);
    prior.precision(hyper, expected);
    prior.free(hyper, theta);
    CHECK(gap(precision_at(prior, theta), expected) < 1e-12);
  });
}

TEST_CASE("free: log s of a variance, the logged factor of a covariance") {
  each_prior([](const Prior& prior) {
    const Vec theta = some_theta(prior);
    if (theta.size() == 0) return;
    const Index q = prior.effects();
    const Vec precision = precision_at(prior, theta);
    if (q == 1) {
      for (Index j = 0; j < precision.size(); ++j)
        CHECK(precision[j] ==
              doctest::Approx(std::exp(-2 * theta[theta.size() == 1 ? 0 : j])).epsilon(1e-13));
      return;
    }
    MatL f = MatL::Zero(q, q);
    for (Index i = 0, k = 0; i < q; ++i)
      for (Index j = 0; j <= i; ++j, ++k) f(i, j) = i == j ? std::exp(Real(theta[k])) : theta[k];
    CHECK(gap(as_matrix(prior, precision), inverse(product(f, f.transpose()))) < 1e-12);
  });
}

TEST_CASE("free: the coefficients are normal with the precision written, the unseen left out") {
  each_prior([](const Prior& prior) {
    const Moments moments = moments_of(prior);
    const Vec theta = some_theta(prior);
    const double share = log_joint(prior, moments, theta) - log_joint(prior, none(prior), theta);
    const double expected = coefficients(prior, moments, precision_at(prior, theta));
    CHECK(share == doctest::Approx(expected).epsilon(1e-12));
  });
}

TEST_CASE("free: without coefficients no squares need be given") {
  each_prior([](const Prior& prior) {
    if (!prior.exchangeable() && prior.effects() == 1) return;
    const Vec theta = some_theta(prior);
    CHECK(log_joint(prior, Moments(), theta) == log_joint(prior, none(prior), theta));
  });
}

TEST_CASE("free: far away it is a number or -inf, and its gradient finite") {
  each_prior([](const Prior& prior) {
    const Index size = free_size(prior);
    for (double far : {-60.0, -30.0, 30.0, 60.0, 400.0, -400.0})
      for (Index k = -1; k < size; ++k)
        for (const Moments& moments : {moments_of(prior), none(prior)}) {
          Vec theta = k < 0 ? Vec::Constant(size, far) : Vec(far * Vec::Unit(size, k));
          Vec gradient(size);
          const double value = prior.log_joint(moments, theta, gradient);
          CHECK_FALSE(std::isnan(value));
          CHECK(value < kInfinity);
          if (std::abs(far) > 60) continue;
          CHECK(gradient.allFinite());
          if (value == -kInfinity) CHECK(gradient.isZero(0));
          if (prior.effects() == 1) CHECK(value > -kInfinity);
        }
  });
}

TEST_CASE("free: the density of one log standard deviation integrates to one") {
  const auto check = [](const Prior& prior) {
    const Real sum = total([&](Real t) {
      return log_joint(prior, Moments(), Vec::Constant(1, static_cast<double>(t)));
    });
    CHECK(static_cast<double>(sum) == doctest::Approx(1).epsilon(1e-11));
  };
  check(*make("ridge", {{"shape", 0.6}, {"scale", 1.4}}));
  check(*make("half_t", {{"df", 3}, {"scale", 0.7}}));
  check(*make("half_t", {{"df", 1.3}, {"scale", 25}}));
  check(*make("inverse_wishart", {{"effects", 1}, {"df", 1.3}, {"scale_1_1", 0.6}}));
  check(*make("huang_wand", {{"effects", 1}, {"df", 2.7}, {"scale_1", 1.4}}));
}

TEST_CASE("free: it is the law of the variance, and the Jacobian") {
  const auto ridge = make("ridge", {{"shape", 0.6}, {"scale", 1.4}});
  const auto half_t = make("half_t", {{"df", 3}, {"scale", 0.7}});
  for (double t : {-3.0, 0.2, 2.5}) {
    const Real s2 = std::exp(2 * Real(t)), jacobian = std::log(2 * s2);
    const Vec theta = Vec::Constant(1, t);
    CHECK(gap(log_joint(*ridge, Moments(), theta), log_inverse_gamma(s2, 0.6L, 1.4L) + jacobian) <
          1e-13);
    CHECK(gap(log_joint(*half_t, Moments(), theta), log_half_t_square(s2, 3, 0.7L) + jacobian) <
          1e-13);
  }
}

TEST_CASE("free: joint priors of one effect are those of a variance") {
  const auto wishart = make("inverse_wishart", {{"effects", 1}, {"df", 1.3}, {"scale_1_1", 0.6}});
  const auto ridge = make("ridge", {{"shape", 0.65}, {"scale", 0.3}});
  const auto huang_wand = make("huang_wand", {{"effects", 1}, {"df", 2.7}, {"scale_1", 1.4}});
  const auto half_t = make("half_t", {{"df", 2.7}, {"scale", 1.4}});
  const Moments moments{Vec::LinSpaced(3, 0.4, 2), 7, 4};
  for (double t : {-20.0, -1.0, 0.3, 20.0}) {
    const Vec theta = Vec::Constant(1, t);
    CHECK(gap(log_joint(*wishart, moments, theta), log_joint(*ridge, moments, theta)) < 1e-13);
    CHECK(gap(log_joint(*huang_wand, moments, theta), log_joint(*half_t, moments, theta)) < 1e-13);
  }
}

// A covariance of two effects: F_21 = F_22 sinh(x), so that its heavy tails die away.
template <class Visit>
double over_covariances(const Prior& prior, double low, double h, Visit visit) {
  double sum = 0;
  for (double a = low; a < 12; a += h)
    for (double c = low; c < 12; c += h)
      for (double x = -18; x < 18; x += h) {
        const Eigen::Vector3d theta(a, std::exp(c) * std::sinh(x), c);
        sum += visit(theta) * std::exp(log_joint(prior, Moments(), theta)) * std::exp(c) *
               std::cosh(x);
      }
  return h * h * h * sum;
}

TEST_CASE("free: the density of a covariance's factor integrates to one") {
  const auto one = [](const Vec&) { return 1.0; };
  const auto wishart = make("inverse_wishart", {{"effects", 2}, {"df", 3.4}, {"scale_1_1", 0.9},
                                                {"scale_2_1", -0.4}, {"scale_2_2", 2.1}});
  const auto huang_wand =
      make("huang_wand", {{"effects", 2}, {"df", 2.5}, {"scale_1", 0.7}, {"scale_2", 3}});
  CHECK(over_covariances(*wishart, -4, 0.2, one) == doctest::Approx(1).epsilon(1e-8));
  CHECK(over_covariances(*huang_wand, -22, 0.5, one) == doctest::Approx(1).epsilon(1e-6));
  // The second standard deviation is half-t with its own scale.
  const auto huang_wand2 =
      make("huang_wand", {{"effects", 2}, {"df", 2}, {"scale_1", 0.7}, {"scale_2", 3}});
  const double inverse = over_covariances(*huang_wand2, -22, 0.5, [](const Vec& theta) {
    return 1 / (1 + (theta[1] * theta[1] + std::exp(2 * theta[2])) / 9);
  });
  const Real expected = over_positive([](Real s2) {
    return std::exp(log_half_t_square(s2, 2, 3)) / (1 + s2 / 9);
  });
  CHECK(inverse == doctest::Approx(static_cast<double>(expected)).epsilon(1e-6));
}

TEST_CASE("free: Huang and Wand's is the mixture with a integrated out") {
  const Real df = 2.5L, d = df + 1;
  const Real scale[] = {0.7L, 3};
  const auto prior =
      make("huang_wand", {{"effects", 2}, {"df", 2.5}, {"scale_1", 0.7}, {"scale_2", 3}});
  const Eigen::Vector3d theta(0.4, -1.1, -0.3);
  const Real f11 = std::exp(0.4L), f21 = -1.1L, f22 = std::exp(-0.3L), det = f11 * f22;
  const Real inverse[] = {(f21 * f21 + f22 * f22) / (det * det), f11 * f11 / (det * det)};
  // log Gamma_2(d/2) = log(pi)/2 + log Gamma(d/2) + log Gamma((d - 1)/2)
  Real expected = -0.5L * std::log(kPi) - std::lgamma(d / 2) - std::lgamma((d - 1) / 2) -
                  d * std::log(2.0L) - (d + 3) * std::log(det);
  for (int k : {0, 1})
    expected += std::log(over_positive([&](Real a) {
      return std::exp(0.5L * d * std::log(2 * df / a) - df / a * inverse[k] +
                      log_inverse_gamma(a, 0.5L, 1 / (scale[k] * scale[k])));
    }));
  expected += std::log(4.0L) + 3 * std::log(f11) + 2 * std::log(f22);  // dSigma / dtheta
  CHECK(gap(log_joint(*prior, Moments(), theta), expected) < 1e-12);
}

// ---- value() at a q(hyper) that is nearly a point is log_joint() but for the Jacobian and the
// entropy of q(hyper).
TEST_CASE("free: it agrees with the bound at a q of one variance that is nearly a point") {
  const double k = 1e7;
  for (const auto& prior : {make("ridge", {{"shape", 0.6}, {"scale", 1.4}}),
                            make("half_t", {{"df", 3}, {"scale", 0.7}})})
    for (double t : {-1.5, 0.4}) {
      const Vec theta = Vec::Constant(1, t);
      const Moments moments{Vec::LinSpaced(3, 0.4, 2), 3, 0};
      Vec hyper = fixed(*prior, theta);
      hyper.head(2) *= k;
      const Real log_scale = std::log(hyper[1]);  // entropy of IG(k, k s2)
      const Real entropy = k + log_scale + std::lgamma(Real(k)) - (1 + k) * digamma(k);
      const double bound = prior->value(moments, hyper) - static_cast<double>(entropy);
      const double jacobian = std::log(2.0) + 2 * t;
      CHECK(log_joint(*prior, moments, theta) - jacobian == doctest::Approx(bound).epsilon(2e-6));
    }
}

TEST_CASE("free: it agrees with the bound at a q of a covariance that is nearly a point") {
  const double k = 1e7;
  for (const char* name : {"inverse_wishart", "huang_wand"}) {
    const auto prior = make_any<Prior>(name, 0.8, kTwoEffects);
    const Moments moments = moments_of(*prior);
    const auto difference = [&](const Eigen::Vector3d& theta) {
      Vec hyper = fixed(*prior, theta);
      hyper[0] *= k;
      hyper.segment(1, 4) *= std::sqrt(k);
      const double entropy = 3 * (theta[0] + theta[2]);  // but for a constant: (q + 1) log |F|
      const double jacobian = 3 * theta[0] + 2 * theta[2];
      const double bound = prior->value(moments, hyper) - entropy;
      return log_joint(*prior, moments, theta) - jacobian - bound;
    };
    CHECK(std::abs(difference({0.3, -0.7, -1}) - difference({-0.8, 0.4, 0.9})) < 2e-4);
  }
}
