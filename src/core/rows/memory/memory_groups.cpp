// Groups of a MemorySource: eliminated from a pass's sums, and moved after it.
#include <algorithm>

#include "linalg/kernels.hpp"
#include "linalg/small.hpp"
#include "memory_source.hpp"
#include "rows/group_moves.hpp"
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
  for (Index g = range.first_group; g < range.first_group + range.groups; ++g) {
    groups_.next_step.col(g).setZero();
    group_gradient(group_rows(range, g), state.group_prior(), worker, groups_.next_step.col(g).data());
    finish_step(groups_, g, coupling, out);
  }
  if (use_ == Use::drawn) return;
  if (!one_precision())
    add_squares(worker.terms.weight, groups_.next_precision, groups_.next_regression,
                out.weight());
  for (Index g = 0; g < range.groups; ++g) {
    const Index own = (range.first_group + g) * q * q;
    const SmallFactor next(groups_.next_precision.data() + own, q);
    out.group_logdet() += small_logdet(next.l, q);
  }
  if (state.begun())
    out.group_change() += groups_change(groups_, range.first_group, range.groups,
                                        inverse_factor_.data(), block.columns.data());
}

// A piece of a large level is eliminated like a group of its own, whose prior is its rows' share of the
// level's. What its pieces know of the level goes with the sums.
void MemorySource::add_piece(const BlockRange& range, const State& state, Worker& worker,
                             RowSums& out) {
  RowBlock& block = worker.block;
  const Index q = groups_.q, p = groups_.p, number = large_number(range.first_group);
  const double share = static_cast<double>(range.rows) /
                       static_cast<double>(problem_.large[static_cast<size_t>(number)].rows);
  const Mat prior = share * state.group_prior();
  const SmallFactor factor(prior.data(), q);
  const GroupRows rows = group_rows(range, range.first_group);
  Arr factors = Arr::Ones(block.r + q);
  Mat precision(q, q), regression(p, q);
  const auto add_squares = [&](bool curvature, const Arr& omega, Eigen::Map<Mat> sum) {
    factors.head(block.r) = omega;
    group_sums(rows, omega, prior.data(), q, block, precision.data(), regression.data());
    out.add_piece(curvature, number, precision.data(), regression.data());
    eliminate_sums(rows, factor, q, block.r, block, precision.data(), regression.data(),
                   kLeastPivot);
    worker.squares.add(block.columns.data(), p, block.r + q, factors.data(), sum.data(), p);
  };
  if (!one_precision()) add_squares(true, worker.terms.curvature, out.curvature());
  add_squares(false, worker.terms.weight, out.weight());
  group_gradient(rows, prior, worker, out.large_gradient().col(number).data());
}

// Adds r_g = sum z slope - D u_g.
void MemorySource::group_gradient(const GroupRows& rows, const Mat& prior, const Worker& worker,
                                  double* out) const {
  const Index q = groups_.q;
  const double* effect = groups_.effect.data() + rows.group * q;
  for (Index a = 0; a < q; ++a) add_multiple(out, prior.data() + a * q, -effect[a], q);
  for (Index i = rows.first; i < rows.last; ++i)
    add_multiple(out, worker.block.z + i * q, worker.terms.slope[i], q);
}

// Where a large level is among them.
Index MemorySource::large_number(Index group) const {
  const auto at = std::lower_bound(problem_.large.begin(), problem_.large.end(),
                                   problem_.first_level + group,
                                   [](const LargeLevel& a, Index level) { return a.level < level; });
  return at - problem_.large.begin();
}

// What is known of large levels here is what the State says.
void MemorySource::take_large(const State& state) {
  for (const Index group : large_) {
    const Index number = large_number(group);
    groups_.effect.col(group) = state.large_effect().col(number);
    groups_.precision.col(group) = state.large_precision().col(number);
    groups_.regression.col(group) = state.large_regression().col(number);
  }
}

GroupRows MemorySource::group_rows(const BlockRange& range, Index group) const {
  if (range.piece) return {group, 0, range.rows};
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
      settle_block(partition_.blocks[b], state, how, change, workers_[worker].block, *mine);
    total.put(lane, std::move(mine));
  });
  if (how == Settle::advance) {
    groups_.precision.swap(groups_.next_precision);
    groups_.regression.swap(groups_.next_regression);
  }
  return total.total();
}

void MemorySource::settle_block(const BlockRange& range, const State& state, Settle how,
                                double change, RowBlock& block, Mat& out) {
  if (range.piece) return;
  const Index first = range.first_group, m = range.groups;
  if (how == Settle::draw)
    return draw_groups(groups_, first, m, problem_.first_level, state, expected_, out);
  const Mat& steps = one_precision() ? groups_.next_regression : groups_.curvature_regression;
  settle_groups(groups_, first, m, state, how == Settle::advance, change, steps,
                block.columns.leftCols(groups_.q * m), out);
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
