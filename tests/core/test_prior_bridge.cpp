// The exponential power law as a mixture of normals, sampled by a prior alone: from exact draws of
// (b, nu, alpha), steps that ought to leave their law as it is.
#include <doctest/doctest.h>

#include <functional>

#include "components.hpp"
#include "laws.hpp"
#include "prior/prior.hpp"

using namespace bsvm;
using namespace bsvm_test;

namespace {

using Numbers = std::map<std::string, double>;

constexpr Index kSize = 3;
constexpr double kLeast = 0.05;  // alpha, where it is inferred
const double kSigma[kSize] = {1, 0.2, 30};

// alpha or nu 0: inferred.
struct Law {
  double alpha, nu, shape, rate;

  std::unique_ptr<Prior> prior() const {
    Numbers numbers{{"alpha", alpha}, {"nu", nu}, {"shape", shape}, {"rate", rate}};
    for (Index j = 0; j < kSize; ++j) numbers["sigma_" + std::to_string(j + 1)] = kSigma[j];
    return Registry<Prior>::make("bridge", Params("bridge", numbers));
  }
};

const Law kLaws[] = {{2, 0.7, 1, 1},   {1, 0.7, 1, 1},   {0.5, 0.7, 1, 1},   {1.6, 0.7, 1, 1},
                     {2, 0, 3, 2},     {1, 0, 3, 2},     {0.5, 0, 9, 4},     {1.6, 0, 3, 2},
                     {0, 0.7, 1, 1},   {0, 0, 30, 20}};

struct Point {
  Vec b, hyper;
};

double exponent(const Point& point) { return point.hyper[1]; }
double log_lambda(const Point& point) { return -exponent(point) * std::log(point.hyper[0]); }

// log |b_j / (nu sigma_j)|^alpha, whose exponential is Gamma(1/alpha).
double log_size(const Point& point, Index j) {
  return exponent(point) * std::log(std::abs(point.b[j]) / (point.hyper[0] * kSigma[j]));
}

Moments moments_of(const Point& point) { return {point.b.cwiseAbs2(), kSize, 0}; }

Point from_prior(const Law& law, Draws& random) {
  Point out{Vec(kSize), Vec::Ones(2 + kSize)};
  const double alpha = law.alpha > 0 ? law.alpha : kLeast + (2 - kLeast) * random.uniform();
  const double log_nu =
      law.nu > 0 ? std::log(law.nu)
                 : (std::log(law.rate) - random.log_gamma_draw(law.shape)) / alpha;
  out.hyper[0] = std::exp(log_nu);
  out.hyper[1] = alpha;
  for (Index j = 0; j < kSize; ++j) {
    const double size = std::exp(log_nu + random.log_gamma_draw(1 / alpha) / alpha) * kSigma[j];
    out.b[j] = random.uniform() < 0.5 ? size : -size;
  }
  return out;
}

using Step = std::function<void(const Prior&, Point&, Draws&)>;

void draw_coefficients(const Prior& prior, Point& point, Draws& random) {
  Vec precision(kSize);
  prior.precision(point.hyper, precision);
  for (Index j = 0; j < kSize; ++j) point.b[j] = random.normal() / std::sqrt(precision[j]);
}

void gibbs(const Prior& prior, Point& point, Draws& random) {
  for (int k = 0; k < 3; ++k) {
    prior.draw(moments_of(point), random, point.hyper);
    draw_coefficients(prior, point, random);
  }
}

// A Metropolis step of log t along the scale, at the latent scales of a draw.
void move(const Prior& prior, Point& point, Draws& random) {
  prior.draw(moments_of(point), random, point.hyper);
  const Moments moments = moments_of(point);
  const double t = std::exp(random.normal());
  const double gain = prior.log_scaled(moments, point.hyper, t) -
                      prior.log_scaled(moments, point.hyper, 1);
  if (!(std::log(random.uniform()) < gain)) return;
  point.b *= t;
  prior.scale(point.hyper, t);
}

void move_and_draw(const Prior& prior, Point& point, Draws& random) {
  for (int k = 0; k < 3; ++k) {
    move(prior, point, random);
    draw_coefficients(prior, point, random);
  }
}

// nu after the latent scales, which are then stale (the paper's order).
void wrong_order(const Prior& prior, Point& point, Draws& random) {
  for (int k = 0; k < 40; ++k) {
    prior.draw(moments_of(point), random, point.hyper);
    Point next = point;
    prior.draw(moments_of(point), random, next.hyper);
    const double ratio = point.hyper[0] / next.hyper[0];
    point.hyper[0] = next.hyper[0];
    point.hyper.tail(kSize) *= ratio * ratio;
    draw_coefficients(prior, point, random);
  }
}

std::vector<Point> after(const Law& law, const Step& step) {
  const auto prior = law.prior();
  std::vector<Point> out;
  for (std::uint64_t k = 0; k < 6000; ++k) {
    Draws random({78, 0, k}, Purpose::hyper, 0);
    out.push_back(from_prior(law, random));
    step(*prior, out.back(), random);
  }
  return out;
}

template <class Number, class Cdf>
double distance(const std::vector<Point>& points, Number number, Cdf cdf) {
  std::vector<double> out;
  for (const Point& point : points) out.push_back(number(point));
  return kolmogorov(out, cdf, 5);
}

double uniform_cdf(double x) { return x; }

double scale_distance(const Law& law, const std::vector<Point>& points) {
  return distance(points, log_lambda, [&](double x) {
    return log_gamma_cdf(x + std::log(law.rate), law.shape);
  });
}

void check_law(const Law& law, const std::vector<Point>& points) {
  CAPTURE(law.alpha);
  CAPTURE(law.nu);
  if (law.alpha == 0)
    CHECK(distance(points, exponent, [](double x) { return (x - kLeast) / (2 - kLeast); }) <
          kKolmogorov);
  if (law.nu == 0) CHECK(scale_distance(law, points) < kKolmogorov);
  for (Index j : {0, 2}) {
    const auto place = [&](const Point& point) {
      const double below = static_cast<double>(log_gamma_cdf(log_size(point, j),
                                                             1 / exponent(point)));
      return point.b[j] > 0 ? 0.5 + 0.5 * below : 0.5 - 0.5 * below;
    };
    CHECK(distance(points, place, uniform_cdf) < kKolmogorov);
  }
}

// ---- alpha given coefficients, by sums over alpha and log nu of the joint density ---------------

constexpr int kNodes = 200;

double alpha_at(double k) { return kLeast + (2 - kLeast) * k / kNodes; }

// `misprint`: the power of alpha by which (5) of 002 as printed is off for each coefficient.
double log_joint(const Law& law, const Vec& b, double alpha, double log_nu, double misprint) {
  const double m = static_cast<double>(b.size());
  double sum = -m * (std::log(2.0) + log_nu + std::lgamma(1 + 1 / alpha) -
                     misprint * std::log(alpha));
  sum -= (alpha * (b.array().abs().log() - log_nu)).exp().sum();
  if (law.nu > 0) return sum;
  const double log_lambda = -alpha * log_nu;  // d lambda = alpha lambda d log nu
  return sum + law.shape * log_lambda - law.rate * std::exp(log_lambda) + std::log(alpha);
}

double alpha_mass(const Law& law, const Vec& b, double alpha, double misprint) {
  if (law.nu > 0) return std::exp(log_joint(law, b, alpha, std::log(law.nu), misprint) + 50);
  double mass = 0;
  for (double log_nu = -30; log_nu <= 6; log_nu += 0.05)
    mass += std::exp(log_joint(law, b, alpha, log_nu, misprint) + 50);
  return mass;
}

// The distribution function of alpha, linear between alpha_at(0), alpha_at(1), ...
std::function<double(double)> alpha_cdf(const Law& law, const Vec& b, double misprint) {
  std::vector<double> below{0};
  for (int k = 0; k < kNodes; ++k)
    below.push_back(below.back() + alpha_mass(law, b, alpha_at(k + 0.5), misprint));
  return [below](double alpha) {
    const double at = std::min((alpha - kLeast) / (2 - kLeast) * kNodes, kNodes - 1e-9);
    const int k = static_cast<int>(at);
    return (below[k] + (at - k) * (below[k + 1] - below[k])) / below.back();
  };
}

// Chains of 12 draws given b, each from its own start, and their last alpha.
std::vector<double> alpha_draws(const Law& law, const Vec& b) {
  const auto prior = Registry<Prior>::make(
      "bridge", Params("bridge", {{"alpha", 0}, {"nu", law.nu}, {"shape", law.shape},
                                  {"rate", law.rate}}));
  const Moments moments{b.cwiseAbs2(), static_cast<double>(b.size()), 0};
  std::vector<double> out;
  for (std::uint64_t chain = 0; chain < 2000; ++chain) {
    Draws random({79, 0, chain}, Purpose::hyper, 0);
    Vec hyper = Vec::Ones(2 + b.size());
    hyper[1] = alpha_at(kNodes * random.uniform());
    for (int k = 0; k < 12; ++k) prior->draw(moments, random, hyper);
    out.push_back(hyper[1]);
  }
  return out;
}

Vec simulated(double alpha, double nu, Index m) {
  Draws random({80, 0, 0}, Purpose::hyper, 0);
  Vec b(m);
  for (Index j = 0; j < m; ++j) b[j] = nu * std::exp(random.log_gamma_draw(1 / alpha) / alpha);
  return b;
}

std::unique_ptr<Prior> without_sigma(double alpha, double nu) {
  return Registry<Prior>::make(
      "bridge", Params("bridge", {{"alpha", alpha}, {"nu", nu}, {"shape", 1}, {"rate", 1}}));
}

}  // namespace

