// What sampling does to a prior alone: start from exact draws of (b, variances), take a
// step that ought to leave their law as it is, and compare with that law. Every replicate is
// independent of the others.
#include <doctest/doctest.h>

#include <functional>

#include "components.hpp"
#include "laws.hpp"
#include "oracle.hpp"
#include "prior/prior.hpp"
#include "random/wishart.hpp"

using namespace bsvm_test;

namespace {

using Numbers = std::map<std::string, double>;

// A prior on q joint effects of some levels, and how to draw Sigma from it.
struct Alone {
  std::unique_ptr<Prior> prior;
  std::function<Mat(Draws&)> sigma;  // a factor F of Sigma = F F'
  Index levels = 3;
  double unseen = 0;

  Index q() const { return prior->effects(); }
};

std::unique_ptr<Prior> make(const std::string& name, Numbers numbers) {
  return Registry<Prior>::make(name, Params(name, std::move(numbers)));
}

Mat root_of(double variance) { return Mat::Constant(1, 1, std::sqrt(variance)); }

Alone ridge() {
  return {make("ridge", {{"shape", 1.4}, {"scale", 0.6}}),
          [](Draws& random) { return root_of(random.inverse_gamma(1.4, 0.6)); }};
}

Alone half_t() {
  return {make("half_t", {{"df", 2}, {"scale", 0.7}}), [](Draws& random) {
            const double a = random.inverse_gamma(0.5, std::pow(0.7, -2));
            return root_of(random.inverse_gamma(1, 2 / a));
          }};
}

Mat factor_of(double df, const Mat& lower, Draws& random) {
  Mat out(lower.rows(), lower.cols());
  inverse_wishart(df, lower.data(), lower.rows(), random, out.data());
  return out;
}

Alone wishart() {
  return {make("inverse_wishart", {{"effects", 2}, {"df", 3}, {"scale_1_1", 4}, {"scale_2_1", 0},
                                   {"scale_2_2", 0.09}}),
          [](Draws& random) {
            return factor_of(3, Eigen::Vector2d(2, 0.3).asDiagonal().toDenseMatrix(), random);
          }};
}

// Of a scale with a covariance: L L' of L = (2, 0; -0.3, 0.3).
Alone tilted_wishart() {
  return {make("inverse_wishart", {{"effects", 2}, {"df", 3}, {"scale_1_1", 4}, {"scale_2_1", -0.6},
                                   {"scale_2_2", 0.18}}),
          [](Draws& random) {
            Mat lower(2, 2);
            lower << 2, 0, -0.3, 0.3;
            return factor_of(3, lower, random);
          }};
}

Alone huang_wand() {
  return {make("huang_wand", {{"effects", 2}, {"df", 2}, {"scale_1", 0.7}, {"scale_2", 20}}),
          [](Draws& random) {
            Mat lower = Mat::Zero(2, 2);
            for (Index k = 0; k < 2; ++k)
              lower(k, k) = 2 / std::sqrt(random.inverse_gamma(0.5, std::pow(k ? 20 : 0.7, -2)));
            return factor_of(3, lower, random);
          }};
}

// b and the hyper-parameters.
struct Point {
  Mat b;  // (q, levels)
  Vec hyper;
};

Moments moments_of(const Alone& alone, const Point& point) {
  const double count = static_cast<double>(point.b.size()) + alone.unseen;
  if (alone.q() == 1) return {Vec(point.b.cwiseAbs2().rowwise().sum()), count, alone.unseen};
  const Mat square = point.b * point.b.transpose();
  return {Eigen::Map<const Vec>(square.data(), square.size()), count, 0};
}

// A point as a draw writes it, from the prior; the auxiliaries are none of precision()'s.
Point from_prior(const Alone& alone, Draws& random) {
  const Mat f = alone.sigma(random);
  Point out{Mat(alone.q(), alone.levels), Vec::Ones(alone.prior->hyper_size(1))};
  for (Index k = 0; k < out.b.size(); ++k) out.b.data()[k] = random.normal();
  out.b = (f * out.b).eval();
  if (alone.q() > 1) out.hyper.segment(1, f.size()) = Eigen::Map<const Vec>(f.data(), f.size());
  else if (out.hyper.size() > 0) out.hyper[1] = f(0, 0) * f(0, 0);
  return out;
}

using Step = std::function<void(const Alone&, Point&, Draws&)>;

void gibbs(const Alone& alone, Point& point, Draws& random) {
  alone.prior->draw(moments_of(alone, point), random, point.hyper);
}

// A Metropolis step of log t along the scale.
void move(const Alone& alone, Point& point, Draws& random) {
  const Moments moments = moments_of(alone, point);
  const double t = std::exp(2 * random.normal());
  const double gain = alone.prior->log_scaled(moments, point.hyper, t) -
                      alone.prior->log_scaled(moments, point.hyper, 1);
  if (!(std::log(random.uniform()) < gain)) return;
  point.b *= t;
  alone.prior->scale(point.hyper, t);
}

// The same of one effect of several.
void stretch(const Alone& alone, Point& point, Draws& random) {
  for (Index a = 0; a < alone.q() && alone.q() > 1; ++a) {
    const double t = std::exp(2 * random.normal());
    const double gain = alone.prior->log_stretched(a, point.hyper, t) -
                        alone.prior->log_stretched(a, point.hyper, 1);
    if (!(std::log(random.uniform()) < gain)) continue;
    point.b.row(a) *= t;
    alone.prior->stretch(a, point.hyper, t);
  }
}

void both(const Alone& alone, Point& point, Draws& random) {
  for (int k = 0; k < 3; ++k) {
    move(alone, point, random);
    gibbs(alone, point, random);
    stretch(alone, point, random);
  }
}

std::vector<Point> after(const Alone& alone, const Step& step) {
  std::vector<Point> out;
  for (std::uint64_t k = 0; k < 20000; ++k) {
    Draws random({77, 0, k}, Purpose::hyper, 0);
    out.push_back(from_prior(alone, random));
    step(alone, out.back(), random);
  }
  return out;
}

template <class Number>
std::vector<double> each(const std::vector<Point>& points, Number number) {
  std::vector<double> out;
  for (const Point& point : points) out.push_back(number(point));
  return out;
}

// Of the k-th variance, whose law is `cdf`; of a coefficient on its scale, which is normal.
template <class Cdf>
void check_law(const Alone& alone, const std::vector<Point>& points, Index k, Cdf cdf) {
  const auto variance = [&](const Point& point) {
    const NamedNumbers drawn = alone.prior->drawn(point.hyper);
    return drawn[k == 0 ? 0 : drawn.size() - 1].second;
  };
  CHECK(kolmogorov(each(points, variance), cdf, 20) < kKolmogorov);
  const auto scaled = [&](const Point& point) {
    return point.b(k, 1) / std::sqrt(variance(point));
  };
  const auto normal_cdf = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
  CHECK(kolmogorov(each(points, scaled), normal_cdf, 20) < kKolmogorov);
}

// Correlations are uniform for both joint priors here.
void check_correlation(const Alone& alone, const std::vector<Point>& points) {
  const auto correlation = [&](const Point& point) {
    const NamedNumbers v = alone.prior->drawn(point.hyper);
    return v[1].second / std::sqrt(v[0].second * v[2].second);
  };
  CHECK(kolmogorov(each(points, correlation), [](double x) { return 0.5 * (x + 1); }, 20) <
        kKolmogorov);
}

const Step kSteps[] = {gibbs, move, stretch, both};

}  // namespace

