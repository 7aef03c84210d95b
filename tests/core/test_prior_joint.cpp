// Priors on the covariance of joint effects: with one effect they are those on a variance,
// with more they are compared with integrals by simulation.
#include <doctest/doctest.h>

#include "components.hpp"
#include "densities.hpp"
#include "oracle.hpp"
#include "prior/prior.hpp"
#include "random/wishart.hpp"

using namespace bsvm_test;

namespace {

using Numbers = std::map<std::string, double>;

std::unique_ptr<Prior> make(const std::string& name, Numbers numbers) {
  return Registry<Prior>::make(name, Params(name, std::move(numbers)));
}

Real log_det(const Mat& a) {
  return 2 * lower_factor(a.cast<Real>()).diagonal().array().log().sum();
}

double trace_of_ratio(const Mat& a, const Mat& b) {  // tr(A B^{-1})
  return static_cast<double>(product(a.cast<Real>(), inverse(b.cast<Real>())).trace());
}

Real log_inverse_wishart(const Mat& sigma, Real df, const Mat& scale) {
  const Real q = static_cast<Real>(sigma.rows());
  Real log_multigamma = q * (q - 1) / 4 * std::log(kPi);
  for (Real j = 0; j < q; ++j) log_multigamma += std::lgamma((df - j) / 2);
  return df / 2 * (log_det(scale) - q * std::log(2.0L)) - log_multigamma -
         (df + q + 1) / 2 * log_det(sigma) - 0.5L * trace_of_ratio(scale, sigma);
}

// log prod N(u_g; 0, Sigma) over `levels` of them with sum of u u' = S.
Real log_effects(const Mat& sigma, Real levels, const Mat& s) {
  const Real q = static_cast<Real>(sigma.rows());
  return -0.5L * (levels * (q * std::log(2 * kPi) + log_det(sigma)) + trace_of_ratio(s, sigma));
}

Mat matrix2(double a, double b, double c) {
  Mat out(2, 2);
  out << a, b, b, c;
  return out;
}

Moments moments_of(const Mat& s, double levels) {
  return {Eigen::Map<const Vec>(s.data(), s.size()), static_cast<double>(s.rows()) * levels, 0};
}

// Mean of what `one` gives for draws of Sigma ~ IW(df, scale), and its standard error.
template <class One>
std::pair<double, double> simulate(double df, const Mat& scale, int n, One one) {
  const Mat l = lower_factor(scale.cast<Real>()).cast<double>();
  Mat f(l.rows(), l.cols());
  Draws random({1, 2, 3}, Purpose::hyper, 4);
  double sum = 0, square = 0;
  for (int k = 0; k < n; ++k) {
    inverse_wishart(df, l.data(), l.rows(), random, f.data());
    const double x = static_cast<double>(one(Mat(f * f.transpose()), random));
    sum += x / n;
    square += x * x / n;
  }
  return {sum, std::sqrt((square - sum * sum) / n)};
}

const Numbers kWishart{{"effects", 2},     {"df", 3.4},        {"scale_1_1", 0.9},
                       {"scale_2_1", -0.4}, {"scale_2_2", 2.1}};
const Numbers kHuangWand{{"effects", 2}, {"df", 2.5}, {"scale_1", 0.7}, {"scale_2", 3}};

// hyper of IW(df, scale).
Vec hyper_of(double df, const Mat& scale, const Vec& more = Vec()) {
  const Mat l = lower_factor(scale.cast<Real>()).cast<double>();
  Vec out(1 + l.size() + more.size());
  out << df, Eigen::Map<const Vec>(l.data(), l.size()), more;
  return out;
}

double found(const NamedNumbers& named, const std::string& name) {
  for (const auto& number : named)
    if (number.first == name) return number.second;
  return std::nan("");
}

}  // namespace