TEST_CASE("bridge: draws of nu, alpha and the latent scales leave the prior as it is") {
  for (const Law& law : kLaws) check_law(law, after(law, gibbs));
}

TEST_CASE("bridge: moves along the scale leave the prior as it is") {
  for (const Law& law : kLaws) {
    check_law(law, after(law, move));
    check_law(law, after(law, move_and_draw));
  }
}

TEST_CASE("bridge: nu drawn after the latent scales would not") {
  const Law law{1, 0, 0.7, 0.7};
  CHECK(scale_distance(law, after(law, gibbs)) < kKolmogorov);
  CHECK(scale_distance(law, after(law, wrong_order)) > 2 * kKolmogorov);
}

TEST_CASE("bridge: alpha given coefficients; with the misprinted constant it is another") {
  for (const Law& law : {Law{0, 0.4, 1, 1}, Law{0, 0, 1, 1}, Law{0, 0, 0.01, 0.02}})
    for (double alpha : {0.5, 1.2}) {
      CAPTURE(law.nu);
      CAPTURE(alpha);
      const Vec b = simulated(alpha, 0.4, 40);
      const auto draws = alpha_draws(law, b);
      CHECK(kolmogorov(draws, alpha_cdf(law, b, 0), 10) < kKolmogorov);
      CHECK(kolmogorov(draws, alpha_cdf(law, b, 1), 10) > 10 * kKolmogorov);
    }
}