TEST_CASE("ridge: draws and moves leave the prior as it is") {
  for (const Step& step : kSteps)
    for (double unseen : {0.0, 50.0}) {
      Alone alone = ridge();
      alone.unseen = unseen;
      check_law(alone, after(alone, step), 0,
                [](double x) { return inverse_gamma_cdf(x, 1.4L, 0.6L); });
    }
}

TEST_CASE("half-t: draws and moves leave the prior as it is") {
  for (const Step& step : kSteps)
    for (double unseen : {0.0, 50.0}) {
      Alone alone = half_t();
      alone.unseen = unseen;
      check_law(alone, after(alone, step), 0,
                [](double x) { return half_t2_cdf(std::sqrt(x) / 0.7); });
    }
}

TEST_CASE("inverse Wishart: draws and moves leave the prior as it is") {
  for (const Step& step : kSteps) {
    const Alone alone = wishart();
    const auto points = after(alone, step);
    for (Index k : {0, 1})
      check_law(alone, points, k,
                [&](double x) { return inverse_gamma_cdf(x, 1, k ? 0.045L : 2); });
    check_correlation(alone, points);
  }
}

TEST_CASE("inverse Wishart with a covariance: draws and moves leave the prior as it is") {
  for (const Step& step : kSteps) {
    const Alone alone = tilted_wishart();
    const auto points = after(alone, step);
    for (Index k : {0, 1})
      check_law(alone, points, k,
                [&](double x) { return inverse_gamma_cdf(x, 1, k ? 0.09L : 2); });
  }
}

TEST_CASE("Huang and Wand's prior: draws and moves leave the prior as it is") {
  for (const Step& step : kSteps) {
    const Alone alone = huang_wand();
    const auto points = after(alone, step);
    for (Index k : {0, 1})
      check_law(alone, points, k,
                [&](double x) { return half_t2_cdf(std::sqrt(x) / (k ? 20 : 0.7)); });
    check_correlation(alone, points);
  }
}