TEST_CASE("inverse Wishart of one effect is ridge") {
  const auto joint = make("inverse_wishart", {{"effects", 1}, {"df", 1.3}, {"scale_1_1", 0.6}});
  const auto ridge = make("ridge", {{"shape", 0.65}, {"scale", 0.3}});
  for (double unseen : {0.0, 4.0}) {
    const Moments moments{Vec::LinSpaced(3, 0.4, 2), 3 + unseen, unseen};
    Vec a(2), b(2);
    joint->start(moments, a);
    ridge->start(moments, b);
    CHECK(joint->value(moments, a) == doctest::Approx(ridge->value(moments, b)).epsilon(1e-13));
    joint->update(moments, 1.5, a);
    ridge->update(moments, 1.5, b);
    CHECK(joint->value(moments, a) == doctest::Approx(ridge->value(moments, b)).epsilon(1e-13));
    for (double t : {0.3, 4.0})
      CHECK(joint->log_scaled(moments, a, t) ==
            doctest::Approx(ridge->log_scaled(moments, b, t)).epsilon(1e-12));
    for (const char* name : {"mean", "inverse_mean"})
      CHECK(found(joint->report(a), name) == doctest::Approx(found(ridge->report(b), name)));
  }
}

TEST_CASE("Huang and Wand's prior of one effect is half-t") {
  const auto joint = make("huang_wand", {{"effects", 1}, {"df", 2.7}, {"scale_1", 1.4}});
  const auto half_t = make("half_t", {{"df", 2.7}, {"scale", 1.4}});
  for (double square : {1e-6, 3.0, 1e9})
    for (double unseen : {0.0, 4.0}) {
      const Moments moments{Vec::Constant(2, square), 2 + unseen, unseen};
      Vec a(4), b(4);
      joint->start(moments, a);
      half_t->start(moments, b);
      joint->update(moments, 1.5, a);
      half_t->update(moments, 1.5, b);
      CHECK(joint->value(moments, a) == doctest::Approx(half_t->value(moments, b)).epsilon(1e-9));
      CHECK(joint->log_scaled(moments, a, 3) - joint->log_scaled(moments, a, 1) ==
            doctest::Approx(half_t->log_scaled(moments, b, 3) - half_t->log_scaled(moments, b, 1)));
      CHECK(a[3] == doctest::Approx(b[3]));
    }
}

TEST_CASE("inverse Wishart: value is E log p(u|Sigma) + E log p(Sigma) - E log q(Sigma)") {
  const auto prior = make("inverse_wishart", kWishart);
  const Mat own = matrix2(0.9, -0.4, 2.1), scale = matrix2(4, 1.5, 3), s = matrix2(6, 1, 9);
  const Moments moments = moments_of(s, 7);
  const auto by_simulation = simulate(8.2, scale, 50000, [&](const Mat& sigma, Draws&) {
    return log_effects(sigma, 7, s) + log_inverse_wishart(sigma, 3.4L, own) -
           log_inverse_wishart(sigma, 8.2L, scale);
  });
  const double value = prior->value(moments, hyper_of(8.2, scale));
  CHECK(by_simulation.second < 0.04);
  CHECK(std::abs(value - by_simulation.first) < 4 * by_simulation.second);
}

TEST_CASE("inverse Wishart: value at its best is the log of the integral over Sigma") {
  const auto prior = make("inverse_wishart", kWishart);
  const Mat own = matrix2(0.9, -0.4, 2.1), s = matrix2(6, 1, 9);
  const Moments moments = moments_of(s, 7);
  Vec hyper(5);
  prior->start(moments, hyper);
  prior->update(moments, 1, hyper);
  const Mat any = matrix2(1.3, 0.2, 0.8);  // log p(u, Sigma) - log p(Sigma | u) at any Sigma
  const Real expected = log_effects(any, 7, s) + log_inverse_wishart(any, 3.4L, own) -
                        log_inverse_wishart(any, 10.4L, own + s);
  CHECK(gap(prior->value(moments, hyper), expected) < 1e-13);
}

