// ECM, the evidence given the latent scales, and FITC: against the same formulas by plain
// inversion, a quadratic program by coordinates, the highest marginal density of gamma, and
// differences. The formulas as they were printed in the paper are shown to fail.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "additive_data.hpp"
#include "base/error.hpp"
#include "hosts.hpp"
#include "learn/ecm_learner.hpp"

using namespace bsvm_test;

namespace {

constexpr double kLeastNoise = 1e-6;  // as learn/ecm_learner.cpp has it

// Rows and kernels without the summand that has no kernel.
AdditiveSpec kernels_of(Index n, bool everything, std::uint64_t seed = 5) {
  AdditiveSpec out = wavy(n, "hinge", everything, seed);
  if (everything) out.summands.erase(out.summands.begin() + 1);
  for (Index i = 0; i < n; i += 7) out.y[i] = -out.y[i];
  return out;
}

EcmRows rows_of(const AdditiveSpec& spec) {
  return {spec.n(), spec.y.data(), spec.weight.size() > 0 ? spec.weight.data() : nullptr,
          spec.offset.size() > 0 ? spec.offset.data() : nullptr};
}

Vec start_of(const AdditiveSpec& spec) {
  std::vector<double> out;
  for (const SummandSpec& one : spec.summands)
    out.insert(out.end(), one.start.data(), one.start.data() + one.start.size());
  return Eigen::Map<Vec>(out.data(), static_cast<Index>(out.size()));
}

// In full.
RowPrior prior_of(const AdditiveSpec& spec) {
  RowPrior out;
  out.covariance = prior_covariance(spec, start_of(spec)).cast<double>();
  out.covariance.diagonal().array() += 1e-8;
  out.own = Vec::Zero(spec.n());
  out.fixed = Mat(spec.n(), 0);
  return out;
}

// Every m-th input of each summand; none for summands in full.
std::vector<Mat> points_of(const AdditiveSpec& spec, const std::vector<Index>& every) {
  std::vector<Mat> out;
  for (size_t k = 0; k < spec.summands.size(); ++k) {
    const Mat& x = spec.summands[k].inputs;
    if (every[k] == 0) {
      out.emplace_back();
      continue;
    }
    Mat v(x.rows(), (x.cols() + every[k] - 1) / every[k]);
    for (Index j = 0; j < v.cols(); ++j) v.col(j) = x.col(j * every[k]);
    out.push_back(v);
  }
  return out;
}

Real loss_of(const AdditiveSpec& spec, const VecL& f, Real gamma, Real gamma0) {
  const Real c = std::sqrt(1 + 2 * gamma0 / gamma);
  Real out = 0;
  for (Index i = 0; i < spec.n(); ++i) {
    const Real u = 1 - Real(spec.y[i]) * (f[i] + row_offset(spec, i));
    out += row_weight(spec, i) * gamma * (c * std::abs(u) + u);
  }
  return out;
}

// K (K + T/gamma)^{-1} (y (1 + scale) - offset), T of tau = |u|/c; with `scale` the same tau or
// E lambda, as the paper prints it.
VecL updated(const AdditiveSpec& spec, const MatL& k, const VecL& f, Real gamma, Real gamma0,
             bool printed) {
  const Real c = std::sqrt(1 + 2 * gamma0 / gamma);
  const Index n = spec.n();
  MatL g = k;
  VecL z(n);
  for (Index i = 0; i < n; ++i) {
    const Real u = 1 - Real(spec.y[i]) * (f[i] + row_offset(spec, i)), tau = std::abs(u) / c;
    g(i, i) += tau / (gamma * row_weight(spec, i));
    const Real scale = printed ? tau + 1 / (gamma * c * c) : tau;
    z[i] = Real(spec.y[i]) * (1 + scale) - row_offset(spec, i);
  }
  return product(k, product(inverse(g), z));
}

// The largest of beta'(1 - y offset) - alpha'K alpha/2, alpha = y beta, beta in its box, one
// coordinate after the other.
Real highest_dual(const AdditiveSpec& spec, const MatL& k, Real gamma, Real gamma0) {
  const Index n = spec.n();
  const Real c = std::sqrt(1 + 2 * gamma0 / gamma);
  VecL alpha = VecL::Zero(n), f = VecL::Zero(n);
  for (int sweep = 0; sweep < 40000; ++sweep) {
    Real moved = 0;
    for (Index i = 0; i < n; ++i) {
      const Real y = spec.y[i], w = gamma * row_weight(spec, i);
      const Real pull = 1 - y * (row_offset(spec, i) + f[i]);
      const Real beta = std::clamp(y * alpha[i] + pull / k(i, i), w * (1 - c), w * (1 + c));
      const Real by = y * beta - alpha[i];
      alpha[i] += by;
      f += by * k.col(i);
      moved = std::max(moved, std::abs(by));
    }
    if (moved < 1e-15L) break;
  }
  Real out = -alpha.dot(f) / 2;
  for (Index i = 0; i < n; ++i)
    out += alpha[i] * Real(spec.y[i]) * (1 - Real(spec.y[i]) * row_offset(spec, i));
  return out;
}

// The evidence of rows given the latent scales at f, by plain inversion, and alpha.
struct PlainEvidence {
  Real value;
  VecL alpha;
};
PlainEvidence plain_evidence(const AdditiveSpec& spec, const MatL& k, const VecL& f, Real gamma,
                             Real gamma0) {
  const Real c = std::sqrt(1 + 2 * gamma0 / gamma);
  MatL g = k;
  VecL z(spec.n());
  for (Index i = 0; i < spec.n(); ++i) {
    const Real u = 1 - Real(spec.y[i]) * (f[i] + row_offset(spec, i));
    const Real lambda = std::max(std::abs(u) / c, Real(kLeastNoise));
    g(i, i) += lambda / (gamma * row_weight(spec, i));
    z[i] = Real(spec.y[i]) * (1 + lambda) - row_offset(spec, i);
  }
  const VecL alpha = product(inverse(g), z);
  return {-(z.dot(alpha) + log_determinant(g)) / 2, alpha};
}

// FITC's covariance with these points, with jitter as kernel/points.cpp has it. `dtc`: without
// the diagonal, as printed.
MatL fitc_covariance(const AdditiveSpec& spec, const Vec& theta, const std::vector<Mat>& points,
                     bool dtc) {
  const Index n = spec.n();
  AdditiveSpec none = spec;
  none.summands.clear();
  MatL out = prior_covariance(none, theta);
  Index first = 0;
  for (size_t s = 0; s < spec.summands.size(); ++s) {
    AdditiveSpec one = spec;
    one.fixed = Mat();
    one.summands = {spec.summands[s]};
    const Vec own = theta.segment(first, one.summands[0].start.size());
    const MatL k = prior_covariance(one, own);
    first += own.size();
    if (points[s].size() == 0) {
      out += k;
      continue;
    }
    const Vec numbers = own.tail(own.size() - 1);
    const auto kernel = one.summands[0].make();
    Mat k_mm(points[s].cols(), points[s].cols()), k_nm(n, points[s].cols());
    kernel->values(points[s], points[s], numbers, k_mm);
    kernel->values(one.summands[0].inputs, points[s], numbers, k_nm);
    if (one.summands[0].multiplier.size() > 0)
      k_nm = one.summands[0].multiplier.asDiagonal() * k_nm;
    k_mm.diagonal().array() += 1e-8 * k_mm.diagonal().mean();
    const MatL across = k_nm.cast<Real>();
    MatL q = std::exp(2 * Real(own[0])) *
             product(across, product(inverse(k_mm.cast<Real>()), across.transpose()));
    if (!dtc) q.diagonal() = k.diagonal();
    out += q;
  }
  return out;
}

EcmScheme scheme_of(const std::vector<Mat>& points, double gamma, double gamma0) {
  EcmScheme out;
  out.loss.gamma = gamma;
  out.loss.gamma0 = gamma0;
  out.points = points;
  return out;
}

struct Numbers {
  double gamma, gamma0;
};
const Numbers kNumbers[] = {{1, 0}, {0.6, 0.3}, {2, 0.1}};

}  // namespace