TEST_CASE("bridge: alpha = 2 is where alpha goes to 2") {
  const auto limit = without_sigma(2, 0.5), near = without_sigma(2 - 1e-9, 0.5);
  const Moments moments{Eigen::Vector3d(0, 1e-4, 4), 3, 0};
  Vec hyper(5), close(5);
  for (std::uint64_t k = 0; k < 100; ++k) {
    Draws random({81, 0, k}, Purpose::hyper, 0);
    limit->draw(moments, random, hyper);
    near->draw(moments, random, close);
    for (Index j = 2; j < 5; ++j) {
      CHECK(hyper[j] == doctest::Approx(2 / 0.25).epsilon(1e-12));
      CHECK(close[j] == doctest::Approx(hyper[j]).epsilon(1e-4));
    }
  }
}

TEST_CASE("bridge: precisions are numbers, whatever the coefficients") {
  for (double alpha : {0.0, 0.05, 0.5, 1.0, 1.999999, 2.0})
    for (double nu : {0.0, 1e-140, 1e-8, 1.0, 1e10, 1e150}) {
      CAPTURE(alpha);
      CAPTURE(nu);
      const auto prior = without_sigma(alpha, nu);
      REQUIRE(prior->supports(Use::drawn));
      Moments b{Vec(6), 6, 0};
      b.square << 0, 5e-324, 1e-200, 1, 1e200, 1e300;
      Vec hyper(8), precision(6);
      prior->start(b, hyper);
      for (std::uint64_t k = 0; k < 50; ++k) {
        Draws random({82, 0, k}, Purpose::hyper, 0);
        prior->draw(b, random, hyper);
        prior->precision(hyper, precision);
        REQUIRE(hyper.allFinite());
        REQUIRE(precision.minCoeff() >= 1e-100);
        REQUIRE(precision.maxCoeff() <= 1e100);
        REQUIRE(hyper[0] > 0);
      }
    }
}

