#include "unknown_rows.hpp"

#include <algorithm>
#include <cmath>

#include "factor.hpp"
#include "model/gather.hpp"
#include "special/functions.hpp"

namespace bsvm {

UnknownRows::UnknownRows(const Unknowns& unknowns, const Problem& problem,
                         const Partition& partition)
    : problem_(problem), unknowns_(unknowns), partition_(partition), slots_(unknowns),
      mechanism_(unknowns), weight_(problem.weight), shift_(unknowns_.d), factor_(unknowns_.d),
      auxiliary_(unknowns_.d, -1) {
  Vec unit(problem.columns());
  Index first = 0;
  for (const auto& part : problem.blocks) {
    unit.segment(first, part->columns()) = part->unit();
    first += part->columns();
  }
  Index auxiliary = 0;
  for (Index j = 0; j < unknowns_.d; ++j) {
    const Index column = unknowns_.column[j];
    if (column < 0) auxiliary_[j] = auxiliary++;
    shift_[j] = column < 0 ? 0 : unknowns_.center[j] * unit[column];
    factor_[j] = column < 0 ? 1 : unknowns_.factor[j] * unit[column];
  }
  find_rows();
}

// Of levels whose rows are elsewhere nothing is known.
void UnknownRows::find_rows() {
  start_ = {0};
  if (!problem_.here()) return;
  const Index d = unknowns_.d, k = unknowns_.k;
  Mat design(problem_.columns(), partition_.largest_block);
  PatternNumbers numbers([this](Index a, Index b) {
    return patterns_[a].missing < patterns_[b].missing;
  });
  WeightedGram squares;
  for (const Lane& lane : partition_.lanes) {
    complete_.push_back({Mat::Zero(d, d), Mat::Zero(k, d), Mat::Zero(k, k)});
    for (Index b = lane.first; b < lane.last; ++b)
      find_rows(partition_.blocks[b], design, numbers, squares, complete_.back());
    complete_.back().square = complete_.back().square.selfadjointView<Eigen::Lower>();
  }
  // Entries stand by row of the problem.
  std::vector<Index> by_row(rows_.size());
  for (size_t k = 0; k < by_row.size(); ++k) by_row[k] = static_cast<Index>(k);
  std::sort(by_row.begin(), by_row.end(),
            [&](Index a, Index b) { return rows_[a].row < rows_[b].row; });
  for (const Index k : by_row) {
    rows_[k].entry = start_.back();
    start_.push_back(start_.back() +
                     static_cast<Index>(patterns_[rows_[k].pattern].missing.size()));
  }
  drawn_ = Vec::Zero(entries());
}

// Rows with missing entries by themselves, the others together.
void UnknownRows::find_rows(const BlockRange& range, Mat& design, PatternNumbers& numbers,
                            WeightedGram& squares, CompleteSums& out) {
  const Index n = problem_.n;
  gather_design(problem_, partition_.order.data() + range.first_row, range.rows, design);
  Mat x(unknowns_.d, range.rows), z(unknowns_.k, range.rows);
  Index complete = 0;
  for (Index i = 0; i < range.rows; ++i) {
    const Index at = range.first_row + i, row = partition_.order[at];
    variables({at, row, 0, 0}, design.col(i).data(), x.col(complete));
    if (x.col(complete).array().isNaN().any()) {
      add_row(at, x.col(complete), numbers);
      continue;
    }
    for (Index a = 0; a < z.rows(); ++a) z(a, complete) = unknowns_.given[row + a * n];
    ++complete;
  }
  if (complete > 0) sum_complete(x.leftCols(complete), z.leftCols(complete), squares, out);
}

void UnknownRows::sum_complete(const Mat& x, const Mat& z, WeightedGram& squares,
                               CompleteSums& out) const {
  const Arr ones = Arr::Ones(x.cols());
  squares.add(x.data(), x.rows(), x.cols(), ones.data(), out.square.data(), x.rows());
  out.cross.noalias() += z * x.transpose();
  out.gram.noalias() += z * z.transpose();
}

// Patterns are numbered as they come.
void UnknownRows::add_row(Index at, ConstVecRef x, PatternNumbers& numbers) {
  std::vector<Index> missing;
  for (Index j = 0; j < unknowns_.d; ++j)
    if (std::isnan(x[j])) missing.push_back(j);
  patterns_.emplace_back();
  MissingPattern& pattern = patterns_.back();
  pattern.missing = std::vector<Index>(missing);  // of its own length
  const auto [number, is_new] = numbers.insert(static_cast<Index>(patterns_.size()) - 1);
  if (is_new) {
    for (size_t a = 0; a < missing.size(); ++a) {
      if (unknowns_.column[missing[a]] >= 0) pattern.dense.push_back(static_cast<Index>(a));
    }
  } else {
    patterns_.pop_back();
  }
  ++patterns_[*number].rows;
  rows_.push_back({at, partition_.order[at], *number, 0});
}

void UnknownRows::variables(const Row& row, const double* design, VecRef out) const {
  for (Index j = 0; j < unknowns_.d; ++j)
    out[j] = auxiliary_[j] >= 0 ? unknowns_.auxiliary[row.row + auxiliary_[j] * problem_.n]
                                : (design[unknowns_.column[j]] - shift_[j]) / factor_[j];
}

void UnknownRows::find(const BlockRange& range, UnknownBlock& out) const {
  const auto before = [](const Row& row, Index at) { return row.at < at; };
  const auto first = std::lower_bound(rows_.begin(), rows_.end(), range.first_row, before),
             last = std::lower_bound(first, rows_.end(), range.first_row + range.rows, before);
  out.first = first - rows_.begin();
  out.count = last - first;
}

// ---- the imputation model

void UnknownRows::make_law(Index pattern, ConditionalLaw& out) const {
  const std::vector<Index>& missing = patterns_[pattern].missing;
  const Index k = static_cast<Index>(missing.size());
  out.pattern = pattern;
  out.precision.resize(k, k);
  for (Index a = 0; a < k; ++a)
    for (Index b = 0; b < k; ++b) out.precision(b, a) = precision_(missing[b], missing[a]);
  const Factor factor = factor_of(out.precision);
  out.factor = factor.lower();
  out.logdet = factor.logdet();
  out.covariance = factor.inverse();
  if (!draws()) add_slopes(patterns_[pattern], out);
}

// By what f changes with each of the missing variables.
void UnknownRows::add_slopes(const MissingPattern& pattern, ConditionalLaw& out) const {
  const Index k = static_cast<Index>(pattern.missing.size());
  out.slope = slopes(pattern, coefficients_);
  Mat spread = Mat::Zero(k, k);
  if (begun_)
    for (const Index a : pattern.dense)
      for (const Index b : pattern.dense) {
        const Index i = pattern.missing[a], j = pattern.missing[b];
        spread(a, b) =
            factor_[i] * factor_[j] * covariance_(unknowns_.column[i], unknowns_.column[j]);
      }
  if (use_ == Use::augmented) {
    out.slope_spread = spread;
    return;
  }
  const Mat once = out.covariance * spread;
  out.pulled = out.covariance * out.slope;
  out.moved = once * out.pulled;
  out.turned = once * out.covariance;
  out.spread = out.slope.dot(out.pulled) + once.trace();
  out.sway = 4 * out.slope.dot(out.moved);
}

const ConditionalLaw& UnknownRows::law(Index pattern, UnknownBlock& scratch) const {
  if (patterns_[pattern].law >= 0) return laws_[patterns_[pattern].law];
  if (scratch.own.pattern != pattern) make_law(pattern, scratch.own);
  return scratch.own;
}

void UnknownRows::keep_laws() {
  int kept = static_cast<int>(laws_.size());
  for (MissingPattern& pattern : patterns_)
    if (pattern.law < 0 && (pattern.rows > 1 || use_ == Use::marginal)) pattern.law = kept++;
  laws_.resize(kept);
}

void UnknownRows::prepare(const State& state, Use use) {
  use_ = use;
  precision_ = slots_.precision(state);
  mean_ = slots_.mean(state);
  if (mechanism_.any()) mechanism_.prepare(state);
  begun_ = state.begun();
  coefficients_ = state.mean();
  if (!draws() && begun_) {
    const auto root = state.inverse_factor().triangularView<Eigen::Lower>();
    covariance_ = root.transpose() * Mat(root);
    if (state.layout.scatter > 0) covariance_.diagonal() += state.scatter();
  }
  if (use == Use::drawn) return;
  keep_laws();
  for (size_t k = 0; k < patterns_.size(); ++k)
    if (patterns_[k].law >= 0) make_law(static_cast<Index>(k), laws_[patterns_[k].law]);
}

// What the entries of each row are given the observed ones alone, law N(mean, C) of its pattern:
//   x, residual  (d, count)  variables and x - B'z, x_M at first at their mean, with residual zero
//   product      (d, count)  P residual
//   pull         (k)         (P residual)_M, so that x_M moves by away = -C pull
//   square                   residual'P residual where it has moved to
//   value                    log of exp(-residual'P residual / 2) integrated over x_M
void UnknownRows::expect(const BlockRange& range, RowBlock& block,
                         LatentBlock& scratch) const {
  UnknownBlock& out = own(scratch);
  find(range, out);
  out.own.pattern = -1;
  const Index d = unknowns_.d, n = problem_.n;
  out.x.resize(d, out.count);
  out.residual.resize(d, out.count);
  out.value.resize(out.count);
  for (Arr* a : {&out.spread, &out.both, &out.square}) a->resize(out.count);
  if (static_cast<Index>(out.covariance.size()) < out.count) out.covariance.resize(out.count);
  Vec z(unknowns_.k);
  for (Index a = 0; a < out.count; ++a) {
    const Row& row = rows_[out.first + a];
    for (Index j = 0; j < z.size(); ++j) z[j] = unknowns_.given[row.row + j * n];
    variables(row, block.c + (row.at - range.first_row) * block.p, out.x.col(a));
    const Vec mean = mean_.transpose() * z;
    out.residual.col(a) = out.x.col(a) - mean;
    for (const Index j : patterns_[row.pattern].missing) {
      out.residual(j, a) = 0;
      out.x(j, a) = mean[j];
    }
  }
  out.product.noalias() = precision_ * out.residual;
  for (Index a = 0; a < out.count; ++a) {
    const Row& row = rows_[out.first + a];
    const MissingPattern& pattern = patterns_[row.pattern];
    const ConditionalLaw& of = law(row.pattern, out);
    const Index k = static_cast<Index>(pattern.missing.size());
    Vec pull(k);
    for (Index b = 0; b < k; ++b) pull[b] = out.product(pattern.missing[b], a);
    const Vec away = -of.covariance * pull;
    double square = out.residual.col(a).dot(out.product.col(a)) + pull.dot(away);
    for (Index b = 0; b < k; ++b) out.x(pattern.missing[b], a) += away[b];
    out.value[a] = 0.5 * (static_cast<double>(k) * kLog2Pi - square - of.logdet);
    out.covariance[a] = of.covariance;
    put(row, pattern, out, a, range, block);
  }
}

// The variables' means into the design.
void UnknownRows::put(const Row& row, const MissingPattern& pattern, const UnknownBlock& from,
                      Index at, const BlockRange& range, RowBlock& block) const {
  double* design = block.c + (row.at - range.first_row) * block.p;
  for (const Index b : pattern.dense) {
    const Index j = pattern.missing[b];
    design[unknowns_.column[j]] = shift_[j] + factor_[j] * from.x(j, at);
  }
}

// ---- given the coefficients

Vec UnknownRows::slopes(const MissingPattern& pattern, ConstVecRef mean) const {
  Vec out = Vec::Zero(static_cast<Index>(pattern.missing.size()));
  for (const Index b : pattern.dense) {
    const Index j = pattern.missing[b];
    out[b] = factor_[j] * mean[unknowns_.column[j]];
  }
  return out;
}

// Their covariance with f at the means that are in the design.
Vec UnknownRows::coupling(const MissingPattern& pattern, const double* centred,
                          const double* design, const State& state) const {
  const Index p = covariance_.rows();
  const Eigen::Map<const Vec> c(centred, p);
  Vec out = Vec::Zero(static_cast<Index>(pattern.missing.size()));
  for (const Index b : pattern.dense) {
    const Index j = pattern.missing[b], column = unknowns_.column[j];
    double sum = covariance_.col(column).dot(c);
    // What scatters is independent of groups, and not centred.
    if (state.layout.scatter > 0)
      sum += state.scatter()[column] * (design[column] - centred[column]);
    out[b] = factor_[j] * sum;
  }
  return out;
}

// ---- sums

// Row by row: sums for the imputation model, x = B'z + a residual of precision P, and what moving
// entries add to the coefficients' gradient.
//   cross    (k, d)  sum of z x'
//   square   (d, d)  sum of E x x': covariances of the entries here, products of means at the end
void UnknownRows::add(const BlockRange& range, const RowBlock& rows, const RowTerms& terms,
                      LatentBlock& scratch, RowSums& out) const {
  UnknownBlock& block = own(scratch);
  const bool averaged = use_ == Use::augmented;
  for (Index a = 0; a < block.count; ++a) {
    const Row& row = rows_[block.first + a];
    const MissingPattern& pattern = patterns_[row.pattern];
    const Index i = row.at - range.first_row, k = static_cast<Index>(pattern.missing.size());
    auto cross = slots_.cross(out);
    for (Index b = 0; b < unknowns_.k; ++b)
      cross.row(b) += unknowns_.given[row.row + b * problem_.n] * block.x.col(a).transpose();
    if (draws()) continue;
    out.value() += block.value[a];
    auto square = slots_.square(out);
    for (Index b = 0; b < k; ++b)
      for (Index c = 0; c < k; ++c)
        if (pattern.missing[c] >= pattern.missing[b])
          square(pattern.missing[c], pattern.missing[b]) += block.covariance[a](c, b);
    if (pattern.dense.empty()) continue;
    // For the coefficients x_M varies as it does given the other rows alone, or under q.
    if (averaged) {
      add_spread(pattern, block.covariance[a], slopes(pattern, coefficients_), terms.weight[i],
                 out);
      continue;
    }
    const ConditionalLaw& of = law(row.pattern, block);
    add_spread(pattern, of.covariance, of.slope, block.spread[a], out);
    add_moving(row, a, rows.c + i * rows.p, block, of, out);
  }
  if (mechanism_.any()) add_indicators(range, rows, block, out);
  block.ones.setOnes(block.count);
  if (block.count > 0)
    block.squares.add(block.x.data(), unknowns_.d, block.count, block.ones.data(),
                      slots_.square(out).data(), unknowns_.d);
}

// Of a row of this weight, whose entries have this covariance.
void UnknownRows::add_spread(const MissingPattern& pattern, const Mat& covariance,
                             const Vec& slope, double weight, RowSums& out) const {
  const Vec pulled = covariance * slope;
  for (const Index b : pattern.dense) {
    const Index j = pattern.missing[b], column = unknowns_.column[j];
    out.linear()[column] -= weight * factor_[j] * pulled[b];
    for (const Index c : pattern.dense) {
      const Index l = pattern.missing[c], other = unknowns_.column[l];
      if (other < column) continue;
      const double share = weight * factor_[j] * factor_[l] * covariance(c, b);
      out.weight()(other, column) += share;
      if (use_ == Use::augmented) out.curvature()(other, column) += share;
      if (out.raw > 0 && other == column) out.raw_diagonal()[column] += share;
    }
  }
}

// Of all rows of the block, those without missing entries too.
void UnknownRows::add_indicators(const BlockRange& range, const RowBlock& rows, UnknownBlock& block,
                                 RowSums& out) const {
  const std::vector<Index> none;
  Vec x(unknowns_.d);
  for (Index i = 0, a = 0; i < range.rows; ++i) {
    const Index at = range.first_row + i, row = partition_.order[at];
    const bool own = a < block.count && rows_[block.first + a].at == at;
    if (own) x = block.x.col(a);
    else variables({at, row, 0, 0}, rows.c + i * rows.p, x);
    const Vec t = mechanism_.regressors(unknowns_.given + row, problem_.n, x);
    if (!own && !draws()) out.value() += mechanism_.expect(t, none, block.latent.col(i));
    slots_.latent(out).noalias() += t * block.latent.col(i).transpose();
    a += own;
  }
}

void UnknownRows::add_lane(Index lane, const State& state, RowSums& out) const {
  const CompleteSums& complete = complete_[static_cast<size_t>(lane)];
  slots_.square(out) += complete.square;
  slots_.cross(out) += complete.cross;
  if (draws()) return;
  const Mat mean = slots_.mean(state), cross = mean.transpose() * complete.cross;
  const Mat about =
      complete.square - cross - cross.transpose() + mean.transpose() * complete.gram * mean;
  out.value() -= 0.5 * precision_.cwiseProduct(about).sum();
}

// ---- what is known of the entries

Imputations UnknownRows::places() const {
  Imputations out;
  out.row.resize(entries());
  out.variable.resize(entries());
  out.mean = drawn_;
  out.sd = Vec::Zero(entries());
  for (const Row& row : rows_) {
    const std::vector<Index>& missing = patterns_[row.pattern].missing;
    for (size_t b = 0; b < missing.size(); ++b) {
      out.row[row.entry + static_cast<Index>(b)] = row.row;
      out.variable[row.entry + static_cast<Index>(b)] = missing[b];
    }
  }
  return out;
}

void UnknownRows::read(const LatentBlock& scratch, Imputations& out) const {
  const auto& block = static_cast<const UnknownBlock&>(scratch);
  for (Index a = 0; a < block.count; ++a) {
    const Row& row = rows_[block.first + a];
    const std::vector<Index>& missing = patterns_[row.pattern].missing;
    for (size_t b = 0; b < missing.size(); ++b) {
      const Index at = row.entry + static_cast<Index>(b), own = static_cast<Index>(b);
      out.mean[at] = block.x(missing[b], a);
      out.sd[at] = std::sqrt(block.covariance[a](own, own));
    }
  }
}

}  // namespace bsvm