TEST_CASE("ecm: an update is the corrected formula, and rises; the printed one need not") {
  Host host;
  for (const bool everything : {false, true})
    for (const Numbers& at : kNumbers) {
      const AdditiveSpec spec = kernels_of(30, everything);
      const RowPrior prior = prior_of(spec);
      const MatL k = prior.covariance.cast<Real>();
      Ecm ecm(rows_of(spec), {at.gamma, at.gamma0});
      VecL f = VecL::Zero(30), printed = f;
      double before = -1e300;
      for (int step = 0; step < 30; ++step) {
        f = updated(spec, k, ecm.point().f.cast<Real>(), at.gamma, at.gamma0, false);
        printed = updated(spec, k, printed, at.gamma, at.gamma0, true);
        ecm.update(prior, host);
        CHECK(gap(ecm.point().f, f) < 1e-9);
        CHECK(gap(prior.times(ecm.point().alpha), f) < 1e-9);
        CHECK(ecm.objective() >= before - 1e-9);
        before = ecm.objective();
      }
      const auto height = [&](const VecL& of) {
        return static_cast<double>(-loss_of(spec, of, at.gamma, at.gamma0) -
                                   of.dot(VecL(product(inverse(k), of))) / 2);
      };
      CHECK(height(printed) < height(f) - 0.1);
    }
}

