#include "memory_source.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "linalg/kernels.hpp"
#include "model/gather.hpp"
#include "rows/lanes.hpp"

namespace bsvm {

namespace {

Eigen::Map<const Arr> view(const double* x, Index r) { return {x, r}; }

}  // namespace

MemorySource::MemorySource(const Problem& problem, Use use, int threads, Index most_gathered)
    : problem_(problem), use_(use), threads_(threads),
      partition_(cut(problem.group, problem.n, problem.groups, problem.columns())),
      groups_(problem.columns(), problem.effects(), problem.groups),
      likelihood_(*problem.likelihood), parameters_(problem) {
  const Index p = problem.columns(), q = problem.effects();
  if (threads < 1) throw InvalidInput("threads", "'threads' must be at least 1.");
  check_use(*problem.latent, use);
  latent_ = problem.latent->rows(problem, partition_);
  const Index lanes = static_cast<Index>(partition_.lanes.size());
  for (Index k = 0; k < std::min<Index>(threads, lanes); ++k) {
    workers_.push_back({RowBlock(p, q, partition_.largest_block, partition_.most_groups),
                        RowTerms(), RowDraws(), WeightedGram(), latent_->scratch(), nullptr,
                        RowTerms()});
    workers_.back().terms.resize(partition_.largest_block);
    if (parameters_.moves_design())
      workers_.back().moved = std::make_unique<RowBlock>(p, q, partition_.largest_block,
                                                         partition_.most_groups);
  }
  if ((p + q + 3) * problem.n <= most_gathered) keep_gathered();
  if (use == Use::drawn) expected_ = Mat::Zero(q, problem.groups);
  if (use == Use::expected) history_.start(problem.n);
}

void MemorySource::sums(const State& state, RowSums& out, Host& host) {
  likelihood_.follow(state);
  parameters_.prepare(state);
  if (lane_sums_.empty())
    lane_sums_.assign(partition_.lanes.size(), RowSums(state.layout));
  if (use_ != Use::drawn) {
    if (!state.begun()) groups_.clear();
    const Index p = state.layout.p;
    inverse_factor_.resize(packed_size(p, p));
    pack(state.inverse_factor().data(), p, p, nullptr, inverse_factor_.data());
  }
  latent_->prepare(state, use_);
  run_lanes(static_cast<Index>(partition_.lanes.size()), threads_, host,
            [&](Index lane, int worker, const Checkpoint& checkpoint) {
    RowSums& mine = lane_sums_[lane];
    Worker& scratch = workers_[worker];
    mine.clear();
    for (Index b = partition_.lanes[lane].first; b < partition_.lanes[lane].last; ++b) {
      checkpoint();
      const BlockRange& range = partition_.blocks[b];
      look(range, state, scratch);
      checkpoint();  // a block holds a group whole, however long
      answer(range, state, scratch);
      checkpoint();
      add(range, state, scratch, mine);
    }
  });
  out.clear();
  for (const RowSums& lane : lane_sums_) out += lane;
  latent_->add_all(state, out);
}

// The block's rows and the moments of their linear predictors, unknown predictors at what is known
// of them.
void MemorySource::look(const BlockRange& range, const State& state, Worker& worker) const {
  RowBlock& block = worker.block;
  load(range, state, block);
  if (use_ != Use::drawn) latent_->expect(range, block, *worker.latent);
  moments(range, state, block);
  if (use_ == Use::augmented)
    latent_->average(range, state, *likelihood_, block, *worker.latent);
}

Imputations MemorySource::imputations(const State& state) {
  Imputations out = latent_->places();
  if (use_ == Use::drawn || !problem_.latent->any()) return out;
  likelihood_.follow(state);
  latent_->prepare(state, use_);
  const Index p = state.layout.p;
  inverse_factor_.resize(packed_size(p, p));
  pack(state.inverse_factor().data(), p, p, nullptr, inverse_factor_.data());
  Worker& worker = workers_[0];
  for (const BlockRange& range : partition_.blocks) {
    look(range, state, worker);
    if (use_ != Use::augmented) answer(range, state, worker);
    latent_->read(*worker.latent, out);
  }
  return out;
}

void MemorySource::keep_gathered() {
  if (varies(problem_)) return;
  gathered_.reset(new RowData(groups_.p, groups_.q, problem_.n));
  gather(0, problem_.n, State(Layout()), *gathered_);
}

// Gathers rows in working order.
void MemorySource::gather(Index first_row, Index r, const State& state, RowData& out) const {
  const int* rows = partition_.order.data() + first_row;
  gather_design(problem_, rows, r, state, out.c);
  if (problem_.multipliers) gather_multipliers(problem_, rows, r, state, out.z);
  for (Index i = 0; i < r; ++i) {
    out.y[i] = problem_.y[rows[i]];
    out.weight[i] = problem_.weight ? problem_.weight[rows[i]] : 1.0;
    out.offset[i] = problem_.offset ? problem_.offset[rows[i]] : 0.0;
  }
}

// The block's rows, and its offset in m.
void MemorySource::load(const BlockRange& range, const State& state, RowBlock& block) const {
  if (gathered_) {
    block.look_at(*gathered_, range.first_row, range.rows);
  } else {
    gather(range.first_row, range.rows, state, block.own);
    block.look_at(block.own, 0, range.rows);
  }
  if (use_ == Use::drawn) latent_->fill(range, block);
}

// f_i ~ N(m_i, v_i) under q.
void MemorySource::moments(const BlockRange& range, const State& state,
                           RowBlock& block) const {
  const Index r = block.r;
  kernels().dots(block.c, state.mean().data(), groups_.p, r, block.m.data());
  if (use_ == Use::drawn) return add_effects(range, block);
  if (!state.begun()) {
    block.v.head(r).setConstant(state.spread());
    return;
  }
  block.v.head(r).setZero();
  if (groups_.q > 0) {
    block.centred.leftCols(r) = block.design();
    for (Index g = 0; g < range.groups; ++g)
      add_group_moments(groups_, group_rows(range, range.first_group + g), block);
  }
  const double* rows = groups_.q > 0 ? block.centred.data() : block.c;
  kernels().variances(inverse_factor_.data(), rows, groups_.p, r, block.v.data());
  if (state.layout.scatter > 0)
    block.v.head(r).matrix() += block.design().cwiseAbs2().transpose() * state.scatter();
}

// m += z' u_g.
void MemorySource::add_effects(const BlockRange& range, RowBlock& block) const {
  const Index q = groups_.q;
  if (q == 0) return;
  for (Index g = 0; g < range.groups; ++g) {
    const GroupRows rows = group_rows(range, range.first_group + g);
    const double* effect = groups_.effect.data() + rows.group * q;
    for (Index i = rows.first; i < rows.last; ++i)
      for (Index a = 0; a < q; ++a) block.m[i] += block.z[a + i * q] * effect[a];
  }
}

void MemorySource::answer(const BlockRange& range, const State& state, Worker& worker) {
  const RowBlock& block = worker.block;
  RowTerms& terms = worker.terms;
  const Index r = block.r;
  if (terms.value.size() != r) terms.resize(r);
  if (use_ == Use::drawn) {
    worker.random.draw(state.key(), partition_.order.data() + range.first_row, r,
                       likelihood_->scales());
    likelihood_->draw(view(block.y, r), block.m.head(r), view(block.weight, r), worker.random,
                      terms);
    latent_->draw(range, state, worker.block, terms, *worker.latent);
    return;
  }
  if (!integrate(range, state, *likelihood_, worker, terms)) {
    likelihood_->terms(use_, view(block.y, r), block.m.head(r), block.v.head(r), terms);
    if (problem_.weight)
      for (Arr* a : {&terms.value, &terms.slope, &terms.weight, &terms.curvature})
        *a *= view(block.weight, r);
  }
  if (one_precision())
    history_.blend(range.first_row, r, state.damping(), terms.weight);
}

void MemorySource::add(const BlockRange& range, const State& state, Worker& worker,
                       RowSums& out) {
  RowBlock& block = worker.block;
  RowTerms& terms = worker.terms;
  const Index r = block.r;
  if (!one_precision())
    terms.curvature += state.damping() * (terms.weight - terms.curvature);
  const double value = terms.value.sum();
  out.value() += value;
  out.rows() += static_cast<double>(r);
  out.linear().noalias() += block.design() * terms.slope.matrix();
  if (out.raw > 0) out.raw_diagonal() += block.design().cwiseAbs2() * terms.weight.matrix();
  latent_->add(range, block, terms, *worker.latent, out);
  add_parameters(range, state, value, worker, out);
  if (problem_.groups > 0) return add_groups(range, state, worker, out);

  const auto add_squares = [&](const Arr& omega, Eigen::Map<Mat> sum) {
    worker.squares.add(block.c, groups_.p, r, omega.data(), sum.data(), groups_.p);
  };
  add_squares(terms.weight, out.weight());
  if (!one_precision()) add_squares(terms.curvature, out.curvature());
}

// The terms of the block's rows with what is unknown in their design integrated out, if it is here.
bool MemorySource::integrate(const BlockRange& range, const State& state,
                             const Likelihood& likelihood, Worker& worker, RowTerms& out) const {
  return one_precision() &&
         latent_->integrate(range, state, likelihood, worker.block, out, *worker.latent);
}

// After the latent has added what the last look left in its scratch.
void MemorySource::add_parameters(const BlockRange& range, const State& state, double value,
                                  Worker& worker, RowSums& out) const {
  parameters_.add(value, [&](const ParameterTerms::Moved& to) {
    return moved_value(range, state, to, worker);
  }, out);
}

// The rows' share where a parameter moved and q did not, that of unknown entries included: since
// q is at its best for these, the first derivative is that of the bound all the same.
double MemorySource::moved_value(const BlockRange& range, const State& state,
                                 const ParameterTerms::Moved& to, Worker& worker) const {
  RowBlock& block = to.design ? *worker.moved : worker.block;
  if (to.design) {
    load(range, to.state, block);
    moments(range, to.state, block);
  }
  const Index r = range.rows;
  if (worker.moved_terms.value.size() != r) worker.moved_terms.resize(r);
  if (integrate(range, state, *to.likelihood, worker, worker.moved_terms))
    return worker.moved_terms.value.sum();
  to.likelihood->terms(use_, view(block.y, r), block.m.head(r), block.v.head(r),
                       worker.moved_terms);
  return (worker.moved_terms.value * view(block.weight, r)).sum();
}

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
  Mat total = Mat::Zero(q, q);
  if (how == Settle::advance) history_.advance();
  if (q == 0) return total;
  Host nobody;
  std::vector<Mat> sums(partition_.lanes.size(), total);
  run_lanes(static_cast<Index>(partition_.lanes.size()), threads_, nobody,
            [&](Index lane, int worker, const Checkpoint&) {
    for (Index b = partition_.lanes[lane].first; b < partition_.lanes[lane].last; ++b)
      if (how == Settle::draw) draw_block(partition_.blocks[b], state, sums[lane]);
      else settle_block(partition_.blocks[b], state, how, change, workers_[worker].block,
                        sums[lane]);
  });
  for (const Mat& lane : sums) total += lane;
  if (how == Settle::advance) {
    groups_.precision.swap(groups_.next_precision);
    groups_.regression.swap(groups_.next_regression);
  }
  return total;
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