TEST_CASE("normal: moves leave the prior as it is") {
  const Alone alone{make("normal", {{"variance", 2.3}}),
                    [](Draws&) { return root_of(2.3); }};
  const auto points = after(alone, move);
  const auto size = [](const Point& point) {
    return std::log(point.b.squaredNorm() / 4.6);
  };
  CHECK(kolmogorov(each(points, size), [](double x) { return log_gamma_cdf(x, 1.5L); }) <
        kKolmogorov);
}

TEST_CASE("normal: unseen coefficients do not weigh on a move") {
  const auto prior = make("normal", {{"variance", 2.3}});
  const Moments seen{Vec::Constant(2, 1.0), 2, 0}, all{Vec::Constant(2, 1.0), 7, 5};
  CHECK(prior->log_scaled(all, Vec(), 3) == prior->log_scaled(seen, Vec(), 3));
}

TEST_CASE("draws given fixed coefficients: inverse-gamma and inverse Wishart") {
  const Moments seen{Vec::Constant(1, 5.0), 4 + 9, 9};
  const auto one = make("ridge", {{"shape", 1.4}, {"scale", 0.6}});
  const auto joint = make("inverse_wishart", {{"effects", 2}, {"df", 3}, {"scale_1_1", 4},
                                              {"scale_2_1", 1}, {"scale_2_2", 0.9}});
  const Moments effects{Eigen::Vector4d(6, 1, 1, 9), 10, 0};
  Vec hyper(2), joint_hyper(5);
  one->start(seen, hyper);
  joint->start(effects, joint_hyper);
  std::vector<double> s2, sigma;
  for (std::uint64_t sweep = 0; sweep < 40000; ++sweep) {
    Draws random({6, 0, sweep}, Purpose::hyper, 0);
    one->draw(seen, random, hyper);
    s2.push_back(one->drawn(hyper)[0].second);
    joint->draw(effects, random, joint_hyper);
    sigma.push_back(joint->drawn(joint_hyper)[2].second);
  }
  const auto cdf = [](Real shape, Real scale) {
    return [=](double x) { return inverse_gamma_cdf(x, shape, scale); };
  };
  CHECK(kolmogorov(s2, cdf(3.4L, 3.1L)) < kKolmogorov);
  CHECK(kolmogorov(sigma, cdf(3.5L, 4.95L)) < kKolmogorov);
}

TEST_CASE("relevance: given its coefficient a variance is inverse-gamma") {
  const auto prior = make("relevance", {{"shape", 1.4}, {"scale", 0.6}});
  const Moments moments{Eigen::Vector2d(2, 0.5), 2, 0};
  Vec hyper(prior->hyper_size(2));
  std::vector<double> first, second;
  for (std::uint64_t sweep = 0; sweep < 40000; ++sweep) {
    Draws random({6, 2, sweep}, Purpose::hyper, 0);
    prior->start(moments, hyper);
    prior->draw(moments, random, hyper);
    Vec precision(2);
    prior->precision(hyper, precision);
    first.push_back(1 / precision[0]);
    second.push_back(1 / precision[1]);
  }
  CHECK(kolmogorov(first, [](double x) { return inverse_gamma_cdf(x, 1.9L, 1.6L); }) < kKolmogorov);
  CHECK(kolmogorov(second, [](double x) { return inverse_gamma_cdf(x, 1.9L, 0.85L); }) <
        kKolmogorov);
}

// v_k given s2 and 1/b_k is normal, 1/b_k is twice an exponential number.
TEST_CASE("laplace-zero: given what is in the variance is inverse-gamma, what is out has its prior") {
  const auto prior = make("laplace_zero", {{"rho", 0.4}, {"shape", 1.4}, {"scale", 0.6}});
  const Moments moments{Eigen::Vector3d(2, 0.5, 9), 3, 0};
  Vec hyper(prior->hyper_size(3));
  std::vector<double> s2, out;
  for (std::uint64_t sweep = 0; sweep < 40000; ++sweep) {
    prior->start(moments, hyper);  // b of one
    hyper.tail(3) = Eigen::Vector3d(1, 1, 0);
    Draws random({6, 1, sweep}, Purpose::hyper, 0);
    prior->draw(moments, random, hyper);
    s2.push_back(std::pow(prior->drawn(hyper)[0].second, 2));
    out.push_back(1 / hyper[2 + 2]);
  }
  CHECK(kolmogorov(s2, [](double x) { return inverse_gamma_cdf(x, 2.4L, 0.6L + 1.25L); }) <
        kKolmogorov);
  CHECK(kolmogorov(out, [](double x) { return -std::expm1(-x / 2); }) < kKolmogorov);
}