TEST_CASE("ecm: its limit is the quadratic program, and the gap says how far that is") {
  Host host;
  for (const bool everything : {false, true})
    for (const Numbers& at : kNumbers) {
      const AdditiveSpec spec = kernels_of(40, everything, 9);
      const RowPrior prior = prior_of(spec);
      const Real dual = highest_dual(spec, prior.covariance.cast<Real>(), at.gamma, at.gamma0);
      Ecm ecm(rows_of(spec), {at.gamma, at.gamma0});
      const auto primal = [&] {
        return loss_of(spec, ecm.point().f.cast<Real>(), at.gamma, at.gamma0) +
               0.5L * ecm.point().f.dot(ecm.point().alpha);
      };
      for (int step = 0; step < 20; ++step) ecm.update(prior, host);
      CHECK(ecm.gap(prior) >= static_cast<double>(primal() - dual) - 1e-9);
      CHECK(ecm.gap(prior) > 1e-5);  // ECM itself is slow
      for (int step = 0; step < 300 && ecm.gap(prior) > 1e-9; ++step) ecm.leap(prior, host);
      CHECK(ecm.gap(prior) < 5e-8);
      CHECK(std::abs(static_cast<double>(primal() - dual)) < 5e-8);
    }
}

TEST_CASE("ecm: gamma ends where its marginal density is highest, not where the paper has it") {
  Host host;
  const double shape = 2, rate = 1.5;
  for (const bool everything : {false, true})
    for (const double gamma0 : {0.02, 0.1, 1.0}) {
      const AdditiveSpec spec = kernels_of(30, everything, 11);
      const RowPrior prior = prior_of(spec);
      Ecm ecm(rows_of(spec), {1, gamma0, true, shape, rate});
      double before = -1e300;
      for (int step = 0; step < 400; ++step) {
        ecm.leap(prior, host);
        CHECK(ecm.objective() >= before - 1e-9);
        before = ecm.objective();
      }
      const VecL f = ecm.point().f.cast<Real>();
      Real weight = 0;
      for (Index i = 0; i < spec.n(); ++i) weight += row_weight(spec, i);
      const auto density = [&](Real gamma) {
        const Real c = std::sqrt(1 + 2 * gamma0 / gamma);
        return (shape - 1) * std::log(gamma) - rate * gamma + weight * std::log(gamma0 / c) -
               loss_of(spec, f, gamma, gamma0);
      };
      Real low = 1e-6L, high = 50;
      for (int k = 0; k < 200; ++k) {
        const Real a = low + (high - low) / 3, b = high - (high - low) / 3;
        (density(a) < density(b) ? low : high) = density(a) < density(b) ? a : b;
      }
      CHECK(std::abs(ecm.point().gamma - static_cast<double>(low)) < 1e-8 * ecm.point().gamma);
      // with 1 / E(1/lambda) in place of E lambda, and with the sum over the first term alone
      Real printed = 1, first = 1;
      for (int k = 0; k < 2000; ++k) {
        Real sum = 0, sum_first = 0;
        const auto c_of = [&](Real gamma) { return std::sqrt(1 + 2 * gamma0 / gamma); };
        for (Index i = 0; i < spec.n(); ++i) {
          const Real u = 1 - Real(spec.y[i]) * (f[i] + row_offset(spec, i)), size = std::abs(u);
          const Real c = c_of(printed), d = c_of(first);
          sum += row_weight(spec, i) * (c * size + 2 * u + size / c);
          sum_first += row_weight(spec, i) * d * size;
        }
        printed = (shape + weight / 2 - 1) / (rate + sum / 2);
        first = (shape + weight / 2 - 1) / (rate + sum_first / 2);
      }
      CHECK(std::abs(static_cast<double>(printed - low)) > 0.05 * ecm.point().gamma);
      CHECK(std::abs(static_cast<double>(first - low)) > 0.05 * ecm.point().gamma);
    }
}

