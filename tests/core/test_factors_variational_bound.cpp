#include <doctest/doctest.h>

#include "factor_posterior.hpp"
#include "random/inverse_gaussian.hpp"

using namespace bsvm_test;

namespace {

struct Case {
  FactorKind kind;
  bool augmented;
};

// Each likelihood with each form of loadings, some values missing or none; the last has more
// variables than rows and takes the rows' directions.
std::vector<Case> some_cases() {
  std::vector<Case> out;
  for (const char* likelihood : {"hinge", "hinge_normalized", "normal", "eps_insensitive"})
    for (int form = 0; form < 4; ++form) {
      FactorKind kind{likelihood, 9, form == 3 ? 13 : 6, 2};
      kind.local = form == 1 || form == 2;
      kind.each = form == 1;
      kind.fixed_rate = form == 2;
      kind.missing = form == 1 || form == 0;
      kind.beta = form == 0 ? "half_t" : "ridge";
      out.push_back({kind, form != 2 && std::string(likelihood) != "hinge_normalized"});
    }
  return out;
}

FactorModel model_of(const Case& own) {
  FactorModel model = plain_factors(own.kind, 7, 3);
  model.weight = Vec::LinSpaced(9, 0.5, 2);
  model.offset = Vec::LinSpaced(9, -0.3, 0.2);
  model.covariates.conservativeResize(9, 2);
  model.covariates.col(1) = Vec::LinSpaced(9, -1, 1).array().sin();
  model.parts[0].places = {0, 1};
  for (Index& place : model.parts[1].places) ++place;
  return model;
}

Use use_of_case(const Case& own) { return own.augmented ? Use::augmented : Use::expected; }

}  // namespace

TEST_CASE("factors_variational: the bound is what its entries add up to, and no block lowers it") {
  for (const Case& own : some_cases()) {
    const FactorModel model = model_of(own);
    const SharedFactors shared(model);
    Host host;
    FactorPosterior now(shared, use_of_case(own), shared.start, 1, host);
    CAPTURE(own.kind.likelihood);
    CAPTURE(own.kind.local);
    CAPTURE(own.kind.missing);
    double before = now.bound();
    const auto rises = [&](const char* block) {
      CAPTURE(block);
      const double there = now.bound();
      CHECK(there > before - 1e-9 * std::abs(before));
      CHECK(std::abs(there - bound_of(model, FactorQ(now), use_of_case(own))) < 1e-8);
      before = there;
    };
    for (int k = 0; k < 12; ++k) {
      now.translate();
      rises("translate");
      now.rotate();
      rises("rotate");
      now.update_scores(1, host);
      rises("scores");
      now.update_classifier();
      rises("classifier");
      now.update_loadings(1, host);
      rises("loadings");
    }
  }
}

// By differences: what a number could still gain by itself, in nats.
TEST_CASE("factors_variational: at the end no number of q can gain") {
  for (const Case& own : some_cases()) {
    const FactorModel model = model_of(own);
    const SharedFactors shared(model);
    Host host;
    const Use use = use_of_case(own);
    FactorPosterior now(shared, use, shared.start, 1, host);
    for (int k = 0; k < 1500; ++k) now.step(1, host);
    FactorQ q(now);
    const double here = bound_of(model, q, use);
    CAPTURE(own.kind.likelihood);
    CAPTURE(own.kind.local);
    CAPTURE(own.kind.missing);
    for (const FactorNumber& number : numbers_of(q, model)) {
      const double value = *number.at, h = 1e-4 * (0.01 + std::abs(value));
      const auto at = [&](double x) {
        *number.at = x;
        if (number.across) *number.across = x;
        return bound_of(model, q, use);
      };
      const double up = at(value + h), down = at(value - h);
      at(value);
      const double slope = (up - down) / (2 * h), bend = (2 * here - up - down) / (h * h);
      CAPTURE(number.of);
      CHECK(slope * slope / std::max(std::abs(bend), 1e-3) < 1e-6);
    }
  }
}

