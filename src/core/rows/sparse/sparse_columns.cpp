// A SparseSource's pass over its columns, which follows that over the rows.
#include "rows/lanes.hpp"
#include "sparse_source.hpp"

namespace bsvm {

// Half the prior's quadratic form in the effects, differentiated by the one at position k.
double SparseSource::prior_slope(Index k, const State& state) const {
  const int effect = levels_.effect[pattern_.order[k]], first = levels_.first_effect[effect];
  const Index q = levels_.effects[effect];
  return state.group_prior().col(effect).segment(first, q).dot(
      mean_.segment(k - effect + first, q));
}

// The prior ties the effects of a level; their positions adjoin.
template <int K>
void SparseSource::add_prior(Index k, const State& state, Vec& column) {
  const int effect = levels_.effect[pattern_.order[k]];
  const int last = levels_.first_effect[effect] + levels_.effects[effect];
  for (int b = effect; b < last; ++b)
    for (int c = 0; c < K; ++c)
      column[K * (k + b - effect) + c] += state.group_prior()(b, effect);
  gradient_[k] -= prior_slope(k, state);
}

template <int K>
void SparseSource::store_column(Index k, Vec& column, RowSums& out) {
  const Index lead = pattern_.leading, end = pattern_.columns + pattern_.dense;
  for (int c = 0; c < K; ++c) {
    const auto take = [&](Index at) {
      const double number = column[K * at + c];
      column[K * at + c] = 0;
      return number;
    };
    if (k >= lead) {
      double* root = (c == 0 ? out.weight() : out.curvature()).col(k - lead).data();
      for (Index at = k; at < end; ++at) root[at - lead] = take(at);
      continue;
    }
    SparseValues& to = c == 0 ? next_ : curvature_;
    double* tail = to.tail.col(k).data();
    to.diagonal[k] = take(k);
    for (Index t = pattern_.start[k]; t < pattern_.start[k + 1]; ++t)
      to.below[t] = take(pattern_.row[t]);
    for (Index at = pattern_.tail_start; at < end; ++at) tail[at - pattern_.tail_start] = take(at);
  }
}

// Column k of A from the diagonal on, under K precisions (their numbers in turn), and its
// gradient. `column` (by position, then the dense columns) is zero before and after.
template <int K>
void SparseSource::add_column(Index k, const State& state, Vec& column, RowSums& out) {
  using Numbers = Eigen::Array<double, K, 1>;
  const Index p = pattern_.dense;
  double slope = 0, *dense = column.data() + K * pattern_.columns;
  Numbers own = Numbers::Zero();
  for (int e = rows_.column_start[k]; e < rows_.column_start[k + 1]; ++e) {
    const Index i = rows_.row[e];
    const double z = rows_.value[e], *terms = terms_.data() + 4 * i;
    slope += terms[0] * z;
    const Numbers weighted = Eigen::Map<const Numbers>(terms + 1) * z;
    own += weighted * z;
    const double* c = data_.c.data() + i * p;
    for (Index j = 0; j < p; ++j) Eigen::Map<Numbers>(dense + K * j) += weighted * c[j];
    for (int t = rows_.later[e]; t < rows_.end[e]; ++t)
      Eigen::Map<Numbers>(column.data() + K * rows_.position[t]) += weighted * rows_.row_value[t];
  }
  gradient_[k] = slope;
  Eigen::Map<Numbers>(column.data() + K * k) = own;
  if (k < pattern_.leading || !is_part()) add_prior<K>(k, state, column);
  store_column<K>(k, column, out);
}

void SparseSource::run_columns(const State& state, RowSums& out, Host& host) {
  out.clear();
  const Index p = pattern_.dense;
  RowSums rows = row_sums_->total();
  out.value() = rows.value();
  out.rows() = rows.rows();
  out.pull() = rows.pull();
  out.bend() = rows.bend();
  out.left_over() = rows.left_over();
  gradient_.tail(p) = rows.linear();
  out.weight().bottomRightCorner(p, p) = rows.weight();
  out.curvature().bottomRightCorner(p, p) = rows.curvature();
  run_lanes(static_cast<Index>(lanes_.size()), threads_, host,
            [&](Index lane, int number, const Checkpoint& checkpoint) {
    for (Index k = lanes_[lane].first; k < lanes_[lane].last; ++k) {
      if (k % 64 == 0) checkpoint();
      if (one_precision()) add_column<1>(k, state, workers_[number].column, out);
      else add_column<2>(k, state, workers_[number].column, out);
    }
  });
}

// Factors the leading columns and leaves the root's share to the coefficient side.
void SparseSource::eliminate(const State& state, RowSums& out, Host& host) {
  run_lanes(one_precision() ? 1 : 2, threads_, host, [&](Index lane, int, const Checkpoint& ask) {
    SparseValues& own = lane == 0 ? next_ : curvature_;
    factor(pattern_, own, ask);
    reduce(pattern_, own, lane == 0 ? out.weight() : out.curvature(), ask);
  });
  forward(pattern_, one_precision() ? next_ : curvature_, gradient_);
  out.linear() = gradient_.tail(pattern_.root());
  out.group_decrement() = gradient_.head(pattern_.leading).squaredNorm();
  out.group_logdet() = log_determinant(next_);
  if (!state.begun()) return;
  run_lanes(1, 1, host, [&](Index, int, const Checkpoint& ask) {
    out.group_change() = divergence(pattern_, factor_, inverse_, next_, ask);
  });
}

}  // namespace bsvm