TEST_CASE("rows: a covariance by features is that in full, also with very wide fixed columns") {
  Host host;
  Noise noise(3);
  const Index n = 25, m = 6;
  for (const double flat : {1.0, 1e4, 1e7}) {
    RowPrior low;
    low.features = normal_matrix(n, m, noise);
    low.own = noise.normals(n).cwiseAbs2();
    low.fixed = normal_matrix(n, 2, noise);
    low.variance = (Vec(2) << flat, 0.5).finished();
    RowPrior full = low;
    full.covariance = low.features * low.features.transpose();
    full.features = Mat(n, 0);
    const Vec own = (0.3 * noise.normals(n)).cwiseAbs2();
    const MatL u = low.fixed.cast<Real>(), a = low.features.cast<Real>();
    MatL g = product(a, a.transpose());
    const VecL variance = low.variance.cast<Real>(), extra = (low.own + own).cast<Real>();
    for (Index j = 0; j < 2; ++j) g += variance[j] * (u.col(j) * u.col(j).transpose());
    const Vec z = noise.normals(n);
    const VecL long_z = z.cast<Real>();
    const VecL times = VecL(product(g, long_z)) + VecL(low.own.cast<Real>().cwiseProduct(long_z));
    CHECK(gap(low.times(z), times) < 1e-14);
    g.diagonal() += extra;
    const MatL inverted = inverse(g);
    for (const RowPrior& prior : {low, full}) {
      const RowGaussian rows(prior, own, host);
      const auto predicted = rows.predict(z);
      const VecL alpha = product(inverted, long_z);
      CHECK(gap(predicted.alpha, alpha) < 1e-10);
      CHECK(gap(predicted.coefficients.tail(2),
                variance.cwiseProduct(VecL(product(u.transpose(), alpha)))) < 1e-10);
      CHECK(gap(rows.solve(low.fixed), product(inverted, u)) < 1e-10);
      CHECK(gap(rows.diagonal(host), inverted.diagonal()) < 1e-10);
      CHECK(gap(rows.inverse(host), inverted) < 1e-10);
      CHECK(std::abs(rows.log_determinant() - static_cast<double>(log_determinant(g))) < 1e-10);
    }
  }
}

