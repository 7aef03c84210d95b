// What sampling asks of a MemorySource.
#include "linalg/kernels.hpp"
#include "linalg/small.hpp"
#include "memory_source.hpp"
#include "model/gather.hpp"
#include "rows/lines/slide.hpp"

namespace bsvm {

void MemorySource::prepare_draws() {
  expected_ = Mat::Zero(groups_.q, problem_.groups);
  y_.resize(problem_.n);
  if (problem_.weight) weight_.resize(problem_.n);
  for (Index i = 0; i < problem_.n; ++i) {
    y_[i] = problem_.y[partition_.order[i]];
    if (problem_.weight) weight_[i] = problem_.weight[partition_.order[i]];
  }
}

// u_g given the new dense coefficients: its conditional mean, one Newton step from
// where it was, and L^{-T} e with L L' = A_gg.
void MemorySource::draw_block(const BlockRange& range, const State& state, Mat& out) {
  const Index p = groups_.p, q = groups_.q, first = range.first_group, m = range.groups;
  Eigen::Map<const Mat> coupling(groups_.next_regression.data() + first * p * q, p, q * m);
  auto expected = expected_.middleCols(first, m);
  expected = groups_.effect.middleCols(first, m) + groups_.next_step.middleCols(first, m);
  Eigen::Map<Vec>(expected.data(), q * m).noalias() -= coupling.transpose() * state.step();
  for (Index g = first; g < first + m; ++g) {
    const SmallFactor own(groups_.next_precision.data() + g * q * q, q);
    Draws random(state.key(), Purpose::groups, static_cast<std::uint64_t>(g));
    double noise[kMostEffects];
    for (Index a = 0; a < q; ++a) noise[a] = random.normal();
    small_backward(own.l, q, noise);
    double* effect = groups_.effect.data() + g * q;
    for (Index a = 0; a < q; ++a) effect[a] = expected_(a, g) + noise[a];
    for (Index a = 0; a < q; ++a) add_multiple(out.data() + a * q, effect, effect[a], q);
  }
}

void MemorySource::restore(ConstVecRef effects) {
  Eigen::Map<Vec>(groups_.effect.data(), groups_.effect.size()) = effects;
  known_f_ = false;
}

void MemorySource::restore_unknowns(ConstVecRef drawn) {
  latent_->restore(drawn);
  known_f_ = false;
}

// f of every row, in working order.
void MemorySource::find_predictors(const State& state) {
  slope_.resize(problem_.n);
  f_.resize(problem_.n);
  RowBlock& block = workers_[0].block;
  for (const BlockRange& range : partition_.blocks) {
    load(range, state, block);
    moments(range, state, block);
    f_.segment(range.first_row, range.rows) = block.m.head(range.rows);
  }
  known_f_ = true;
}

// By what f changes along the line.
void MemorySource::aim(const State& state, const Line& line) {
  if (!known_f_) find_predictors(state);
  line_ = line;
  const Index used = (line.dense.array() != 0).count();
  if (used == 0) slope_.setZero();
  else if (used <= 2 && !moves_unknown(line.dense)) fill_columns(state, line.dense);
  else fill_combination(state, line.dense);
  if ((line.effect.array() != 0).any()) add_moving_effects(state, line.effect);
}

bool MemorySource::moves_unknown(ConstVecRef dense) const {
  for (Index j = 0; j < dense.size(); ++j)
    if (dense[j] != 0 && latent_->incomplete(j)) return true;
  return false;
}

void MemorySource::fill_combination(const State& state, ConstVecRef dense) {
  RowBlock& block = workers_[0].block;
  slope_.setZero();
  for (const BlockRange& range : partition_.blocks) {
    load(range, state, block);
    kernels().dots(block.c, dense.data(), groups_.p, range.rows, slope_.data() + range.first_row);
  }
}

// A column of the design or two: no row of it is filled.
void MemorySource::fill_columns(const State& state, ConstVecRef dense) {
  slope_.setZero();
  Index j = 0;
  for (const auto& part : problem_.blocks)
    for (Index own = 0; own < part->columns(); ++own, ++j)
      if (dense[j] != 0)
        part->add_column(own, partition_.order.data(), problem_.n, state, dense[j],
                         slope_.data());
}

void MemorySource::add_moving_effects(const State& state, ConstVecRef effect) {
  const Mat moved = effect.asDiagonal() * groups_.effect;
  RowBlock& block = workers_[0].block;
  for (const BlockRange& range : partition_.blocks) {
    load_multipliers(range, state, block);
    block.m.setZero();
    add_effects(range, moved, block);
    slope_.segment(range.first_row, range.rows) += block.m.head(range.rows);
  }
}

// The block's multipliers alone.
void MemorySource::load_multipliers(const BlockRange& range, const State& state,
                                    RowBlock& block) const {
  if (gathered_) return block.look_at(*gathered_, range.first_row, range.rows);
  gather_multipliers(problem_, partition_.order.data() + range.first_row, range.rows, state,
                     block.own.z);
  block.look_at(block.own, 0, range.rows);
}

const double* MemorySource::weights_from(Index row) const {
  return problem_.weight ? weight_.data() + row : nullptr;
}

double MemorySource::along(double t) {
  double sum = 0;
  for (const BlockRange& range : partition_.blocks) {
    const Index first = range.first_row;
    sum += likelihood_->along({y_.data() + first, f_.data() + first, nullptr,
                                       slope_.data() + first, weights_from(first), range.rows}, t);
  }
  return sum;
}

double MemorySource::log_likelihood(const State& state) {
  if (!known_f_ || parameters_.moves_design()) find_predictors(state);
  likelihood_.follow(state);
  slope_.setZero();
  return along(0);
}

void MemorySource::move(State&, double t) {
  f_ += t * slope_;
  groups_.effect.array().colwise() *= 1 + t * line_.effect.array();
}

// Each effect of each group in turn by a slice of its own, over the group's rows only.
Mat MemorySource::slide(State& state) {
  if (!known_f_) find_predictors(state);
  RowBlock& block = workers_[0].block;
  for (const BlockRange& range : partition_.blocks) {
    load_multipliers(range, state, block);
    for (Index g = 0; g < range.groups; ++g)
      slide_group(group_rows(range, range.first_group + g), range.first_row, state, block);
  }
  return groups_.effect * groups_.effect.transpose();
}

void MemorySource::slide_group(const GroupRows& rows, Index first_row, const State& state,
                               RowBlock& block) {
  const Index q = groups_.q, first = first_row + rows.first;
  SlideRows of{y_.data() + first, f_.data() + first, block.v.data(),  // no variances here
               weights_from(first), rows.last - rows.first};
  Eigen::Map<Vec> effect(groups_.effect.data() + rows.group * q, q);
  Draws random(state.key(), Purpose::move, static_cast<std::uint64_t>(rows.group) + 1);
  for (Index a = 0; a < q; ++a) {
    for (Index i = 0; i < of.r; ++i)
      of.slope[i] = block.z[a + (rows.first + i) * q];
    effect[a] += slide_effect(*likelihood_, of, state.group_prior()(a, a),
                              state.group_prior().col(a).dot(effect), random);
  }
}

}  // namespace bsvm
