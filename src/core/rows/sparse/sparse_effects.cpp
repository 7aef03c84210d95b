// A SparseSource's effects between two passes: their own posterior.
#include <algorithm>

#include "linalg/cholesky.hpp"
#include "sparse_source.hpp"

namespace bsvm {

Mat SparseSource::settle(const State& state, Settle how, double change) {
  take(state);
  if (how == Settle::draw) {
    draw(state);
    return level_moments();
  }
  if (how == Settle::advance) {
    Vec x = gradient_;
    x.tail(pattern_.root()) = state.step();
    backward(pattern_, one_precision() ? next_ : curvature_, x);
    step_ = x.head(pattern_.leading);
    std::swap(factor_, next_);
    history_.advance();
    find_inverse(state);
  }
  if (inverse_.root.size() == 0) find_inverse(state);
  mean_.head(pattern_.leading) += change * step_;
  return level_moments();
}

void SparseSource::find_inverse(const State& state) {
  Host nobody;
  inverse_.root = known_root_ ? *known_root_ : squared_transposed(state.inverse_factor(), nobody);
  invert(pattern_, factor_, inverse_, [] {});
  sd_.head(pattern_.leading) = inverse_.leading.diagonal.cwiseSqrt();
  sd_.tail(extra()) = inverse_.root.diagonal().head(extra()).cwiseSqrt();
  stale_variance_ = true;
}

// Sum over levels of E u u', a block a term; without shared levels, of which others know, too.
Mat SparseSource::level_moments() const {
  const Index effects = static_cast<Index>(levels_.effects.size());
  Mat out = Mat::Zero(effects, effects);
  for (Index k = 0; k < (is_part() ? pattern_.leading : pattern_.columns);) {
    const int first = levels_.effect[pattern_.order[k]];
    const Index q = levels_.effects[first];
    const auto effect = mean_.segment(k, q);
    auto block = out.block(first, first, q, q);
    block += effect * effect.transpose();
    if (!drawn()) block += covariance(k, q);
    k += q;
  }
  return out;
}

// Of the q effects of the level that starts at this position.
Mat SparseSource::covariance(Index first, Index q) const {
  const Index lead = pattern_.leading;
  if (first >= lead) return inverse_.root.block(first - lead, first - lead, q, q);
  Mat out(q, q);
  for (Index a = 0; a < q; ++a) {
    out(a, a) = inverse_.leading.diagonal[first + a];
    for (Index b = a + 1; b < q; ++b)  // the level's own rows come first
      out(a, b) = out(b, a) = inverse_.leading.below[pattern_.start[first + a] + b - a - 1];
  }
  return out;
}

void SparseSource::keep() {
  if (drawn()) return;
  if (!knows_covariance()) return;
  kept_.mean = mean_;
  kept_.sd = sd_;
  kept_.factor = factor_;
  history_.keep();
}

void SparseSource::back(const State& best) {
  mean_ = kept_.mean;
  factor_ = kept_.factor;
  history_.back();
  find_inverse(best);
}

template <class Source, class Visit>
void SparseSource::each_kept(Source& source, const Visit& visit) {
  const auto values = [&](auto& of) {
    visit(of.diagonal);
    visit(of.below);
    visit(of.tail);
  };
  for (auto* part : {&source.mean_, &source.gradient_, &source.expected_, &source.step_,
                     &source.sd_})
    visit(*part);
  values(source.next_);
  if (source.opened_ == Use::drawn) return;
  values(source.factor_);
  if (source.opened_ == Use::augmented) values(source.curvature_);
  for (auto* part : {&source.history_.now, &source.history_.next, &source.history_.kept})
    visit(*part);
  for (auto* part : {&source.kept_.mean, &source.kept_.sd}) visit(*part);
  values(source.kept_.factor);
}

Vec SparseSource::kept() const {
  Index size = 0, at = 0;
  each_kept(*this, [&](const auto& part) { size += part.size(); });
  Vec out(size);
  each_kept(*this, [&](const auto& part) {
    std::copy(part.data(), part.data() + part.size(), out.data() + at);
    at += part.size();
  });
  return out;
}

void SparseSource::restore(const Vec& kept) {
  if (kept.size() > this->kept().size()) {  // there is room for the best so far
    kept_.mean = mean_;
    kept_.sd = sd_;
    kept_.factor = factor_;
  }
  inverse_.root.resize(0, 0);
  Index at = 0;
  each_kept(*this, [&](auto& part) {
    std::copy(kept.data() + at, kept.data() + at + part.size(), part.data());
    at += part.size();
  });
}

Vec SparseSource::by_column(const Vec& by_position) const {
  Vec out(by_position.size());
  for (Index k = 0; k < out.size(); ++k) out[pattern_.order[k]] = by_position[k];
  return out;
}

GroupPosterior SparseSource::groups() const {
  GroupPosterior out;
  if (kept_.mean.size() == 0) return out;
  out.effect = by_column(kept_.mean);
  out.effect_sd = by_column(kept_.sd);
  out.factor.order = pattern_.order;
  out.factor.leading = pattern_.leading;
  out.factor.start.push_back(0);
  const Vec unit = dense_unit();
  const auto add = [&](Index row, double value) {
    out.factor.row.push_back(static_cast<int>(row));
    out.factor.value.push_back(value);
  };
  for (Index k = 0; k < pattern_.leading; ++k) {
    add(k, kept_.factor.diagonal[k]);
    for (Index t = pattern_.start[k]; t < pattern_.start[k + 1]; ++t)
      add(pattern_.row[t], kept_.factor.below[t]);
    for (Index l = 0; l < pattern_.tail(); ++l) {
      const Index row = pattern_.tail_start + l, dense = row - pattern_.columns;
      add(row, kept_.factor.tail(l, k) / (dense < 0 ? 1 : unit[dense]));
    }
    out.factor.start.push_back(static_cast<int>(out.factor.row.size()));
  }
  return out;
}

// Powers of two between the dense columns inside and outside.
Vec SparseSource::dense_unit() const {
  Vec out(pattern_.dense);
  Index first = 0;
  for (const auto& part : problem_.blocks) {
    out.segment(first, part->columns()) = part->unit();
    first += part->columns();
  }
  return out;
}

}  // namespace bsvm
