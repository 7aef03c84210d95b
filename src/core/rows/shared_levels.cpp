#include "shared_levels.hpp"

#include "base/error.hpp"
#include "linalg/cholesky.hpp"

namespace bsvm {

namespace {

constexpr Index kMostShared = 20000;  // 3 GB a matrix, of which there are several

}  // namespace

SharedLevels::SharedLevels(const Model& model, std::unique_ptr<DrawSource> rows, Use use)
    : model_(model), rows_(std::move(rows)), use_(use), effect_(Vec::Zero(extra())), sd_(effect_) {
  if (extra() > kMostShared)
    throw InvalidInput("sparse", "Effects of levels with rows in several files all depend on each "
                                 "other: " + std::to_string(extra()) + " of them, and at most " +
                                     std::to_string(kMostShared) +
                                     " are possible. Leave out a crossed factor.");
  Index first_column = 0, first_effect = 0, k = 0;
  for (const SparseTerm& term : model.sparse.terms) {
    first_column += term.levels * term.effects;
    for (; k < extra() && model.shared[static_cast<size_t>(k)] < first_column; k += term.effects)
      levels_.push_back({k, first_effect, term.effects});
    first_effect += term.effects;
  }
}

void SharedLevels::ask(Use use) {
  use_ = use;
  rows_->ask(use);
}

// Of the prior, half a quadratic form in each level's effects.
void SharedLevels::sums(const State& state, RowSums& out, Host& host) {
  rows_->sums(state, out, host);
  for (const Level& level : levels_) {
    const Index a = level.first, q = level.size;
    const auto prior = state.group_prior().block(level.effect, level.effect, q, q);
    out.weight().block(a, a, q, q) += prior;
    if (use_ == Use::augmented) out.curvature().block(a, a, q, q) += prior;
    out.linear().segment(a, q) -= prior * state.mean().segment(a, q);
  }
}

Mat SharedLevels::settle(const State& state, Settle how, double change) {
  Mat out = rows_->settle(state, how, change);
  effect_ = state.mean().head(extra());
  Mat covariance;
  if (how != Settle::draw && extra() > 0) {
    Host nobody;
    covariance = squared_transposed(state.inverse_factor(), nobody);
    sd_ = covariance.diagonal().head(extra()).cwiseSqrt();
  }
  for (const Level& level : levels_) {
    const Index a = level.first, q = level.size;
    auto block = out.block(level.effect, level.effect, q, q);
    block += effect_.segment(a, q) * effect_.segment(a, q).transpose();
    if (how != Settle::draw) block += covariance.block(a, a, q, q);
  }
  return out;
}

void SharedLevels::keep() {
  rows_->keep();
  kept_effect_ = effect_;
  kept_sd_ = sd_;
}

void SharedLevels::back(const State& best) {
  rows_->back(best);
  effect_ = kept_effect_;
  sd_ = kept_sd_;
}

GroupPosterior SharedLevels::groups() const {
  GroupPosterior out = rows_->groups();
  if (out.effect.size() == 0) return out;
  out.effect = put(std::move(out.effect), kept_effect_);
  out.effect_sd = put(std::move(out.effect_sd), kept_sd_);
  out.close_factor(model_.shared);
  return out;
}

// Effects of all levels, those of shared ones being `own`.
Vec SharedLevels::put(Vec all, ConstVecRef own) const {
  for (Index k = 0; k < extra(); ++k) all[model_.shared[static_cast<size_t>(k)]] = own[k];
  return all;
}

void SharedLevels::restore(ConstVecRef effects, State& state) {
  for (Index k = 0; k < extra(); ++k) effect_[k] = effects[model_.shared[static_cast<size_t>(k)]];
  state.mean().head(extra()) = effect_;
  rows_->restore(effects, state);
}

std::unique_ptr<DrawSource> with_shared_levels(const Model& model, std::unique_ptr<DrawSource> rows,
                                               Use use) {
  if (model.sparse.columns == 0) return rows;
  return std::make_unique<SharedLevels>(model, std::move(rows), use);
}

}  // namespace bsvm