TEST_CASE("evidence: its value is that of plain inversion, its gradient that of differences") {
  Host host;
  const std::vector<std::vector<Index>> choices = {{0, 0}, {5, 0}, {0, 6}, {5, 6}, {1, 0}};
  for (const bool everything : {false, true})
    for (const auto& every : choices)
      for (const Numbers& at : kNumbers) {
        const AdditiveSpec spec = kernels_of(40, everything);
        if (!everything && every[1] > 0) continue;
        const std::vector<Mat> points = points_of(spec, every);
        EcmLearner learner(spec.model(), scheme_of(points, at.gamma, at.gamma0), host);
        const Vec x = learner.start(), theta = start_of(spec);
        for (int step = 0; step < 5; ++step) learner.rows().update(learner.prior(x), host);
        const VecL f = learner.rows().point().f.cast<Real>();
        const auto found = learner.evidence(x);
        const MatL k = fitc_covariance(spec, theta, points, false);
        CAPTURE(everything);
        CAPTURE(every[0]);
        CAPTURE(every[1]);
        const double plain =
            static_cast<double>(plain_evidence(spec, k, f, at.gamma, at.gamma0).value);
        CHECK(std::abs(found.value - plain) < 3e-9 * (1 + std::abs(plain)));
        if (every[0] > 1) {  // without the diagonal it is another number
          const MatL dtc = fitc_covariance(spec, theta, points, true);
          CHECK(std::abs(found.value - static_cast<double>(
                             plain_evidence(spec, dtc, f, at.gamma, at.gamma0).value)) > 0.05);
        }
        if (every[0] == 1) continue;  // points at rows: their own variance is cut at zero
        Vec slope(x.size());
        const double h = 1e-4;
        for (Index j = 0; j < x.size(); ++j) {
          const auto value = [&](double by) {
            Vec there = x;
            there[j] += by;
            return learner.evidence(there).value;
          };
          slope[j] = (8 * (value(h) - value(-h)) - (value(2 * h) - value(-2 * h))) / (12 * h);
        }
        CHECK(gap(found.gradient, slope) < 3e-7);
      }
}

TEST_CASE("FITC with a point in every row is ECM in full") {
  Host host;
  const AdditiveSpec spec = kernels_of(40, true);
  EcmLearner full(spec.model(), scheme_of(points_of(spec, {0, 0}), 1, 0), host),
      fitc(spec.model(), scheme_of(points_of(spec, {1, 1}), 1, 0), host);
  const RowPrior prior = full.prior(full.start()), with_points = fitc.prior(fitc.start());
  for (int step = 0; step < 100; ++step) {
    full.rows().update(prior, host);
    fitc.rows().update(with_points, host);
  }
  CHECK(gap(fitc.rows().point().f, full.rows().point().f) < 2e-8);
  CHECK(std::abs(fitc.rows().objective() - full.rows().objective()) < 3e-8);
}

TEST_CASE("rounds: each half rises, points move, and what is given stays") {
  Host host;
  AdditiveSpec spec = kernels_of(50, true);
  spec.summands[1].free[2] = false;
  EcmScheme scheme = scheme_of(points_of(spec, {5, 0}), 1, 0);
  scheme.rounds = 4;
  scheme.iterations = 8;
  const EcmLearned found = EcmLearner(spec.model(), scheme, host).run();
  REQUIRE(found.rounds.size() == 4);
  for (const EcmRound& round : found.rounds) CHECK(round.after >= round.before);
  CHECK(found.rounds[0].after > found.rounds[0].before + 0.1);
  CHECK(found.theta[found.theta.size() - 1] == spec.summands[1].start[2]);
  CHECK((found.points[0] - scheme.points[0]).norm() > 0.05);
  CHECK(found.points[1].size() == 0);
  scheme.move_points = false;
  const EcmLearned kept = EcmLearner(spec.model(), scheme, host).run();
  CHECK(kept.points[0] == scheme.points[0]);
  CHECK(kept.rounds[3].after < found.rounds[3].after);
  ImpatientHost impatient(20);
  CHECK_THROWS_AS(EcmLearner(spec.model(), scheme, impatient).run(), Interrupted);
  AdditiveSpec other = wavy(20, "hinge", true);
  scheme.points.assign(3, Mat());
  CHECK_THROWS_AS(EcmLearner(other.model(), scheme, host), InvalidInput);
}
