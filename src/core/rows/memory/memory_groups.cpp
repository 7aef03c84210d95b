// Groups of a MemorySource: eliminated from a pass's sums, and moved after it.
#include <algorithm>

#include "linalg/kernels.hpp"
#include "linalg/small.hpp"
#include "memory_source.hpp"
#include "rows/lanes.hpp"

namespace bsvm {

// The block's groups eliminated (data/group_states.hpp), once for each precision that is wanted.
//   omega     (r)            the rows' weights or curvatures
//   factors   (r + q m)      these, then one for each column of B'DB
//   coupling  (p q, groups)  B_g' under the curvatures (or the one precision), which the step needs
void MemorySource::add_groups(const BlockRange& range, const State& state,
                              Worker& worker, RowSums& out) {
  RowBlock& block = worker.block;
  const Index q = groups_.q, p = groups_.p, used = block.r + q * range.groups;
  const double* prior = state.group_prior().data();
  const SmallFactor factor(prior, q);
  Arr factors = Arr::Ones(used);  // the rows' weights, then one for each column of B'DB
  const auto add_squares = [&](const Arr& omega, Mat& precision, Mat& regression,
                               Eigen::Map<Mat> sum) {
    factors.head(block.r) = omega;
    for (Index g = 0; g < range.groups; ++g) {
      const GroupRows rows = group_rows(range, range.first_group + g);
      eliminate(rows, omega, prior, factor, q, block.r + g * q, block,
                precision.data() + rows.group * q * q,
                regression.data() + rows.group * p * q);
    }
    worker.squares.add(block.columns.data(), p, used, factors.data(), sum.data(), p);
  };
  // The curvature's A_gg is needed for the step alone, so it lies where the
  // weights' A_gg will: the step is taken before that is written.
  Mat& coupling = one_precision() ? groups_.next_regression : groups_.curvature_regression;
  if (!one_precision())
    add_squares(worker.terms.curvature, groups_.next_precision, coupling, out.curvature());
  else
    add_squares(worker.terms.weight, groups_.next_precision, coupling, out.weight());
  for (Index g = 0; g < range.groups; ++g)
    finish_group(group_rows(range, range.first_group + g), state, worker, coupling, out);
  if (use_ == Use::drawn) return;
  if (!one_precision())
    add_squares(worker.terms.weight, groups_.next_precision, groups_.next_regression,
                out.weight());
  for (Index g = 0; g < range.groups; ++g) {
    const Index own = (range.first_group + g) * q * q;
    const SmallFactor next(groups_.next_precision.data() + own, q);
    out.group_logdet() += small_logdet(next.l, q);
  }
  if (state.begun()) out.group_change() += change(range, block);
}

// How far the block's groups moved in the metric of q.
double MemorySource::change(const BlockRange& range, RowBlock& block) const {
  const Index p = groups_.p, q = groups_.q;
  double sum = 0;
  for (Index g = 0; g < range.groups; ++g) {
    const Index own = (range.first_group + g) * q * q, cross = (range.first_group + g) * p * q;
    sum += group_change({groups_.precision.data() + own, groups_.regression.data() + cross},
                        {groups_.next_precision.data() + own,
                         groups_.next_regression.data() + cross},
                        p, q, block.columns.data() + g * p * q);
  }
  Arr coupling = Arr::Zero(q * range.groups);
  kernels().variances(inverse_factor_.data(), block.columns.data(), p, q * range.groups,
                      coupling.data());
  return sum + coupling.sum();
}

// The group's share of the Newton step: r_g = sum z slope - D u_g is its
// gradient, K_gg^{-1} r_g its step at fixed b, and -K_dg K_gg^{-1} r_g what
// eliminating it adds to the gradient of b.
void MemorySource::finish_group(const GroupRows& rows, const State& state,
                                const Worker& worker, const Mat& coupling, RowSums& out) {
  const Index p = groups_.p, q = groups_.q;
  const double* effect = groups_.effect.data() + rows.group * q;
  double* gradient = groups_.next_step.data() + rows.group * q;
  std::fill(gradient, gradient + q, 0.0);
  for (Index a = 0; a < q; ++a)
    add_multiple(gradient, state.group_prior().data() + a * q, -effect[a], q);
  for (Index i = rows.first; i < rows.last; ++i)
    add_multiple(gradient, worker.block.z + i * q, worker.terms.slope[i], q);
  const double* regression = coupling.data() + rows.group * p * q;
  double* linear = out.linear().data();
  for (Index a = 0; a < q; ++a) add_multiple(linear, regression + a * p, -gradient[a], p);
  const SmallFactor factor(groups_.next_precision.data() + rows.group * q * q, q);
  small_forward(factor.l, q, gradient);
  out.group_decrement() += squared_length(gradient, q);
  small_backward(factor.l, q, gradient);
}

GroupRows MemorySource::group_rows(const BlockRange& range, Index group) const {
  return {group, partition_.group_start[group] - range.first_row,
          partition_.group_start[group + 1] - range.first_row};
}

// Short beside a pass, and the groups must not be left half moved: the host is not asked.
Mat MemorySource::settle(const State& state, Settle how, double change) {
  const Index q = groups_.q;
  if (how == Settle::advance) history_.advance();
  if (q == 0) return Mat(0, 0);
  Host nobody;
  const Index lanes = static_cast<Index>(partition_.lanes.size());
  TreeSum<Mat> total(lanes, Mat::Zero(q, q));
  run_lanes(lanes, threads_, nobody, [&](Index lane, int worker, const Checkpoint&) {
    auto mine = total.take();
    for (Index b = partition_.lanes[lane].first; b < partition_.lanes[lane].last; ++b)
      if (how == Settle::draw) draw_block(partition_.blocks[b], state, *mine);
      else settle_block(partition_.blocks[b], state, how, change, workers_[worker].block,
                        *mine);
    total.put(lane, std::move(mine));
  });
  if (how == Settle::advance) {
    groups_.precision.swap(groups_.next_precision);
    groups_.regression.swap(groups_.next_regression);
  }
  return total.total();
}

// Moves the groups' means, and sums E u u' = E u E u' + A_gg^{-1} + B_g S B_g'.
void MemorySource::settle_block(const BlockRange& range, const State& state, Settle how,
                                double change, RowBlock& block, Mat& out) {
  const Index p = groups_.p, q = groups_.q, first = range.first_group, m = range.groups;
  const bool advance = how == Settle::advance;
  const Mat& precision = advance ? groups_.next_precision : groups_.precision;
  const Mat& regression = advance ? groups_.next_regression : groups_.regression;
  auto step = groups_.step.middleCols(first, m);
  if (advance) {
    step = groups_.next_step.middleCols(first, m);
    const Mat& steps = one_precision() ? groups_.next_regression : groups_.curvature_regression;
    Eigen::Map<const Mat> coupling(steps.data() + first * p * q, p, q * m);
    Eigen::Map<Vec>(step.data(), q * m).noalias() -= coupling.transpose() * state.step();
  }
  groups_.effect.middleCols(first, m) += change * step;
  auto spread = block.columns.leftCols(q * m);
  spread.noalias() = state.inverse_factor().triangularView<Eigen::Lower>() *
                     Eigen::Map<const Mat>(regression.data() + first * p * q, p, q * m);
  for (Index g = 0; g < m; ++g) {
    const SmallFactor own(precision.data() + (first + g) * q * q, q);
    const auto effect = groups_.effect.col(first + g);
    const auto couplings = spread.middleCols(g * q, q);
    for (Index a = 0; a < q; ++a) {
      double column[kMostEffects] = {};  // of A_gg^{-1}
      column[a] = 1;
      small_forward(own.l, q, column);
      small_backward(own.l, q, column);
      for (Index b = 0; b < q; ++b)
        out(b, a) += effect[b] * effect[a] + column[b] + couplings.col(b).dot(couplings.col(a));
    }
  }
}

template <class Source, class Visit>
void MemorySource::each_kept(Source& source, const Visit& visit) {
  auto& groups = source.groups_;
  if (source.use_ == Use::drawn) {
    for (auto* part : {&groups.effect, &groups.next_step, &groups.next_precision,
                       &groups.next_regression, &source.expected_})
      visit(*part);
    return;
  }
  for (auto* part : {&groups.effect, &groups.step, &groups.next_step, &groups.precision,
                     &groups.regression, &groups.next_precision, &groups.next_regression,
                     &groups.curvature_regression})
    visit(*part);
  for (auto* part : {&source.history_.now, &source.history_.next, &source.history_.kept})
    visit(*part);
  for (auto* part : {&source.kept_.mean, &source.kept_.precision, &source.kept_.regression})
    visit(*part);
}

// Entries as they were drawn come last.
Vec MemorySource::kept() const {
  const Vec drawn = use_ == Use::drawn ? latent_->drawn() : Vec();
  Index size = drawn.size(), at = 0;
  each_kept(*this, [&](const auto& part) { size += part.size(); });
  Vec out(size);
  out.tail(drawn.size()) = drawn;
  each_kept(*this, [&](const auto& part) {
    std::copy(part.data(), part.data() + part.size(), out.data() + at);
    at += part.size();
  });
  return out;
}

void MemorySource::restore(const Vec& kept) {
  if (kept.size() > this->kept().size()) keep();  // there is room for the best so far
  Index at = 0;
  each_kept(*this, [&](auto& part) {
    std::copy(kept.data() + at, kept.data() + at + part.size(), part.data());
    at += part.size();
  });
  if (use_ == Use::drawn) latent_->restore(kept.tail(kept.size() - at));
}

void MemorySource::keep() {
  kept_.mean = groups_.effect;
  kept_.precision = groups_.precision;
  kept_.regression = groups_.regression;
  history_.keep();
}

void MemorySource::back(const State&) {
  groups_.effect = kept_.mean;
  groups_.precision = kept_.precision;
  groups_.regression = kept_.regression;
  history_.back();
}

}  // namespace bsvm