TEST_CASE("Huang and Wand's prior: value is the expectation over Sigma and both a") {
  const auto prior = make("huang_wand", kHuangWand);
  const Mat scale = matrix2(40, 15, 30), s = matrix2(6, 1, 9);
  const Moments moments = moments_of(s, 7);
  const double beta = 30, df = 2.5;
  const Eigen::Vector2d C(80, 100), own(0.7, 3);
  const auto by_simulation = simulate(60, scale, 50000, [&](const Mat& sigma, Draws& random) {
    const Eigen::Vector2d a(random.inverse_gamma(beta, C[0]), random.inverse_gamma(beta, C[1]));
    const Mat given = (2 * df * a.cwiseInverse()).asDiagonal();
    Real sum = log_effects(sigma, 7, s) + log_inverse_wishart(sigma, df + 1, given) -
               log_inverse_wishart(sigma, 60, scale);
    for (int k = 0; k < 2; ++k)
      sum += log_inverse_gamma(a[k], 0.5L, 1 / (own[k] * own[k])) -
             log_inverse_gamma(a[k], beta, C[k]);
    return sum;
  });
  const double value =
      prior->value(moments, hyper_of(60, scale, Eigen::Vector3d(beta, C[0], C[1])));
  CHECK(by_simulation.second < 0.025);
  CHECK(std::abs(value - by_simulation.first) < 4 * by_simulation.second);
}

TEST_CASE("Huang and Wand's prior: the mixture is half-t in each standard deviation") {
  // Sigma_11 given a is IG(df/2, df/a_1), whatever the other effects: half_t's own mixture.
  Draws random({5, 0, 0}, Purpose::hyper, 0);
  const double df = 2, scale = 0.7;
  int below = 0;
  const int n = 100000;
  for (int k = 0; k < n; ++k) {
    Mat l = Mat::Zero(3, 3), f(3, 3);
    for (Index j = 0; j < 3; ++j)
      l(j, j) = std::sqrt(2 * df / random.inverse_gamma(0.5, std::pow(scale, -2)));
    inverse_wishart(df + 2, l.data(), 3, random, f.data());
    below += f.row(1).norm() < scale;
  }
  const double p = 1 / std::sqrt(3.0);  // P(|t| < 1), 2 degrees of freedom
  CHECK(std::abs(below / static_cast<double>(n) - p) < 5 * std::sqrt(p * (1 - p) / n));
}

TEST_CASE("joint priors: both conditions hold after update, from few levels to many") {
  const auto prior = make("huang_wand", {{"effects", 3}, {"df", 2}, {"scale_1", 1},
                                         {"scale_2", 1e3}, {"scale_3", 1e-4}});
  for (double levels : {1.0, 3.0, 200.0}) {
    const Mat root = Eigen::Map<const Mat>(Noise(3).normals(9).data(), 3, 3);
    const Vec size = Eigen::Vector3d(1, 50, 1e-3);
    const Mat s = levels * (size.asDiagonal() * root * root.transpose() * size.asDiagonal());
    Vec hyper(14), inverse(9);
    prior->start(moments_of(s, levels), hyper);
    prior->update(moments_of(s, levels), 1, hyper);
    prior->precision(hyper, inverse);
    const Eigen::Map<const Mat> f(hyper.data() + 1, 3, 3);
    Mat lambda = s;
    for (Index k = 0; k < 3; ++k) {
      const double rate = k == 0 ? 1 : k == 1 ? 1e-6 : 1e8;
      CHECK(hyper[11 + k] == doctest::Approx(2 * inverse[4 * k] + rate).epsilon(1e-10));
      lambda(k, k) += 4 * hyper[10] / hyper[11 + k];
    }
    CHECK(gap(f * f.transpose(), lambda) < 1e-10);
    CHECK(hyper[0] == 4 + levels);
    CHECK(hyper[10] == 2.5);
  }
}

