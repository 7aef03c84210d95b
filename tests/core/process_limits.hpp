#pragma once
#include <doctest/doctest.h>

#include <cmath>

#include "batch_means.hpp"
#include "factor_data.hpp"

// Limits in which a process of scores is known, with inducing points and without.
namespace bsvm_test {

// Moments of log s, E log s and E (log s)^2, given `n` rows of class +1 under the hinge
// pseudo-likelihood, whose f_n ~ N(0, s^2) are independent: s^2 ~ inverse gamma(3, 4).
inline Eigen::Vector2d log_sd_of_independent_rows(Index n) {
  Eigen::Vector2d sum(0, 0);
  double total = 0;
  for (double u = -2; u < 5; u += 0.02) {
    double average = 0;
    for (double z = -8; z <= 8; z += 0.01)
      average += 0.01 * std::exp(-0.5 * z * z - 2 * std::max(0.0, 1 - std::exp(u) * z));
    const double density = std::exp(-6 * u - 4 * std::exp(-2 * u)) *
                           std::pow(average, static_cast<double>(n));
    sum += density * Eigen::Vector2d(u, u * u);
    total += density;
  }
  return sum / total;
}

inline BatchMeans chain_means(const FactorModel& model, Index rows, int draws) {
  const SharedFactors shared(model);
  const auto chain = make_factors_chain(shared, 1, 3, 0);
  BatchMeans out(rows + 2, draws);
  Host host;
  Draw draw;
  for (int k = -200; k < draws; ++k) {
    chain->sweep(host);
    if (k < 0) continue;
    chain->read(draw);
    const Vec numbers = draw.hyper.tail(model.linear() ? 4 : 3);
    Vec seen(rows + 2);
    seen << draw.unknowns, std::log(numbers[1]), numbers[2];
    out.add(seen);
  }
  return out;
}

// With length scales far beyond the scores and as much variance the process `kind` is a line.
inline void check_long_process_is_line(FactorKind kind, Index rows, int draws, double most_error) {
  const double length = 30, slope = 0.5;
  FactorModel process = plain_factors(kind, rows, 11);
  process.process.start[0] = std::log(length);
  process.process.numbers[0].reset();
  process.process.variance = prior_of("normal", {{"variance", slope * length * length}});
  kind.points = 0;
  kind.exact = false;
  FactorModel line = plain_factors(kind, rows, 11);
  line.parts[0].prior = prior_of("normal", {{"variance", 1 + slope * length * length}});
  line.parts[1].prior = prior_of("normal", {{"variance", slope}});
  const BatchMeans expected = chain_means(line, rows, draws);
  const BatchMeans seen = chain_means(process, rows, draws);
  const Arr error = (expected.error().square() + seen.error().square()).sqrt();
  CHECK(((expected.mean() - seen.mean()).array() / error).abs().maxCoeff() < 4.5);
  CHECK(seen.error().maxCoeff() < most_error);
}

}  // namespace bsvm_test