TEST_CASE("bridge: what can't be is refused by name, and which uses it has") {
  const auto refusal = [](Numbers numbers) -> std::string {
    Numbers all{{"alpha", 1}, {"nu", 1}, {"shape", 1}, {"rate", 1}};
    for (const auto& one : numbers) all[one.first] = one.second;
    try {
      Registry<Prior>::make("bridge", Params("bridge", all));
    } catch (const InvalidInput& refused) {
      return refused.argument();
    }
    return "";
  };
  CHECK(refusal({}) == "");
  for (double alpha : {-1.0, 2.1, std::nan("")}) CHECK(refusal({{"alpha", alpha}}) == "alpha");
  CHECK(refusal({{"nu", -1}}) == "nu");
  CHECK(refusal({{"shape", 0}}) == "shape");
  CHECK(refusal({{"rate", -2}}) == "rate");
  CHECK(refusal({{"sigma_1", 1}, {"sigma_2", 0}}) == "sigma_2");
  CHECK(without_sigma(0.01, 1)->supports(Use::point));
  CHECK(!without_sigma(0.01, 1)->supports(Use::drawn));
  CHECK(!without_sigma(0, 1)->supports(Use::point));
  CHECK(!without_sigma(1, 1)->supports(Use::augmented));
  CHECK(!without_sigma(1, 1)->exchangeable());
}

TEST_CASE("bridge: nu alone has drawn numbers where it is inferred, alpha too") {
  Vec hyper(3);
  hyper << 0.3, 1.4, 1;
  CHECK(without_sigma(1, 1)->drawn(hyper).empty());
  CHECK(without_sigma(1, 0)->drawn(hyper) == NamedNumbers{{"nu", 0.3}});
  CHECK(without_sigma(0, 1)->drawn(hyper) == NamedNumbers{{"alpha", 1.4}});
  CHECK(without_sigma(0, 0)->drawn(hyper) == NamedNumbers{{"nu", 0.3}, {"alpha", 1.4}});
}

// Of the loss, which has nu's own prior.
TEST_CASE("bridge: the mode of nu is where the loss is least") {
  const Vec b = Eigen::Vector3d(0.4, -3, 11);
  for (const Law& law : kLaws) {
    if (law.nu > 0 || law.alpha == 0) continue;
    const auto prior = law.prior();
    Vec hyper(prior->hyper_size(kSize));
    prior->start(Moments(), hyper);
    prior->to_mode(b, hyper);
    const double least = prior->loss(b, hyper), nu = hyper[0];
    for (double by : {0.98, 1.02}) {
      hyper[0] = nu * by;
      INFO(law.alpha, " ", by);
      CHECK(prior->loss(b, hyper) > least);
    }
  }
}
