#include "integrated_rows.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"
#include "integral/one/effect_integral.hpp"
#include "linalg/small.hpp"
#include "model/gather.hpp"

namespace bsvm {

namespace {

constexpr Index kMostKept = Index{1} << 22;  // numbers of the dense design: 32 MB
constexpr Index kLaneRows = 512;             // a row costs a microsecond and more here
constexpr Index kMostLanes = 16;

}  // namespace

IntegratedRows::IntegratedRows(const Problem& problem)
    : problem_(problem), dense_(problem.columns()) {
  if (problem.multipliers) take_multipliers(problem);
  else take_term(problem);
  if (effects() < 1 || effects() > 2)
    throw InvalidInput("integrate", "One effect of a level can be integrated out, or two; found " +
                                        std::to_string(effects()) + ".");
  gather(problem);
  cut_lanes();
}

void IntegratedRows::take_multipliers(const Problem& problem) {
  groups_ = problem.groups;
  unit_ = problem.multipliers->unit();
  z_ = gather_multipliers(problem).transpose();
  partition_ = cut(problem.group, problem.n, groups_, coefficients());
}

// Codes and multipliers of the integrated term. A row without an entry, its multipliers zero,
// may stand in any group.
void IntegratedRows::take_term(const Problem& problem) {
  const SparseColumns& sparse = problem.sparse;
  const Index at = problem.integrated;
  if (at < 0 || at >= static_cast<Index>(sparse.terms.size()))
    throw InvalidInput("integrate", "No grouping factor is there to be integrated out.");
  Index first = 0;
  for (Index t = 0; t < at; ++t) {
    first += sparse.terms[t].levels * sparse.terms[t].effects;
    first_effect_ += sparse.terms[t].effects;
  }
  const SparseTerm& term = sparse.terms[at];
  groups_ = term.levels;
  unit_ = Vec::Ones(term.effects);
  z_ = Mat::Zero(problem.n, term.effects);
  code_.assign(problem.n, 0);
  std::vector<Index> place(sparse.columns, -1);
  for (Index j = 0; j < sparse.columns; ++j) {
    const bool own = j >= first && j < first + term.levels * term.effects;
    if (own) take_column(sparse, j, (j - first) / term.effects, (j - first) % term.effects);
    else place[j] = others_++;
  }
  for (int& code : code_) code = std::max(code, 1);
  partition_ = cut(code_.data(), problem.n, groups_, coefficients());
  take_others(problem, place);
}

void IntegratedRows::take_column(const SparseColumns& sparse, Index column, Index level,
                                 Index effect) {
  for (int k = sparse.start[column]; k < sparse.start[column + 1]; ++k) {
    int& code = code_[sparse.row[k]];
    if (code != 0 && code != level + 1)
      throw InvalidInput("integrate", "A row must belong to one level of the factor whose "
                                      "effects are integrated out.");
    code = static_cast<int>(level) + 1;
    z_(sparse.row[k], effect) = sparse.value[k];
  }
}

// By row in working order; a row's columns increase.
void IntegratedRows::take_others(const Problem& problem, const std::vector<Index>& place) {
  const SparseColumns& sparse = problem.sparse;
  std::vector<int> row_at(problem.n), next;
  for (Index i = 0; i < problem.n; ++i) row_at[partition_.order[i]] = static_cast<int>(i);
  other_start_.assign(problem.n + 1, 0);
  const auto each = [&](const auto& visit) {
    for (Index j = 0; j < sparse.columns; ++j)
      for (int k = sparse.start[j]; place[j] >= 0 && k < sparse.start[j + 1]; ++k)
        visit(row_at[sparse.row[k]], static_cast<int>(place[j]), sparse.value[k]);
  };
  each([&](int i, int, double) { ++other_start_[i + 1]; });
  std::partial_sum(other_start_.begin(), other_start_.end(), other_start_.begin());
  next.assign(other_start_.begin(), other_start_.end() - 1);
  other_.resize(other_start_.back());
  other_value_.resize(other_.size());
  each([&](int i, int column, double value) {
    other_[next[i]] = column;
    other_value_[next[i]++] = value;
  });
}

void IntegratedRows::gather(const Problem& problem) {
  const Index n = problem.n;
  const auto ordered = [&](const double* from) {
    Arr out(n);
    for (Index i = 0; i < n; ++i) out[i] = from[partition_.order[i]];
    return out;
  };
  y_ = ordered(problem.y);
  if (problem.weight) weight_ = ordered(problem.weight);
  offset_ = problem.offset ? ordered(problem.offset) : Arr(Arr::Zero(n));
  for (Index a = 0; a < effects(); ++a) z_.col(a) = ordered(z_.col(a).data()).matrix();
  if (dense_ * n > kMostKept) return;
  c_.resize(dense_, n);
  fill(0, n, c_);
}

// More lanes than other sources have: a row's share of an integral is much work.
void IntegratedRows::cut_lanes() {
  const Index blocks = static_cast<Index>(partition_.blocks.size()), n = problem_.n;
  const Index d = coefficients();
  const Index by_memory = std::max<Index>(1, (Index(1) << 24) / (d * d + 1));
  const Index count = std::clamp<Index>(n / kLaneRows, 1, std::min(kMostLanes, by_memory));
  for (Index lane = 1, first = 0; lane <= count && first < blocks; ++lane) {
    Index last = first + 1;
    while (last < blocks &&
           (lane == count || partition_.blocks[last].first_row < n * lane / count))
      ++last;
    lanes_.push_back({first, last});
    first = last;
  }
}

void IntegratedRows::fill(Index first_row, Index r,
                          Eigen::Ref<Mat, 0, Eigen::OuterStride<>> out) const {
  gather_design(problem_, partition_.order.data() + first_row, r, out);
}

void IntegratedRows::load(const BlockRange& range, ConstVecRef b, Block& out) const {
  const Index first = range.first_row, r = range.rows;
  if (c_.size() == 0 && dense_ > 0) {
    out.own.resize(dense_, partition_.largest_block);
    fill(first, r, out.own.leftCols(r));
  }
  out.c = c_.size() == 0 ? out.own.data() : c_.data() + first * dense_;
  out.o = offset_.segment(first, r);
  out.o.noalias() += Eigen::Map<const Mat>(out.c, dense_, r).transpose() * b.head(dense_);
  for (Index i = 0; others_ > 0 && i < r; ++i)
    for (int k = other_start_[first + i]; k < other_start_[first + i + 1]; ++k)
      out.o[i] += other_value_[k] * b[dense_ + other_[k]];
  if (!out.o.allFinite()) beyond_numbers();
}

// Which other columns occur in these rows, in order, after the dense ones.
void IntegratedRows::find_columns(Index first, Index last, Block& block) const {
  block.place.resize(others_, -1);
  block.columns.resize(dense_);
  std::iota(block.columns.begin(), block.columns.end(), 0);
  for (int k = other_start_[first]; k < other_start_[last]; ++k) {
    if (block.place[other_[k]] >= 0) continue;
    block.place[other_[k]] = 0;
    block.columns.push_back(dense_ + other_[k]);
  }
  std::sort(block.columns.begin() + dense_, block.columns.end());
  for (size_t j = dense_; j < block.columns.size(); ++j)
    block.place[block.columns[j] - dense_] = static_cast<Index>(j);
}

PairRows IntegratedRows::group(Index group, const BlockRange& range, Block& block) const {
  const Index first = partition_.group_start[group], last = partition_.group_start[group + 1];
  const Index at = first - range.first_row, r = last - first;
  const double* c = block.c + at * dense_;
  Index d = dense_;
  if (others_ > 0) {
    find_columns(first, last, block);
    d = static_cast<Index>(block.columns.size());
    block.group.setZero(d, r);
    block.group.topRows(dense_) = Eigen::Map<const Mat>(c, dense_, r);
    for (Index i = 0; i < r; ++i)
      for (int k = other_start_[first + i]; k < other_start_[first + i + 1]; ++k)
        block.group(block.place[other_[k]], i) = other_value_[k];
    for (size_t j = dense_; j < block.columns.size(); ++j)
      block.place[block.columns[j] - dense_] = -1;
    c = block.group.data();
  }
  const double* weight = weight_.size() > 0 ? weight_.data() + first : nullptr;
  return {{y_.data() + first, weight, block.o.data() + at, z_.data() + first, c, d, r},
          effects() == 2 ? z_.col(1).data() + first : nullptr};
}

Mat IntegratedRows::gram() const {
  const Index d = coefficients();
  Mat out = Mat::Zero(d, d), c;
  Block block;
  for (const BlockRange& range : partition_.blocks) {
    load(range, Vec::Zero(d), block);
    c.setZero(d, range.rows);
    c.topRows(dense_) = Eigen::Map<const Mat>(block.c, dense_, range.rows);
    for (Index i = 0; others_ > 0 && i < range.rows; ++i) {
      const Index row = range.first_row + i;
      for (int k = other_start_[row]; k < other_start_[row + 1]; ++k)
        c(dense_ + other_[k], i) += other_value_[k];
    }
    if (weight_.size() > 0)
      c *= weight_.segment(range.first_row, range.rows).sqrt().matrix().asDiagonal();
    out.selfadjointView<Eigen::Lower>().rankUpdate(c);
  }
  return out;
}

}  // namespace bsvm
