#include "large_levels.hpp"

#include "group_moves.hpp"
#include "linalg/kernels.hpp"
#include "linalg/small.hpp"
#include "shards/group_file.hpp"

namespace bsvm {

LargeLevels::LargeLevels(const Model& model, std::unique_ptr<DrawSource> rows, Use use)
    : levels_(model.large), rows_(std::move(rows)), use_(use),
      groups_(model.columns(), model.effects(), count()),
      expected_(Mat::Zero(model.effects(), count())) {}

void LargeLevels::ask(Use use) {
  use_ = use;
  rows_->ask(use);
}

State LargeLevels::with(const State& state) const {
  State out = state;
  out.large_effect() = groups_.effect;
  out.large_precision() = groups_.precision;
  out.large_regression() = groups_.regression;
  return out;
}

// As a MemorySource does it with a block of groups.
void LargeLevels::sums(const State& state, RowSums& out, Host& host) {
  const Index q = groups_.q, p = groups_.p, m = count();
  if (use_ != Use::drawn && !state.begun()) groups_.clear();
  rows_->sums(with(state), out, host);
  Mat& coupling = one_precision() ? groups_.next_regression : groups_.curvature_regression;
  eliminate(!one_precision(), out, coupling);
  groups_.next_step = out.large_gradient();
  for (Index l = 0; l < m; ++l) finish_step(groups_, l, coupling, out);
  if (use_ == Use::drawn) return;
  if (!one_precision()) eliminate(false, out, groups_.next_regression);
  for (Index l = 0; l < m; ++l)
    out.group_logdet() += small_logdet(SmallFactor(groups_.next_precision.col(l).data(), q).l, q);
  if (!state.begun()) return;
  std::vector<double> factor(packed_size(p, p));
  pack(state.inverse_factor().data(), p, p, nullptr, factor.data());
  Mat columns = Mat::Zero(p, (q * m + 3) / 4 * 4);
  out.group_change() += groups_change(groups_, 0, m, factor.data(), columns.data());
}

// A_gg and B_g' = A_gd' A_gg^{-1}. The reduced precision is in the sums already.
void LargeLevels::eliminate(bool curvature, RowSums& sums, Mat& regression) {
  const Index q = groups_.q, p = groups_.p;
  groups_.next_precision = sums.large_precision(curvature);
  regression = sums.large_coupling(curvature);
  for (Index l = 0; l < count(); ++l) {
    const SmallFactor factor(groups_.next_precision.col(l).data(), q);
    solve_right_transposed(factor.l, q, p, regression.col(l).data());
    solve_right(factor.l, q, p, regression.col(l).data());
  }
}

Mat LargeLevels::settle(const State& state, Settle how, double change) {
  Mat out = rows_->settle(state, how, change);
  if (how == Settle::draw) {
    for (Index l = 0; l < count(); ++l)
      draw_groups(groups_, l, 1, levels_[static_cast<size_t>(l)].level - l, state, expected_, out);
    return out;
  }
  const bool advance = how == Settle::advance;
  const Mat& steps = one_precision() ? groups_.next_regression : groups_.curvature_regression;
  Mat spread(groups_.p, groups_.q * count());
  settle_groups(groups_, 0, count(), state, advance, change, steps, spread, out);
  if (advance) {
    groups_.precision.swap(groups_.next_precision);
    groups_.regression.swap(groups_.next_regression);
  }
  return out;
}

void LargeLevels::keep() {
  rows_->keep();
  kept_.mean = groups_.effect;
  kept_.precision = groups_.precision;
  kept_.regression = groups_.regression;
}

void LargeLevels::back(const State& best) {
  rows_->back(best);
  groups_.effect = kept_.mean;
  groups_.precision = kept_.precision;
  groups_.regression = kept_.regression;
}

GroupPosterior LargeLevels::groups() const {
  GroupPosterior out = rows_->groups();
  if (kept_.mean.size() == 0) return out;
  if (out.file) {
    out.file = rewritten(out.file);
    return out;
  }
  for (Index l = 0; l < count(); ++l) {
    const Index level = levels_[static_cast<size_t>(l)].level;
    out.mean.col(level) = kept_.mean.col(l);
    out.precision.col(level) = kept_.precision.col(l);
    out.regression.col(level) = kept_.regression.col(l);
  }
  return out;
}

// The file with what is known of large levels here.
std::shared_ptr<const GroupFile> LargeLevels::rewritten(
    const std::shared_ptr<const GroupFile>& file) const {
  const GroupFileReader others(file->path);
  GroupFileWriter out(file->path + "-large", 0);
  for (Index l = 0; l < count(); ++l) {
    out.add(others, out.next(), levels_[static_cast<size_t>(l)].level);
    out.add(kept_, l, l + 1);
  }
  out.add(others, out.next(), file->levels);
  return out.finish();
}

// Effects of all levels, those of large ones being `own` (q, large).
Vec LargeLevels::put(Vec all, const Mat& own) const {
  const Index q = groups_.q;
  for (Index l = 0; l < count(); ++l)
    all.segment(levels_[static_cast<size_t>(l)].level * q, q) = own.col(l);
  return all;
}

void LargeLevels::restore(ConstVecRef effects, State& state) {
  const Index q = groups_.q;
  for (Index l = 0; l < count(); ++l)
    groups_.effect.col(l) = effects.segment(levels_[static_cast<size_t>(l)].level * q, q);
  rows_->restore(effects, state);
}

std::unique_ptr<DrawSource> with_large_levels(const Model& model, std::unique_ptr<DrawSource> rows,
                                              Use use) {
  if (model.large.empty()) return rows;
  return std::make_unique<LargeLevels>(model, std::move(rows), use);
}

}  // namespace bsvm
