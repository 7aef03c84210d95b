#include <doctest/doctest.h>

#include "laws.hpp"
#include "oracle.hpp"
#include "random/wishart.hpp"

using namespace bsvm_test;

namespace {

// A positive definite matrix with unlike variances.
Mat some_scale(Index q) {
  Noise noise(40 + static_cast<std::uint64_t>(q));
  Mat root = Mat::Identity(q, q);
  for (Index j = 0; j < q; ++j) root.col(j) += 0.4 * noise.normals(q);
  const Vec size = Vec::LinSpaced(q, 0.3, 5);
  return size.asDiagonal() * root * root.transpose() * size.asDiagonal();
}

std::vector<Mat> factors(double df, const Mat& scale, int n) {
  const Mat l = lower_factor(scale.cast<Real>()).cast<double>();
  const Index q = scale.rows();
  std::vector<Mat> out(n, Mat(q, q));
  Draws random({8, 0, 0}, Purpose::hyper, static_cast<std::uint64_t>(q));
  for (Mat& one : out) inverse_wishart(df, l.data(), q, random, one.data());
  return out;
}

template <class Number>
std::vector<double> each(const std::vector<Mat>& from, Number number) {
  std::vector<double> out;
  for (const Mat& one : from) out.push_back(number(one));
  return out;
}

const int kDraws = 50000;

}  // namespace

TEST_CASE("inverse Wishart: a factor is lower triangular with a positive diagonal") {
  for (const Mat& f : factors(7, some_scale(5), 20)) {
    CHECK(f.isLowerTriangular(0.0));
    CHECK(f.diagonal().minCoeff() > 0);
  }
}

TEST_CASE("inverse Wishart: each variance is inverse-gamma") {
  for (Index q : {1, 2, 4, 12}) {
    const double df = static_cast<double>(q) + 1.3;
    const Mat scale = some_scale(q);
    const auto all = factors(df, scale, kDraws);
    for (Index k = 0; k < q; k += 3) {
      const auto cdf = [&](double x) {
        return inverse_gamma_cdf(x, 0.5 * (df - static_cast<double>(q) + 1), 0.5 * scale(k, k));
      };
      const auto variance = [&](const Mat& f) { return f.row(k).squaredNorm(); };
      CHECK(kolmogorov(each(all, variance), cdf, 500) < kKolmogorov);
    }
  }
}

TEST_CASE("inverse Wishart: a'Lambda a / a'Sigma a' and tr(Lambda Sigma^{-1}) are chi-squared") {
  for (Index q : {2, 3}) {
    const double df = 5.5;
    const Mat scale = some_scale(q);
    const Mat l = lower_factor(scale.cast<Real>()).cast<double>();
    const auto all = factors(df, scale, kDraws);
    const Vec a = Noise(3).normals(q);
    const auto ratio = [&](const Mat& f) {
      return std::log(0.5 * a.dot(scale * a) / (f.transpose() * a).squaredNorm());
    };
    const auto trace = [&](const Mat& f) {
      return std::log(0.5 * f.triangularView<Eigen::Lower>().solve(l).squaredNorm());
    };
    const double rest = 0.5 * (df - static_cast<double>(q) + 1);
    CHECK(kolmogorov(each(all, ratio), [&](double x) { return log_gamma_cdf(x, rest); }, 500) <
          kKolmogorov);
    const double whole = 0.5 * df * static_cast<double>(q);
    CHECK(kolmogorov(each(all, trace), [&](double x) { return log_gamma_cdf(x, whole); }, 500) <
          kKolmogorov);
  }
}

TEST_CASE("inverse Wishart: with q + 1 degrees of freedom correlations are uniform") {
  const auto all = factors(3, Mat(Vec::LinSpaced(2, 0.1, 70).asDiagonal()), kDraws);
  const auto correlation = [](const Mat& f) { return f(1, 0) / f.row(1).norm(); };
  CHECK(kolmogorov(each(all, correlation), [](double x) { return 0.5 * (x + 1); }) < kKolmogorov);
}

TEST_CASE("inverse Wishart: mean and variances of its entries") {
  const Index q = 3;
  const double df = 16, a = df - q;
  const Mat scale = some_scale(q);
  Mat mean = Mat::Zero(q, q), square = mean;
  for (const Mat& f : factors(df, scale, kDraws)) {
    const Mat sigma = f * f.transpose();
    mean += sigma / kDraws;
    square += sigma.cwiseAbs2() / kDraws;
  }
  const Mat expected = scale / (a - 1);
  for (Index i = 0; i < q; ++i)
    for (Index j = 0; j < q; ++j) {
      const double variance = ((a + 1) * scale(i, j) * scale(i, j) +
                               (a - 1) * scale(i, i) * scale(j, j)) /
                              (a * (a - 1) * (a - 1) * (a - 3));
      CHECK(std::abs(mean(i, j) - expected(i, j)) < 5 * std::sqrt(variance / kDraws));
      CHECK(square(i, j) - mean(i, j) * mean(i, j) == doctest::Approx(variance).epsilon(0.1));
    }
}

TEST_CASE("inverse Wishart: hardly proper, it stays finite and has a factor") {
  for (const Mat& f : factors(2.01, some_scale(3), 2000)) {
    CHECK(f.allFinite());
    CHECK(f.diagonal().minCoeff() > 0);
  }
}
