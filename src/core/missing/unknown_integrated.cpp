#include "unknown_rows.hpp"

#include <algorithm>
#include <cmath>

namespace bsvm {

namespace {

// For averages over N(0, 1): the rule of Gauss and Hermite with three nodes; zero has the rest.
constexpr double kNode = 1.7320508075688772, kShare = 1.0 / 6;
constexpr double kStep = 1e-6;   // of t, where it hardly changes with b

// Averages over nodes of log E p, of its derivatives in m and t, and of these times z and z'.
struct RowAverage {
  double value = 0, slope = 0, slope_z = 0, curvature = 0, spread = 0, spread_z = 0,
         spread_other = 0;

  // by_mean, by_change: derivatives of the node's t in its mean and in z.
  void add(const Tilted& at, double z, double other, double share, double by_mean,
           double by_change) {
    const double by_t = 0.5 * (at.slope * at.slope - at.curvature);
    value += share * at.value;
    slope += share * at.slope;
    slope_z += share * at.slope * z;
    curvature += share * at.curvature;
    spread += share * by_mean * by_t;
    spread_z += share * by_change * by_t * z;
    spread_other += share * by_change * by_t * other;
  }
};

}  // namespace

// The terms of the rows whose x_M is not integrated out, at their places.
void UnknownRows::find_known(const BlockRange& range, const Likelihood& likelihood,
                             const RowBlock& block, RowTerms& terms, UnknownBlock& out) const {
  std::vector<Index> at;
  at.reserve(range.rows);
  for (Index i = 0, a = 0; i < range.rows; ++i) {
    const bool own = a < out.count && rows_[out.first + a].at == range.first_row + i;
    if (!own || !integrated(rows_[out.first + a])) at.push_back(i);
    a += own;
  }
  const Index r = static_cast<Index>(at.size());
  for (Arr* one : {&out.y, &out.m, &out.v}) one->resize(r);
  out.known.resize(r);
  for (Index k = 0; k < r; ++k) {
    out.y[k] = block.y[at[k]];
    out.m[k] = block.m[at[k]];
    out.v[k] = block.v[at[k]];
  }
  likelihood.terms(use_, out.y, out.m, out.v, out.known);
  for (Index k = 0; k < r; ++k) {
    const double weight = block.weight[at[k]];
    terms.value[at[k]] = weight * out.known.value[k];
    terms.slope[at[k]] = weight * out.known.slope[k];
    terms.weight[at[k]] = weight * out.known.weight[k];
    terms.curvature[at[k]] = weight * out.known.curvature[k];
  }
}

// Over b, f's mean m and variance t are about normal: m is linear, and t = s'C s changes with
// 2 (C E s)'(s - E s). With m = E m + a z, t = E t + b z + c z' the average of log E p is one
// over z, with z' = 0, and the same the other way round; derivatives in the covariances follow the
// nodes. Beside groups t stays at its mean.
//   alone        sd of m, a above;  crossed: (k) C Cov(s, m)
//   with, apart  b and c: Cov(m, t) / alone, and the rest of t's standard deviation
//   look(z, z')  adds log E p at a node and its derivatives (RowAverage)
//   by_both, by_square   derivatives of the average in Cov(m, t) and in Var t
//   moving       (k) what these add to the gradient in s
// The row's weight is -2 times the average's derivative in Var m; out.spread that in E t.
bool UnknownRows::integrate(const BlockRange& range, const State& state,
                            const Likelihood& likelihood, const RowBlock& block, RowTerms& terms,
                            LatentBlock& scratch) const {
  UnknownBlock& out = own(scratch);
  find_known(range, likelihood, block, terms, out);
  out.moving.resize(unknowns_.d, out.count);
  const bool grouped = problem_.groups > 0;
  for (Index a = 0; a < out.count; ++a) {
    const Row& row = rows_[out.first + a];
    const MissingPattern& pattern = patterns_[row.pattern];
    const Index i = row.at - range.first_row;
    out.spread[a] = terms.weight[i];
    out.both[a] = out.square[a] = 0;
    if (!integrated(row)) continue;
    const ConditionalLaw& of = law(row.pattern, out);
    const double y = block.y[i], t = of.spread;
    const double alone = std::sqrt(std::max(block.v[i], 1e-24));
    const double* design = block.c + i * block.p;
    const Vec crossed = of.covariance * coupling(
        pattern, grouped ? block.centred.data() + i * block.p : design, design, state);
    double with = 0, apart = 0;
    if (!grouped) {
      with = 2 * of.slope.dot(crossed) / alone;
      apart = std::sqrt(std::max(of.sway - with * with, kStep * kStep * t * t));
    }
    RowAverage mean;
    const auto look = [&](double z, double other, double share) {
      // 1 + x, bent where it would come near zero.
      const double x = (with * z + apart * other) / t, bent = x < -0.5 ? 0.25 / (x * x) : 1,
                   at = x < -0.5 ? -0.25 / x : 1 + x;
      const Tilted here =
          likelihood.averaged(y, block.m[i] + alone * z, t * at, shared(row));
      mean.add(here, z, other, share, at - x * bent, bent);
    };
    look(0, 0, 1 - (apart > 0 ? 4 : 2) * kShare);
    for (const double side : {1.0, -1.0}) {
      look(side * kNode, 0, kShare);
      if (apart > 0) look(0, side * kNode, kShare);
    }
    const double by_square = apart > 0 ? mean.spread_other / (2 * apart) : 0;
    const double by_both = apart > 0 ? (mean.spread_z - 2 * by_square * with) / alone : 0;
    terms.value[i] = mean.value;
    terms.slope[i] = mean.slope;
    // Where m is known almost exactly, the limit.
    terms.weight[i] = alone < 1e-6 ? mean.curvature
                                   : -mean.slope_z / alone + with * by_both / alone;
    terms.curvature[i] = terms.weight[i];
    out.spread[a] = -2 * mean.spread;
    out.both[a] = by_both;
    out.square[a] = by_square;
    // What the row itself says of x_M: derivatives of its value in the mean and the covariance C of
    // its law are C^{-1} E(x - mean) and C^{-1} (E (x - mean)(x - mean)' - C) C^{-1} / 2.
    const Vec moving = 2 * by_both * crossed + 8 * by_square * of.moved;
    const Vec away = mean.slope * of.pulled - terms.weight[i] * crossed + 2 * by_both * of.moved;
    const Vec share = mean.spread * of.pulled + moving;
    out.covariance[a] = of.covariance + 2 * mean.spread * of.turned;
    out.covariance[a].noalias() += share * of.pulled.transpose() + of.pulled * share.transpose() -
                                   away * away.transpose();
    for (Index b = 0; b < away.size(); ++b) {
      out.moving(pattern.missing[b], a) = moving[b];
      out.x(pattern.missing[b], a) += away[b];
    }
  }
  return true;
}

// Derivatives in the variance of t (`square`) and in its covariance with m (`both`), as of b: with
// g = 2 C E s on the coefficients of x_M and c the row of the design these are g'S g and c'S g.
void UnknownRows::add_moving(const Row& row, Index number, const double* design,
                             const UnknownBlock& block, const ConditionalLaw& of,
                             RowSums& out) const {
  const double both = block.both[number], square = block.square[number];
  if (both == 0 && square == 0) return;
  const MissingPattern& pattern = patterns_[row.pattern];
  auto weight = out.weight();
  for (const Index b : pattern.dense) {
    const Index j = pattern.missing[b], column = unknowns_.column[j];
    const double own = 2 * factor_[j] * of.pulled[b];
    out.linear()[column] += factor_[j] * block.moving(j, number);
    for (Index l = 0; l < out.p; ++l)
      weight(std::max(l, column), std::min(l, column)) -=
          both * design[l] * own * (l == column ? 2 : 1);
    for (const Index c : pattern.dense) {
      const Index k = pattern.missing[c], other = unknowns_.column[k];
      if (other >= column) weight(other, column) -= 4 * square * own * factor_[k] * of.pulled[c];
    }
  }
}

}  // namespace bsvm
