// What sampling asks of a SparseSource.
#include <algorithm>

#include "rows/lines/slide.hpp"
#include "sparse_source.hpp"

namespace bsvm {

// The leading effects given the root's draw: their conditional mean, one Newton step from
// where they were, and L^{-T} e.
void SparseSource::draw(const State& state) {
  const Index lead = pattern_.leading;
  Vec x = gradient_;
  x.tail(pattern_.root()) = state.step();
  backward(pattern_, next_, x);
  expected_ = mean_;  // the root's are what the State says
  expected_.head(lead) += x.head(lead);
  x.setZero();
  for (Index k = 0; k < lead; ++k)
    x[k] = Draws(state.key(), Purpose::groups, static_cast<std::uint64_t>(pattern_.order[k]))
               .normal();
  backward(pattern_, next_, x);
  mean_.head(lead) = expected_.head(lead) + x.head(lead);
}

Vec SparseSource::expected_effects(ConstVecRef expected) const {
  Vec out = expected_;
  out.tail(extra()) = expected.head(extra());
  return by_column(out);
}

void SparseSource::restore(ConstVecRef effects) {
  for (Index k = 0; k < pattern_.columns; ++k) mean_[k] = effects[pattern_.order[k]];
  known_f_ = false;
}

void SparseSource::find_predictors(const State& state) {
  for (Arr* a : {&f_, &slope_}) a->resize(problem_.n);
  take(state);
  Worker& worker = workers_[0];
  for (const BlockRange& range : partition_.blocks) {
    fill(range, state);
    moments(range, state, worker);
    f_.segment(range.first_row, range.rows) = worker.m.head(range.rows);
  }
  filled_ = true;
  known_f_ = true;
}

// By what f changes along the line.
void SparseSource::aim(const State& state, const Line& line) {
  if (!known_f_) find_predictors(state);
  line_ = line;
  Index column = 0;
  const Index p = pattern_.dense, used = (line.dense.array() != 0).count();
  const auto design = data_.c.leftCols(problem_.n);
  if (used == 0) slope_.setZero();
  else if (used > 1) slope_.matrix().noalias() = design.transpose() * line.dense;
  else {
    while (line.dense[column] == 0) ++column;
    const double factor = line.dense[column];
    for (Index i = 0; i < problem_.n; ++i) slope_[i] = factor * data_.c.data()[column + i * p];
  }
  if ((line.effect.array() != 0).any()) {
    const Vec moved = mean_.cwiseProduct(by_effect(line.effect));
    for (Index i = 0; i < problem_.n; ++i) slope_[i] += row_product(i, moved);
  }
}

// (columns) by position, from a number for each effect.
Vec SparseSource::by_effect(const Vec& x) const {
  Vec out(pattern_.columns);
  for (Index k = 0; k < out.size(); ++k) out[k] = x[levels_.effect[pattern_.order[k]]];
  return out;
}

double SparseSource::along(double t) {
  double sum = 0;
  for (const BlockRange& range : partition_.blocks) {
    const Index first = range.first_row;
    sum += likelihood_->along(
        {data_.y.data() + first, f_.data() + first, nullptr, slope_.data() + first,
         problem_.weight ? data_.weight.data() + first : nullptr, range.rows}, t);
  }
  return sum;
}

double SparseSource::log_likelihood(const State& state) {
  if (!known_f_) find_predictors(state);
  likelihood_.follow(state);
  slope_.setZero();
  return along(0);
}

void SparseSource::move(State& state, double t) {
  f_ += t * slope_;
  mean_.array() *= 1 + t * by_effect(line_.effect).array();
  state.mean().head(extra()) = mean_.tail(extra());
}

// Each column's coefficient in turn by a slice of its own, over the column's rows only.
Mat SparseSource::slide(State& state) {
  if (!known_f_) find_predictors(state);
  for (Index column = 0; column < pattern_.columns; ++column) slide_column(column, state);
  state.mean().head(extra()) = mean_.tail(extra());
  return level_moments();
}

void SparseSource::slide_column(Index column, const State& state) {
  const Index k = pattern_.position[column], first = rows_.column_start[k];
  const Index r = rows_.column_start[k + 1] - first;
  slide_.resize(4, std::max(r, slide_.cols()));
  double *y = slide_.data(), *f = y + r, *slope = f + r, *weight = slope + r;
  for (Index e = 0; e < r; ++e) {
    const Index i = rows_.row[first + e];
    y[e] = data_.y[i];
    f[e] = f_[i];
    slope[e] = rows_.value[first + e];
    weight[e] = data_.weight[i];
  }
  const int effect = levels_.effect[column];
  Draws random(state.key(), Purpose::move, static_cast<std::uint64_t>(column) + 1);
  mean_[k] += slide_effect(*likelihood_,
                           {y, f, slope, problem_.weight ? weight : nullptr, r},
                           state.group_prior()(effect, effect), prior_slope(k, state), random);
  for (Index e = 0; e < r; ++e) f_[rows_.row[first + e]] = f[e];
}

// Half the prior's quadratic form in the effects, differentiated by the one at position k.
double SparseSource::prior_slope(Index k, const State& state) const {
  const int effect = levels_.effect[pattern_.order[k]], first = levels_.first_effect[effect];
  const Index q = levels_.effects[effect];
  return state.group_prior().col(effect).segment(first, q).dot(
      mean_.segment(k - effect + first, q));
}

}  // namespace bsvm
