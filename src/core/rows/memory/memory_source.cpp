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
      units_(problem.columns(), problem.effects(), problem.groups),
      likelihood_(*problem.likelihood), parameters_(problem) {
  const Index p = problem.columns(), q = problem.effects();
  if (threads < 1) throw InvalidInput("threads", "'threads' must be at least 1.");
  check_use(*problem.latent, use);
  latent_ = problem.latent->rows(problem, partition_);
  const Index lanes = static_cast<Index>(partition_.lanes.size());
  for (Index k = 0; k < std::min<Index>(threads, lanes); ++k) {
    workers_.push_back({RowBlock(p, q, partition_.largest_block, partition_.largest_units),
                        RowTerms(), RowDraws(), WeightedGram(), latent_->scratch(), nullptr,
                        RowTerms()});
    workers_.back().terms.resize(partition_.largest_block);
    if (parameters_.moves_design())
      workers_.back().moved = std::make_unique<RowBlock>(p, q, partition_.largest_block,
                                                         partition_.largest_units);
  }
  if ((p + q + 3) * problem.n <= most_gathered) keep_gathered();
  if (use == Use::drawn) prepare_draws();
  if (use == Use::expected) history_.start(problem.n);
}

void MemorySource::sums(const State& state, RowSums& out, Host& host) {
  known_f_ = false;
  likelihood_.follow(state);
  parameters_.prepare(state);
  if (lane_sums_.empty())
    lane_sums_.assign(partition_.lanes.size(), RowSums(state.layout));
  if (use_ != Use::drawn) {
    if (!state.begun()) units_.clear();
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
  if (use_ == Use::augmented) latent_->average(range, state, block, *worker.latent);
}

Imputations MemorySource::imputations(const State& state) {
  Imputations out = latent_->places();
  if (use_ == Use::drawn || !problem_.latent->any()) return out;
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
  gathered_.reset(new RowData(units_.p, units_.q, problem_.n));
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
  kernels().dots(block.c, state.mean().data(), units_.p, r, block.m.data());
  if (use_ == Use::drawn) return add_effects(range, units_.effect, block);
  if (!state.begun()) {
    block.v.head(r).setConstant(state.spread());
    return;
  }
  block.v.head(r).setZero();
  if (units_.q > 0) {
    block.centred.leftCols(r) = block.design();
    for (Index u = 0; u < range.units; ++u)
      add_unit_moments(units_, unit_rows(range, range.first_unit + u), block);
  }
  const double* rows = units_.q > 0 ? block.centred.data() : block.c;
  kernels().variances(inverse_factor_.data(), rows, units_.p, r, block.v.data());
  if (state.layout.scatter > 0)
    block.v.head(r).matrix() += block.design().cwiseAbs2().transpose() * state.scatter();
}

// m += z' u_g with these effects (q, m).
void MemorySource::add_effects(const BlockRange& range, const Mat& effects,
                               RowBlock& block) const {
  const Index q = units_.q;
  if (q == 0) return;
  for (Index u = 0; u < range.units; ++u) {
    const UnitRows rows = unit_rows(range, range.first_unit + u);
    const double* effect = effects.data() + rows.unit * q;
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
  if (!one_precision() || !latent_->integrate(range, state, block, terms, *worker.latent)) {
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
  add_parameters(range, value, worker, out);
  out.linear().noalias() += block.design() * terms.slope.matrix();
  if (out.raw > 0) out.raw_diagonal() += block.design().cwiseAbs2() * terms.weight.matrix();
  latent_->add(range, block, terms, *worker.latent, out);
  if (problem_.groups > 0) return add_groups(range, state, worker, out);

  const auto add_squares = [&](const Arr& omega, Eigen::Map<Mat> sum) {
    worker.squares.add(block.c, units_.p, r, omega.data(), sum.data(), units_.p);
  };
  add_squares(terms.weight, out.weight());
  if (!one_precision()) add_squares(terms.curvature, out.curvature());
}

void MemorySource::add_parameters(const BlockRange& range, double value, Worker& worker,
                                  RowSums& out) const {
  parameters_.add(value, [&](const ParameterTerms::Moved& to) {
    return moved_value(range, to, worker);
  }, out);
}

// The rows' share where a parameter moved and q did not.
double MemorySource::moved_value(const BlockRange& range, const ParameterTerms::Moved& to,
                                 Worker& worker) const {
  RowBlock& block = to.design ? *worker.moved : worker.block;
  if (to.design) {
    load(range, to.state, block);
    moments(range, to.state, block);
  }
  const Index r = range.rows;
  if (worker.moved_terms.value.size() != r) worker.moved_terms.resize(r);
  to.likelihood->terms(use_, view(block.y, r), block.m.head(r), block.v.head(r),
                       worker.moved_terms);
  return (worker.moved_terms.value * view(block.weight, r)).sum();
}

void MemorySource::add_groups(const BlockRange& range, const State& state,
                              Worker& worker, RowSums& out) {
  RowBlock& block = worker.block;
  const Index q = units_.q, p = units_.p, used = block.r + q * range.units;
  const double* prior = state.group_prior().data();
  const SmallFactor factor(prior, q);
  Arr factors = Arr::Ones(used);  // the rows' weights, then one for each column of B'DB
  const auto add_squares = [&](const Arr& omega, Mat& precision, Mat& regression,
                               Eigen::Map<Mat> sum) {
    factors.head(block.r) = omega;
    for (Index u = 0; u < range.units; ++u) {
      const UnitRows rows = unit_rows(range, range.first_unit + u);
      eliminate(rows, omega, prior, factor, q, block.r + u * q, block,
                precision.data() + rows.unit * q * q,
                regression.data() + rows.unit * p * q);
    }
    worker.squares.add(block.columns.data(), p, used, factors.data(), sum.data(), p);
  };
  // The curvature's A_gg is needed for the step alone, so it lies where the
  // weights' A_gg will: the step is taken before that is written.
  Mat& coupling = one_precision() ? units_.next_regression : units_.curvature_regression;
  if (!one_precision())
    add_squares(worker.terms.curvature, units_.next_precision, coupling, out.curvature());
  else
    add_squares(worker.terms.weight, units_.next_precision, coupling, out.weight());
  for (Index u = 0; u < range.units; ++u)
    finish_unit(unit_rows(range, range.first_unit + u), state, worker, coupling, out);
  if (use_ == Use::drawn) return;
  if (!one_precision())
    add_squares(worker.terms.weight, units_.next_precision, units_.next_regression,
                out.weight());
  for (Index u = 0; u < range.units; ++u) {
    const Index unit = range.first_unit + u;
    const SmallFactor next(units_.next_precision.data() + unit * q * q, q);
    out.group_logdet() += small_logdet(next.l, q);
  }
  if (state.begun()) out.group_change() += change(range, block);
}

// How far the block's units moved in the metric of q.
double MemorySource::change(const BlockRange& range, RowBlock& block) const {
  const Index p = units_.p, q = units_.q;
  double sum = 0;
  for (Index u = 0; u < range.units; ++u) {
    const Index own = (range.first_unit + u) * q * q, cross = (range.first_unit + u) * p * q;
    sum += unit_change({units_.precision.data() + own, units_.regression.data() + cross},
                       {units_.next_precision.data() + own,
                        units_.next_regression.data() + cross},
                       p, q, block.columns.data() + u * p * q);
  }
  Arr coupling = Arr::Zero(q * range.units);
  kernels().variances(inverse_factor_.data(), block.columns.data(), p, q * range.units,
                      coupling.data());
  return sum + coupling.sum();
}

// The unit's share of the Newton step: r_g = sum z slope - D u_g is its
// gradient, K_gg^{-1} r_g its step at fixed b, and -K_dg K_gg^{-1} r_g what
// eliminating it adds to the gradient of b.
void MemorySource::finish_unit(const UnitRows& rows, const State& state,
                               const Worker& worker, const Mat& coupling, RowSums& out) {
  const Index p = units_.p, q = units_.q;
  const double* effect = units_.effect.data() + rows.unit * q;
  double* gradient = units_.next_step.data() + rows.unit * q;
  std::fill(gradient, gradient + q, 0.0);
  for (Index a = 0; a < q; ++a)
    add_multiple(gradient, state.group_prior().data() + a * q, -effect[a], q);
  for (Index i = rows.first; i < rows.last; ++i)
    add_multiple(gradient, worker.block.z + i * q, worker.terms.slope[i], q);
  const double* regression = coupling.data() + rows.unit * p * q;
  double* linear = out.linear().data();
  for (Index a = 0; a < q; ++a) add_multiple(linear, regression + a * p, -gradient[a], p);
  const SmallFactor factor(units_.next_precision.data() + rows.unit * q * q, q);
  small_forward(factor.l, q, gradient);
  out.group_decrement() += squared_length(gradient, q);
  small_backward(factor.l, q, gradient);
}

UnitRows MemorySource::unit_rows(const BlockRange& range, Index unit) const {
  return {unit, partition_.unit_start[unit] - range.first_row,
          partition_.unit_start[unit + 1] - range.first_row};
}

// Short beside a pass, and the groups must not be left half moved: the host is not asked.
Mat MemorySource::settle(const State& state, Settle how, double change) {
  const Index q = units_.q;
  Mat total = Mat::Zero(q, q);
  known_f_ = false;
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
    units_.precision.swap(units_.next_precision);
    units_.regression.swap(units_.next_regression);
  }
  return total;
}

// Moves the groups' means, and sums E u u' = E u E u' + A_gg^{-1} + B_g S B_g'.
void MemorySource::settle_block(const BlockRange& range, const State& state, Settle how,
                                double change, RowBlock& block, Mat& out) {
  const Index p = units_.p, q = units_.q, first = range.first_unit, m = range.units;
  const bool advance = how == Settle::advance;
  const Mat& precision = advance ? units_.next_precision : units_.precision;
  const Mat& regression = advance ? units_.next_regression : units_.regression;
  auto step = units_.step.middleCols(first, m);
  if (advance) {
    step = units_.next_step.middleCols(first, m);
    const Mat& steps = one_precision() ? units_.next_regression : units_.curvature_regression;
    Eigen::Map<const Mat> coupling(steps.data() + first * p * q, p, q * m);
    Eigen::Map<Vec>(step.data(), q * m).noalias() -= coupling.transpose() * state.step();
  }
  units_.effect.middleCols(first, m) += change * step;
  auto spread = block.columns.leftCols(q * m);
  spread.noalias() = state.inverse_factor().triangularView<Eigen::Lower>() *
                     Eigen::Map<const Mat>(regression.data() + first * p * q, p, q * m);
  for (Index u = 0; u < m; ++u) {
    const SmallFactor own(precision.data() + (first + u) * q * q, q);
    const auto effect = units_.effect.col(first + u);
    const auto couplings = spread.middleCols(u * q, q);
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
  kept_.mean = units_.effect;
  kept_.precision = units_.precision;
  kept_.regression = units_.regression;
  history_.keep();
}

void MemorySource::back(const State&) {
  known_f_ = false;
  units_.effect = kept_.mean;
  units_.precision = kept_.precision;
  units_.regression = kept_.regression;
  history_.back();
}

}  // namespace bsvm
