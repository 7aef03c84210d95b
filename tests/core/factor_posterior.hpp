#pragma once
#include "factor_data.hpp"
#include "factors/variational.hpp"
#include "special/functions.hpp"

namespace bsvm_test {

// A variational posterior of a factor model as numbers, and its bound entry by entry: no matrix
// algebra or sums of the core's.
struct FactorQ {
  Mat w;                   // (N, K)
  std::vector<Mat> v;      // of each row (K, K)
  Mat b;                   // (1 + K, p)
  std::vector<Mat> c;      // of each variable
  Vec shape, rate;         // of psi
  std::vector<Vec> loadings_hyper;
  double local_rate;
  Vec coefficients;
  Mat covariance;
  std::vector<Vec> hyper;
  Vec theta;

  explicit FactorQ(const FactorPosterior& of)
      : w(of.scores().mean), b(of.loadings().means()), shape(of.loadings().noise_shape()),
        rate(of.loadings().noise_rate()), loadings_hyper(of.loadings().hyper()),
        local_rate(of.loadings().rate()), coefficients(of.classifier().mean()),
        covariance(of.classifier().covariance()), hyper(of.classifier().hyper()),
        theta(of.classifier().theta()) {
    for (Index n = 0; n < w.rows(); ++n) v.push_back(of.scores().of(n));
    for (Index i = 0; i < b.cols(); ++i) c.push_back(of.loadings().covariance(i));
  }