TEST_CASE("joint priors: a step taken further does not depend on the effects' basis") {
  const Mat basis = (Mat(2, 2) << 2, 0, 0.7, 0.1).finished();  // lower, so that L is again
  const Mat own = matrix2(0.9, -0.4, 2.1), s = matrix2(6, 1, 9), start = matrix2(3, 1, 2);
  const auto further = [&](const Mat& b) {
    const Mat turned = b * own * b.transpose();
    const auto prior = make("inverse_wishart", {{"effects", 2}, {"df", 3.4},
        {"scale_1_1", turned(0, 0)}, {"scale_2_1", turned(1, 0)}, {"scale_2_2", turned(1, 1)}});
    Vec hyper = hyper_of(10.4, b * start * b.transpose());
    prior->update(moments_of(b * s * b.transpose(), 7), 1.5, hyper);
    const Eigen::Map<const Mat> f(hyper.data() + 1, 2, 2);
    return Mat(f * f.transpose());
  };
  CHECK(gap(further(basis), basis * further(Mat::Identity(2, 2)) * basis.transpose()) < 1e-12);
}

TEST_CASE("joint priors: what is reported is the mean of Sigma, or that there is none") {
  const auto prior = make("inverse_wishart", kWishart);
  const Mat scale = matrix2(4, 1.5, 3);
  const NamedNumbers report = prior->report(hyper_of(8.2, scale));
  CHECK(found(report, "df") == 8.2);
  CHECK(found(report, "scale_2_1") == doctest::Approx(1.5));
  CHECK(found(report, "mean_1_1") == doctest::Approx(4 / 5.2));
  CHECK(found(report, "mean_2_1") == doctest::Approx(1.5 / 5.2));
  CHECK(found(report, "mean_2_2") == doctest::Approx(3 / 5.2));
  CHECK(found(report, "inverse_mean_1_1") == doctest::Approx(8.2 * 3 / (4 * 3 - 1.5 * 1.5)));
  CHECK(std::isinf(found(prior->report(hyper_of(3, scale)), "mean_2_2")));
}

TEST_CASE("joint priors: effects perfectly correlated but for rounding still have a factor") {
  const auto prior = make("huang_wand", kHuangWand);
  const Mat s = 1e18 * matrix2(1, 1e-9, 1e-18);
  const Moments moments = moments_of(s, 40);
  Vec hyper(8), inverse(4);
  prior->start(moments, hyper);
  prior->update(moments, 1.5, hyper);
  CHECK(std::isfinite(prior->value(moments, hyper)));
  Draws random({5, 0, 0}, Purpose::hyper, 0);
  prior->draw(moments, random, hyper);
  prior->precision(hyper, inverse);
  CHECK(inverse.allFinite());
  Moments infinite = moments;
  infinite.square[0] = 1 / 0.0;
  CHECK_THROWS_AS(prior->draw(infinite, random, hyper), NumericalFailure);
}

TEST_CASE("joint priors: parameters that cannot be are refused by name") {
  const auto refused = [](const std::string& name, Numbers numbers) {
    try {
      make(name, numbers);
    } catch (const InvalidInput& error) {
      return error.argument();
    }
    return std::string();
  };
  Numbers wishart = kWishart;
  for (double effects : {0.0, 1.5, 201.0}) {
    wishart["effects"] = effects;
    CHECK(refused("inverse_wishart", wishart) == "effects");
    CHECK(refused("huang_wand", {{"effects", effects}}) == "effects");
  }
  wishart = kWishart;
  wishart["df"] = 1;
  CHECK(refused("inverse_wishart", wishart) == "df");
  wishart = kWishart;
  wishart["scale_2_1"] = 1.5;
  CHECK(refused("inverse_wishart", wishart) == "scale");
  wishart["scale_2_2"] = -1;
  CHECK(refused("inverse_wishart", wishart) == "scale_2_2");
  CHECK(refused("huang_wand", {{"effects", 2}, {"df", 2}, {"scale_1", 1}}) == "scale_2");
}