// E_q log p - log q of everything, hyper-parameters included, by draws. With normal responses all
// of the bound is exact.
TEST_CASE("factors_variational: the bound is E log p - log q by draws") {
  for (const bool local : {false, true}) {
    FactorKind kind{"normal", 7, 5, 2};
    kind.local = kind.each = local;
    kind.missing = true;
    FactorModel model = plain_factors(kind, 5, 3);
    if (!local)
      for (auto& prior : model.loadings.priors)
        prior = prior_of("ridge", {{"shape", 3}, {"scale", 2}});
    const SharedFactors shared(model);
    Host host;
    FactorPosterior now(shared, Use::augmented, shared.start, 1, host);
    for (int k = 0; k < 15; ++k) now.step(1, host);
    const FactorQ q(now);
    const auto likelihood = model.likelihood->with(q.theta);
    const Index p = model.p(), k = model.factors, n = model.n();
    const LoadingsPart& part = model.loadings;
    double sum = 0, squares = 0;
    const int draws = 60000;
    for (int at = 0; at < draws; ++at) {
      Draws random({4, 0, static_cast<std::uint64_t>(at)}, Purpose::rows, 0);
      double gain = 0;
      // x ~ N(mean, c): less its log density
      const auto normal = [&](const Vec& mean, const Mat& c) {
        Vec z(mean.size());
        for (Index j = 0; j < z.size(); ++j) z[j] = random.normal();
        gain += 0.5 * (z.squaredNorm() + log_determinant(c) +
                       kLog2Pi * static_cast<double>(z.size()));
        return Vec(mean + lower_product(Factor(c).lower(), z));
      };
      const auto log_normal_density = [](double x, double variance) {
        return -0.5 * (kLog2Pi + std::log(variance) + x * x / variance);
      };
      const auto log_gamma_density = [](double x, double a, double b) {
        return a * std::log(b) - std::lgamma(a) + (a - 1) * std::log(x) - b * x;
      };
      const auto gamma = [&](double a, double b) {
        const double x = random.gamma(a) / b;
        gain -= log_gamma_density(x, a, b);
        return x;
      };
      // s2 ~ IG(a, b), of which the prior is IG(3, 2)
      const auto variance = [&](double a, double b) {
        const double precision = random.gamma(a) / b;
        gain += log_gamma_density(precision, 3, 2) - log_gamma_density(precision, a, b);
        return 1 / precision;
      };
      Mat w(n, k), b(1 + k, p);
      for (Index row = 0; row < n; ++row) {
        w.row(row) = normal(q.w.row(row), q.v[static_cast<size_t>(row)]);
        for (Index j = 0; j < k; ++j) gain += log_normal_density(w(row, j), 1);
      }
      for (Index i = 0; i < p; ++i) {
        b.col(i) = normal(q.b.col(i), q.c[static_cast<size_t>(i)]);
        gain += log_normal_density(b(0, i), model.mean_variance);
      }
      if (local) {
        const double shape = part.shape + static_cast<double>(p * k);
        const double r = gamma(shape, shape / q.local_rate);
        gain += log_gamma_density(r, part.shape, part.rate_of_rate);
        for (Index i = 0; i < p; ++i)
          for (Index j = 1; j <= k; ++j) {
            // q(phi) has 1/phi inverse Gaussian with mean m and shape 2 E r
            const double s = q.b(j, i) * q.b(j, i) + q.c[static_cast<size_t>(i)](j, j);
            const double lambda = 2 * q.local_rate, m = std::sqrt(lambda / s);
            const double z = random.normal(), u = random.uniform();
            const double x = lambda * inverse_gaussian(lambda / m, z, u);
            const double log_q = 0.5 * (std::log(lambda) - kLog2Pi - 3 * std::log(x)) -
                                 lambda * std::pow(x - m, 2) / (2 * m * m * x);
            // densities of phi, with respect to phi
            gain += log_normal_density(b(j, i), 1 / x) + std::log(r) - r / x - log_q -
                    2 * std::log(x);
          }
      } else {
        for (Index j = 1; j <= k; ++j) {
          const Vec& hyper = q.loadings_hyper[static_cast<size_t>(j - 1)];
          const double s2 = variance(hyper[0], hyper[1]);
          for (Index i = 0; i < p; ++i) gain += log_normal_density(b(j, i), s2);
        }
      }
      Vec psi(q.shape.size());
      for (Index i = 0; i < psi.size(); ++i) {
        psi[i] = gamma(q.shape[i], q.rate[i]);
        gain += log_gamma_density(psi[i], model.noise.shape, model.noise.rate);
      }
      for (Index i = 0; i < p; ++i)
        for (Index row = 0; row < n; ++row)
          if (!std::isnan(model.x(row, i)))
            gain += log_normal_density(
                model.x(row, i) - b(0, i) - w.row(row).dot(b.col(i).tail(k)),
                1 / psi[q.noise(i)]);
      const Vec coefficients = normal(q.coefficients, q.covariance);
      gain += log_normal_density(coefficients[0], 1);
      const double g = variance(q.hyper[1][0], q.hyper[1][1]);
      for (Index j = 1; j <= k; ++j) gain += log_normal_density(coefficients[j], g);
      for (Index row = 0; row < n; ++row) {
        if (std::isnan(model.y[row])) continue;
        const double f = coefficients[0] + w.row(row).dot(coefficients.tail(k));
        RowTerms terms;
        terms.resize(1);
        likelihood->terms(Use::expected, Arr::Constant(1, model.y[row]), Arr::Constant(1, f),
                          Arr::Zero(1), terms);
        gain += terms.value[0];
      }
      for (Index j = 0; j < q.theta.size(); ++j) {
        Vec gradient(1);
        gain += model.parameters[static_cast<size_t>(j)]->log_joint(
            Moments(), q.theta.segment(j, 1), gradient);
      }
      sum += gain;
      squares += gain * gain;
    }
    const double mean = sum / draws, sd = std::sqrt(squares / draws - mean * mean);
    CHECK(std::abs(mean - now.bound()) < 4 * sd / std::sqrt(draws));
  }
}
