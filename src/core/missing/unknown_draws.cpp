#include "unknown_rows.hpp"

#include <cmath>

#include "factor.hpp"
#include "linalg/dense.hpp"
#include "random/draws.hpp"

namespace bsvm {

void UnknownRows::fill(const BlockRange& range, RowBlock& block) const {
  UnknownBlock found;
  find(range, found);
  for (Index a = found.first; a < found.first + found.count; ++a) {
    const Row& row = rows_[a];
    const MissingPattern& pattern = patterns_[row.pattern];
    double* design = block.c + (row.at - range.first_row) * block.p;
    for (const Index b : pattern.dense) {
      const Index j = pattern.missing[b];
      design[unknowns_.column[j]] = shift_[j] + factor_[j] * drawn_[row.entry + b];
    }
  }
}

// The entries of each row given all else: with x_M as they are, the row's log density has slope
// `slope` and precision `weight` in f, and the imputation model, of precision P, the slope
// -(P (x - B'z))_M. One Newton step from where the entries are is their conditional mean.
//   sigma      (k)     s, what they are multiplied by in f
//   residual   (d)     x - B'z;  product = P residual
//   precision  (k, k)  P_MM + weight s s', and the mechanism's share
//   step       (k)     slope s - product_M, with the mechanism's; then precision^{-1} times that
//                      and L^{-T} e, L L' the precision
//   change             s'step, by which f moves
void UnknownRows::draw(const BlockRange& range, const State& state, RowBlock& block,
                       RowTerms& terms, LatentBlock& scratch) {
  UnknownBlock& out = own(scratch);
  find(range, out);
  const Index d = unknowns_.d, n = problem_.n;
  out.x.resize(d, out.count);
  out.residual.resize(d, out.count);
  Vec z(unknowns_.k);
  for (Index a = 0; a < out.count; ++a) {
    const Row& row = rows_[out.first + a];
    for (Index j = 0; j < z.size(); ++j) z[j] = unknowns_.given[row.row + j * n];
    variables(row, block.c + (row.at - range.first_row) * block.p, out.x.col(a));
    const std::vector<Index>& missing = patterns_[row.pattern].missing;
    for (size_t b = 0; b < missing.size(); ++b)
      out.x(missing[b], a) = drawn_[row.entry + static_cast<Index>(b)];
    out.residual.col(a) = out.x.col(a);
    out.residual.col(a).noalias() -= mean_.transpose() * z;
  }
  out.product.noalias() = precision_ * out.residual;
  if (mechanism_.any()) draw_indicators(range, state, block, out);
  for (Index a = 0; a < out.count; ++a) {
    const Row& row = rows_[out.first + a];
    const MissingPattern& pattern = patterns_[row.pattern];
    const Index i = row.at - range.first_row, k = static_cast<Index>(pattern.missing.size());
    if (k == 1 && !mechanism_.any()) {
      draw_one(row, i, a, state, block, terms, out);
      continue;
    }
    const Vec sigma = slopes(pattern, state.mean());
    Mat precision(k, k);
    Vec step(k);
    for (Index b = 0; b < k; ++b) {
      step[b] = terms.slope[i] * sigma[b] - out.product(pattern.missing[b], a);
      for (Index c = 0; c < k; ++c)
        precision(c, b) = precision_(pattern.missing[c], pattern.missing[b]) +
                          terms.weight[i] * sigma[b] * sigma[c];
    }
    if (mechanism_.any()) {
      const Vec t = mechanism_.regressors(unknowns_.given + row.row, n, out.x.col(a));
      step += mechanism_.slope(pattern.missing, t, out.latent.col(i));
      precision += mechanism_.precision(pattern.missing);
    }
    const Factor factor = factor_of(precision);
    solve_lower(factor.lower(), step);
    Draws random(state.key(), Purpose::unknown, key_of(row.at) + 1);
    for (Index b = 0; b < k; ++b) step[b] += random.normal();
    solve_transposed(factor.lower(), step);
    const double change = sigma.dot(step);
    block.m[i] += change;
    terms.slope[i] -= terms.weight[i] * change;
    for (Index b = 0; b < k; ++b) {
      drawn_[row.entry + b] += step[b];
      out.x(pattern.missing[b], a) = drawn_[row.entry + b];
    }
    put(row, pattern, out, a, range, block);
  }
}

void UnknownRows::find_spreads(ConstVecRef mean) {
  spreads_.resize(static_cast<Index>(patterns_.size()));
  for (size_t k = 0; k < patterns_.size(); ++k) {
    const Vec sigma = slopes(patterns_[k], mean);
    spreads_[static_cast<Index>(k)] = sigma.dot(laws_[patterns_[k].law].covariance * sigma);
  }
}

// A draw whatever f is, moved to where f is as given.
void UnknownRows::draw_given(Index number, const State& state, double away, Draws& random,
                             LatentBlock& scratch) {
  UnknownBlock& block = own(scratch);
  const Row& row = rows_[number];
  const MissingPattern& pattern = patterns_[row.pattern];
  const ConditionalLaw& of = laws_[pattern.law];
  Vec x(static_cast<Index>(pattern.missing.size()));
  for (Index b = 0; b < x.size(); ++b) x[b] = random.normal();
  solve_transposed(of.factor, x);
  const Vec sigma = slopes(pattern, state.mean()), pulled = of.covariance * sigma;
  const double v = sigma.dot(pulled);
  if (v > 0) x += pulled * ((away - sigma.dot(x)) / v);
  for (Index b = 0; b < x.size(); ++b) {
    const Index j = pattern.missing[b];
    drawn_[row.entry + b] = block.x(j, number - block.first) += x[b];
  }
}

// The same for a row with one missing entry, without matrices.
void UnknownRows::draw_one(const Row& row, Index at, Index number, const State& state,
                           RowBlock& block, RowTerms& terms, UnknownBlock& out) {
  const Index j = patterns_[row.pattern].missing[0], column = unknowns_.column[j];
  const double sigma = column < 0 ? 0 : factor_[j] * state.mean()[column];
  const double precision = precision_(j, j) + terms.weight[at] * sigma * sigma;
  Draws random(state.key(), Purpose::unknown, key_of(row.at) + 1);
  const double step = (terms.slope[at] * sigma - out.product(j, number)) / precision +
                      random.normal() / std::sqrt(precision);
  block.m[at] += sigma * step;
  terms.slope[at] -= terms.weight[at] * sigma * step;
  out.x(j, number) = drawn_[row.entry] += step;
  if (column >= 0) block.c[at * block.p + column] = shift_[j] + factor_[j] * drawn_[row.entry];
}

// Of all rows of the block, given their entries.
void UnknownRows::draw_indicators(const BlockRange& range, const State& state, const RowBlock& rows,
                                  UnknownBlock& out) const {
  const std::vector<Index> none;
  out.latent.resize(unknowns_.indicators.size(), range.rows);
  Vec x(unknowns_.d);
  for (Index i = 0, a = 0; i < range.rows; ++i) {
    const Index at = range.first_row + i, row = partition_.order[at];
    const bool own = a < out.count && rows_[out.first + a].at == at;
    if (own) x = out.x.col(a);
    else variables({at, row, 0, 0}, rows.c + i * rows.p, x);
    const auto& missing = own ? patterns_[rows_[out.first + a].pattern].missing : none;
    Draws random(state.key(), Purpose::indicator, key_of(at));
    mechanism_.draw(mechanism_.regressors(unknowns_.given + row, problem_.n, x), missing, random,
                    out.latent.col(i));
    a += own;
  }
}

}  // namespace bsvm