  Index noise(Index i) const { return shape.size() > 1 ? i : 0; }
  Vec design(Index n) const {
    Vec out(1 + w.cols());
    out << 1, w.row(n).transpose();
    return out;
  }
};

inline double log_determinant(const Mat& a) { return Factor(a).logdet(); }

// E log of a density Gamma(a, b) under Gamma(shape, rate).
inline double expected_log_gamma(double a, double b, double shape, double rate) {
  return a * std::log(b) - std::lgamma(a) + (a - 1) * (digamma(shape) - std::log(rate)) -
         b * shape / rate;
}
inline double gamma_share_of(double a, double b, double shape, double rate) {
  return expected_log_gamma(a, b, shape, rate) - expected_log_gamma(shape, rate, shape, rate);
}

// log of the integral of N(a | 0, phi) r exp(-r phi) over phi > 0, with E a^2 = s, E r, E log r.
inline double local_share(double s, double r, double log_r) {
  double sum = 0;
  const double step = 0.01;
  for (double t = -30; t < 8; t += step) {
    const double phi = std::exp(t);
    sum += step * phi * std::exp(-0.5 * s / phi - r * phi) / std::sqrt(2 * 3.14159265358979 * phi);
  }
  return std::log(sum) + log_r;
}

inline Moments moments_of(const Vec& squares, double count) {
  Moments out;
  out.square = squares;
  out.count = count;
  return out;
}

inline PredictorMoments link_of(const FactorModel& model, const FactorQ& q, Index n) {
  const Index d = model.d(), k = model.factors;
  Vec c(d + k);
  c << model.covariates.row(n).transpose(), q.w.row(n).transpose();
  double mean = model.offset.size() > 0 ? model.offset[n] : 0, second = 0;
  for (Index j = 0; j < d + k; ++j) mean += c[j] * q.coefficients[j];
  for (Index j = 0; j < d + k; ++j)
    for (Index l = 0; l < d + k; ++l) {
      const double own = q.covariance(j, l) + q.coefficients[j] * q.coefficients[l];
      const double spread = j >= d && l >= d ? q.v[static_cast<size_t>(n)](j - d, l - d) : 0;
      second += (c[j] * c[l] + spread) * own - c[j] * c[l] * q.coefficients[j] * q.coefficients[l];
    }
  return {Arr::Constant(1, mean), Arr::Constant(1, second)};
}

inline double rows_of(const FactorModel& model, const FactorQ& q, Use use) {
  const auto own = q.theta.size() > 0 ? model.likelihood->with(q.theta) : nullptr;
  const Likelihood& likelihood = own ? *own : *model.likelihood;
  double out = 0;
  for (Index n = 0; n < model.n(); ++n) {
    if (std::isnan(model.y[n])) continue;
    const PredictorMoments f = link_of(model, q, n);
    RowTerms terms;
    terms.resize(1);
    likelihood.terms(use, Arr::Constant(1, model.y[n]), f.mean, f.variance, terms);
    out += (model.weight.size() > 0 ? model.weight[n] : 1) * terms.value[0];
  }
  return out;
}

inline double bound_of(const FactorModel& model, const FactorQ& q, Use use) {
  const Index p = model.p(), k = model.factors;
  double out = rows_of(model, q, use);
  for (Index i = 0; i < p; ++i) {
    const double a = q.shape[q.noise(i)], b = q.rate[q.noise(i)];
    const Mat& c = q.c[static_cast<size_t>(i)];
    for (Index n = 0; n < model.n(); ++n) {
      if (std::isnan(model.x(n, i))) continue;
      const Vec w = q.design(n), own = q.b.col(i);
      double square = model.x(n, i) * (model.x(n, i) - 2 * own.dot(w));
      for (Index j = 0; j <= k; ++j)
        for (Index l = 0; l <= k; ++l) {
          const double v = j > 0 && l > 0 ? q.v[static_cast<size_t>(n)](j - 1, l - 1) : 0;
          square += (w[j] * w[l] + v) * (own[j] * own[l] + c(j, l));
        }
      out += 0.5 * (digamma(a) - std::log(b) - kLog2Pi) - 0.5 * a / b * square;
    }
    out -= 0.5 * (kLog2Pi + std::log(model.mean_variance) +
                  (q.b(0, i) * q.b(0, i) + c(0, 0)) / model.mean_variance);
    out += 0.5 * (log_determinant(c) + static_cast<double>(1 + k) * (1 + kLog2Pi));
  }
  for (Index i = 0; i < q.shape.size(); ++i)
    out += gamma_share_of(model.noise.shape, model.noise.rate, q.shape[i], q.rate[i]);
  const LoadingsPart& loadings = model.loadings;
  const double shape = loadings.shape + static_cast<double>(p * k), r = q.local_rate;
  const bool infers = loadings.local && !(loadings.rate > 0);
  if (infers)
    out += gamma_share_of(loadings.shape, loadings.rate_of_rate, shape, shape / r);
  const double log_r = infers ? digamma(shape) - std::log(shape / r) : std::log(r);
  for (Index j = 1; j <= k; ++j) {
    double sum = 0;
    for (Index i = 0; i < p; ++i) {
      const double s = q.b(j, i) * q.b(j, i) + q.c[static_cast<size_t>(i)](j, j);
      sum += s;
      if (loadings.local) out += local_share(s, r, log_r);
    }
    if (!loadings.local)
      out += loadings.priors[static_cast<size_t>(j - 1)]->value(
          moments_of(Vec::Constant(1, sum), static_cast<double>(p)),
          q.loadings_hyper[static_cast<size_t>(j - 1)]);
  }
  for (Index n = 0; n < model.n() && k > 0; ++n) {
    const Mat& v = q.v[static_cast<size_t>(n)];
    out += 0.5 * (log_determinant(v) + static_cast<double>(k) - v.trace() -
                  q.w.row(n).squaredNorm());
  }
  if (q.coefficients.size() > 0)
    out += 0.5 * (log_determinant(q.covariance) +
                  static_cast<double>(q.coefficients.size()) * (1 + kLog2Pi));
  for (size_t j = 0; j < model.parts.size(); ++j) {
    const std::vector<Index>& places = model.parts[j].places;
    if (places.empty()) continue;
    Vec squares(static_cast<Index>(places.size()));
    for (size_t a = 0; a < places.size(); ++a)
      squares[static_cast<Index>(a)] =
          std::pow(q.coefficients[places[a]], 2) + q.covariance(places[a], places[a]);
    out += model.parts[j].prior->value(moments_of(squares, static_cast<double>(places.size())),
                                       q.hyper[j]);
  }
  for (Index j = 0; j < q.theta.size(); ++j) {
    Vec gradient(1);
    out += model.parameters[static_cast<size_t>(j)]->log_joint(Moments(), q.theta.segment(j, 1),
                                                               gradient);
  }
  return out;
}

// All numbers of q, in the order that they stand in, with the entry across of a symmetric matrix.
struct FactorNumber {
  const char* of;
  double* at;
  double* across = nullptr;
};
inline std::vector<FactorNumber> numbers_of(FactorQ& q, const FactorModel& model) {
  std::vector<FactorNumber> out;
  const auto all = [&](const char* of, auto& a) {
    for (Index j = 0; j < a.size(); ++j) out.push_back({of, a.data() + j});
  };
  const auto symmetric = [&](const char* of, Mat& a) {
    for (Index j = 0; j < a.cols(); ++j)
      for (Index i = j; i < a.rows(); ++i)
        out.push_back({of, &a(i, j), i == j ? nullptr : &a(j, i)});
  };
  all("scores", q.w);
  for (Mat& v : q.v) symmetric("covariance of scores", v);
  all("loadings", q.b);
  for (Mat& c : q.c) symmetric("covariance of loadings", c);
  all("shape of noise", q.shape);
  all("rate of noise", q.rate);
  for (Vec& own : q.loadings_hyper) all("variances of loadings", own);
  if (model.loadings.local && !(model.loadings.rate > 0)) out.push_back({"rate", &q.local_rate});
  all("coefficients", q.coefficients);
  symmetric("covariance of coefficients", q.covariance);
  for (Vec& own : q.hyper) all("hyper-parameters", own);
  all("theta", q.theta);
  return out;
}

}  // namespace bsvm_test
