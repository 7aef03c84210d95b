#include "memory_source.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "linalg/kernels.hpp"
#include "model/gather.hpp"
#include "rows/lanes.hpp"

namespace bsvm {

namespace {

Eigen::Map<const Arr> view(const double* x, Index r) { return {x, r}; }

// Adds sum slope_i c_i of the columns of c (p, rows), four at a time. Not by Eigen, whose order of
// columns depends on where in memory they begin.
void add_linear(const double* c, const Arr& slope, Index p, double* __restrict out) {
  Index i = 0;
  for (; i + 4 <= slope.size(); i += 4) {
    const double *a = c + i * p, *b = a + p, *d = b + p, *e = d + p;
    for (Index j = 0; j < p; ++j)
      out[j] += (slope[i] * a[j] + slope[i + 1] * b[j]) + (slope[i + 2] * d[j] + slope[i + 3] * e[j]);
  }
  for (; i < slope.size(); ++i) add_multiple(out, c + i * p, slope[i], p);
}

// Those that a problem of a part of all rows has, from its first level on.
std::vector<Index> large_groups(const Problem& problem) {
  std::vector<Index> out;
  for (const LargeLevel& large : problem.large) {
    const Index group = large.level - problem.first_level;
    if (group >= 0 && group < problem.groups) out.push_back(group);
  }
  return out;
}

}  // namespace

MemorySource::MemorySource(const Problem& problem, Use use, int threads, Index most_gathered)
    : problem_(problem), use_(use), threads_(threads),
      large_(large_groups(problem)),
      partition_(cut(problem.group, problem.n, problem.groups, problem.columns(), large_)),
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
  const Index lanes = static_cast<Index>(partition_.lanes.size());
  if (!total_) total_ = std::make_unique<TreeSum<RowSums>>(lanes, RowSums(state.layout));
  total_->start();
  if (use_ != Use::drawn) {
    if (!state.begun()) groups_.clear();
    const Index p = state.layout.p;
    inverse_factor_.resize(packed_size(p, p));
    pack(state.inverse_factor().data(), p, p, nullptr, inverse_factor_.data());
  }
  take_large(state);
  latent_->prepare(state, use_);
  run_lanes(lanes, threads_, host, [&](Index lane, int worker, const Checkpoint& checkpoint) {
    auto mine = total_->take();
    Worker& scratch = workers_[worker];
    for (Index b = partition_.lanes[lane].first; b < partition_.lanes[lane].last; ++b) {
      checkpoint();
      const BlockRange& range = partition_.blocks[b];
      look(range, state, scratch);
      checkpoint();  // a block may hold a group whole, however long
      answer(range, state, scratch);
      checkpoint();
      add(range, state, scratch, *mine);
    }
    latent_->add_lane(lane, state, *mine);
    total_->put(lane, std::move(mine));
  });
  out = total_->total();
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
  take_large(state);
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
  gather_left_over(problem_, rows, r, out.left_over);
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
  if (problem_.left_over) block.v.head(r).matrix() += block.left_over * state.leaving();
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
    worker.random.draw(state.key(), problem_.first_row + range.first_row, r,
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
  add_linear(block.c, terms.slope, groups_.p, out.linear().data());
  if (out.raw > 0) out.raw_diagonal() += block.design().cwiseAbs2() * terms.weight.matrix();
  if (out.leaving > 0)
    out.left_over() -= 0.5 * block.left_over.transpose() * terms.weight.matrix();
  latent_->add(range, block, terms, *worker.latent, out);
  add_parameters(range, state, worker, out);
  if (range.piece) return add_piece(range, state, worker, out);
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
void MemorySource::add_parameters(const BlockRange& range, const State& state, Worker& worker,
                                  RowSums& out) const {
  const auto value = [&](const ParameterTerms::Moved& to) -> const Arr& {
    return moved_values(range, state, to, worker);
  };
  parameters_.add(view(worker.block.y, range.rows), worker.terms.value, value, out);
}

// The rows' shares where a parameter moved and q did not, that of unknown entries included: since
// q is at its best for these, the first derivative is that of the bound all the same.
const Arr& MemorySource::moved_values(const BlockRange& range, const State& state,
                                      const ParameterTerms::Moved& to, Worker& worker) const {
  RowBlock& block = to.design ? *worker.moved : worker.block;
  if (to.design) {
    load(range, to.state, block);
    moments(range, to.state, block);
  }
  const Index r = range.rows;
  if (worker.moved_terms.value.size() != r) worker.moved_terms.resize(r);
  if (integrate(range, state, *to.likelihood, worker, worker.moved_terms))
    return worker.moved_terms.value;
  to.likelihood->terms(use_, view(block.y, r), block.m.head(r), block.v.head(r),
                       worker.moved_terms);
  return worker.moved_terms.value *= view(block.weight, r);
}

}  // namespace bsvm
