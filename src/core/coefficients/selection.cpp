// q(v) and q(g) of a Laplace-zero prior, and of any that selects (000, section 3.2, Algorithm 3).
//
// With effective mean m = G mu and covariance G S G + diag(g (1 - g) O), O_j = S_jj + mu_j^2, the
// rows' share (RowModel) is
//
//   t'G mu - mu'G K G mu / 2 - tr(R G S G) / 2 - sum_j a_j g_j (1 - g_j) O_j / 2
//
// a the raw diagonal. So with E = diag(g (1 - g) a) + the prior's precisions of v
//
//   S = (G R G + E)^{-1},  mu = (G K G + E)^{-1} G t,
//
// and in one g_j the objective is
//
//   g_j {t_j mu_j - sum_{l != j} g_l (K_jl mu_j mu_l + R_jl S_jl) - a_j O_j / 2}
//     + g_j^2 {(a_j - K_jj) mu_j^2 + (a_j - R_jj) S_jj} / 2 + prior and entropy.
//
// Without groups and with K = R the square vanishes and this is Algorithm 3. Elsewhere it is
// convex and its tangent is below it: a step to the best for the tangent does not lower the
// objective. In log odds, with u = K G mu, that step is to
//
//   prior + mu_j (t_j - u_j) - sum_l R_jl S_jl g_l + a_j O_j (g_j - 1/2).
#include "selection.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "linalg/dense.hpp"
#include "random/draws.hpp"

namespace bsvm {

namespace {

constexpr double kMostLogOdds = 200;

}  // namespace

double inclusion_at(double log_odds) {
  return 1 / (1 + std::exp(-std::min(std::max(log_odds, -kMostLogOdds), kMostLogOdds)));
}

// Twice the divergence of Bernoulli(from) from Bernoulli(to).
double squared_move(double from, double to) {
  const auto term = [](double x, double y) { return x > 0 ? x * std::log(x / y) : 0; };
  if (from == to) return 0;
  return std::min(2 * (term(to, from) + term(1 - to, 1 - from)), 1e100);
}

Selection::Selection(const Model& problem, const Coefficients& side) : side_(side) {
  if (problem.sparse.columns > 0)
    throw InvalidInput("prior", "A prior that selects needs dense predictors and at most one "
                                "grouping factor.");
  for (const PriorPart& part : side.parts())
    if (part.selects())
      columns_.insert(columns_.end(), part.slot.columns.begin(), part.slot.columns.end());
}

void Selection::set(State& own, ConstVecRef inclusion) const {
  for (const PriorPart& part : side_.parts()) {
    if (!part.selects()) continue;
    auto g = Coefficients::inclusion(own, part);
    for (Index k = 0; k < g.size(); ++k) g[k] = inclusion[part.slot.columns[k]];
  }
}

Vec Selection::log_odds(const State& own) const {
  Vec out = Vec::Zero(own.layout.p);
  for (const PriorPart& part : side_.parts()) {
    if (!part.selects()) continue;
    const double odds = part.slot.prior->log_odds(Coefficients::hyper(own, part));
    for (const Index j : part.slot.columns) out[j] = odds;
  }
  return out;
}

State Selection::effective(const State& own) const {
  State out = own;
  const Vec g = inclusion(own), square = side_.second_moments(own);
  out.scatter() = g.array() * (1 - g.array()) * square.array();
  out.mean() = g.cwiseProduct(own.mean());
  out.inverse_factor() = own.inverse_factor() * g.asDiagonal();
  return out;
}

void Selection::draw(int number, std::uint64_t seed, State& own) const {
  Draws random({seed, static_cast<std::uint32_t>(number), 0}, Purpose::hyper, 0);
  Vec g = inclusion(own);
  for (const Index j : columns_) g[j] = random.uniform() < 0.5 ? 0.5 : 1;
  set(own, g);
}

Inclusion Selection::report(const State& own, ConstVecRef sd) const {
  const Vec g = inclusion(own), unit = side_.units();
  Inclusion out{columns_, Vec(columns_.size()), Vec(columns_.size()), Vec(columns_.size())};
  for (size_t k = 0; k < columns_.size(); ++k) {
    const Index at = static_cast<Index>(k), j = columns_[k];
    out.probability[at] = g[j];
    out.mean[at] = own.mean()[j] * unit[j];
    out.sd[at] = sd[j] * unit[j];
  }
  return out;
}

Vec followed(const Coefficients& side, ConstVecRef variance, const State& own) {
  const Arr square = variance + own.mean().cwiseAbs2();
  return (side.precision(own).array() * variance.array().square() / square).min(1.0);
}

RowModel row_model(RowSums& sums, ConstVecRef mean) {
  RowModel out;
  out.weight = symmetric(sums.weight());
  out.curvature = symmetric(sums.curvature());
  out.raw = sums.raw_diagonal();
  out.linear = sums.linear() + out.curvature * mean;
  return out;
}

namespace {

// G A G + diag(d), factored.
Mat factor_of(const Mat& a, const Vec& g, const Vec& d, Host& host) {
  Mat out = g.asDiagonal() * a * g.asDiagonal();
  out.diagonal() += d;
  if (!cholesky(out, host)) refuse_precision();
  return out;
}

}  // namespace

double improve_gaussian(const Coefficients& side, const Selection& selection,
                        const RowModel& rows, State& own, Host& host) {
  const Vec g = selection.inclusion(own);
  const Vec diagonal =
      side.precision(own) + (g.array() * (1 - g.array()) * rows.raw.array()).matrix();
  const Mat factor = factor_of(rows.weight, g, diagonal, host);
  double square = own.begun() ? divergence(own.inverse_factor(), factor, host) : 0;
  own.inverse_factor() = inverse_lower(factor, host);
  const Mat root = factor_of(rows.curvature, g, diagonal, host);
  Vec mean = g.cwiseProduct(rows.linear);
  solve_lower(root, mean);
  square += (mean - transposed_product(root, own.mean())).squaredNorm();
  solve_transposed(root, mean);
  own.mean() = mean;
  return square;
}

double improve_inclusion(const Selection& selection, const RowModel& rows, State& own,
                         Host& host) {
  const Mat covariance = squared_transposed(own.inverse_factor(), host);
  const Vec prior = selection.log_odds(own), mean = own.mean();
  Vec g = selection.inclusion(own), u = rows.curvature * g.cwiseProduct(mean);
  double square = 0;
  for (const Index j : selection.columns()) {
    const double before = g[j], moment = covariance(j, j) + mean[j] * mean[j];
    const double shared = rows.weight.col(j).cwiseProduct(covariance.col(j)).dot(g);
    g[j] = inclusion_at(prior[j] + mean[j] * (rows.linear[j] - u[j]) - shared +
                        rows.raw[j] * moment * (before - 0.5));
    u += (g[j] - before) * mean[j] * rows.curvature.col(j);
    square += squared_move(before, g[j]);
  }
  selection.set(own, g);
  return square;
}

}  // namespace bsvm
