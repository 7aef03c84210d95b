#include "sparse_source.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "base/error.hpp"
#include "linalg/kernels.hpp"
#include "model/gather.hpp"
#include "rows/lanes.hpp"

namespace bsvm {

namespace {

double dot(const double* x, const double* y, Index p) {
  double sum = 0;
  for (Index j = 0; j < p; ++j) sum += x[j] * y[j];
  return sum;
}

constexpr Index kLongestRoot = 20000;  // 3 GB a matrix, of which there are several
constexpr Index kMostEntries = std::numeric_limits<int>::max();  // they are counted by int

[[noreturn]] void refuse(const std::string& what, Index found, Index most) {
  throw InvalidInput("sparse", what + " " + std::to_string(found) + " of them, and at most " +
                                   std::to_string(most) +
                                   " are possible. Leave out a crossed factor, or one of its "
                                   "terms.");
}

// Which levels are those of shared columns?
std::vector<char> shared_levels(const Problem& problem, const Levels& levels) {
  std::vector<char> out;
  Index column = 0;
  for (const int columns : levels.weight) {
    out.push_back(std::binary_search(problem.shared.begin(), problem.shared.end(),
                                     problem.sparse.number[column]));
    column += columns;
  }
  return out;
}

std::shared_ptr<const SparsePattern> pattern_for(const Problem& problem, const Levels& levels) {
  const Graph graph = level_graph(problem.sparse, problem.n, levels);
  SparsePattern pattern =
      problem.sparse.number
          ? pattern_before(graph, levels.weight, problem.columns(), shared_levels(problem, levels))
          : analyse(graph, levels.weight, problem.columns(), late_levels(graph, levels));
  const Index entries =
      static_cast<Index>(pattern.row.size()) + pattern.leading * (1 + pattern.tail());
  if (pattern.root() > kLongestRoot)
    refuse("Coefficients all depend on each other:", pattern.root(), kLongestRoot);
  if (entries > kMostEntries)
    refuse("The factor of the coefficients' precision has too many entries:", entries,
           kMostEntries);
  return std::make_shared<const SparsePattern>(std::move(pattern));
}

// Lanes of columns with about as many entries each.
std::vector<Lane> cut_columns(const std::vector<int>& start) {
  const Index columns = static_cast<Index>(start.size()) - 1, size = start.back() + columns;
  const Index count = std::clamp<Index>(size / 16384, 1, 16);
  std::vector<Lane> out;
  Index first = 0;
  for (Index lane = 1; lane <= count && first < columns; ++lane) {
    Index last = first + 1;
    while (last < columns && (lane == count || start[last] + last < size * lane / count)) ++last;
    out.push_back({first, last});
    first = last;
  }
  return out;
}

bool has_rows(const Problem& problem) { return problem.sparse.value != nullptr; }

// Rows in an order of their own, cut into blocks.
Partition cut_rows(const Problem& problem, const SparsePattern& pattern) {
  if (!has_rows(problem)) return Partition();
  Partition out = cut(nullptr, problem.n, 0, pattern.dense);
  out.order = row_order(problem.sparse, problem.n, pattern.order);
  return out;
}

std::vector<int> places(const std::vector<int>& order) {
  std::vector<int> out(order.size());
  for (size_t k = 0; k < order.size(); ++k) out[order[k]] = static_cast<int>(k);
  return out;
}

}  // namespace

SparseSource::SparseSource(const Problem& problem, Use use, int threads,
                           std::shared_ptr<const SparsePattern> pattern)
    : problem_(problem), opened_(use), use_(use), threads_(threads), levels_(problem.sparse),
      own_pattern_(pattern ? std::move(pattern) : pattern_for(problem, levels_)),
      pattern_(*own_pattern_), partition_(cut_rows(problem, pattern_)),
      rows_(has_rows(problem) ? SparseRows(problem.sparse, problem.n, pattern_.order,
                                           places(partition_.order))
                              : SparseRows()),
      lanes_(cut_columns(rows_.column_start)),
      data_(pattern_.dense, 0, has_rows(problem) ? problem.n : 0),
      likelihood_(*problem.likelihood), parameters_(problem) {
  if (threads < 1) throw InvalidInput("threads", "'threads' must be at least 1.");
  const Index columns = pattern_.columns;
  if (has_rows(problem)) take_rows();
  mean_ = Vec::Zero(columns);
  gradient_ = Vec::Zero(columns + pattern_.dense);
  next_ = SparseValues(pattern_);
  if (drawn()) {
    expected_ = mean_;
    return;
  }
  step_ = Vec::Zero(pattern_.leading);
  sd_ = Vec::Zero(columns);
  curvature_ = factor_ = inverse_.leading = next_;
  if (use == Use::expected) history_.start(problem.n);
}

void SparseSource::take_rows() {
  const Index n = problem_.n;
  for (Index i = 0; i < n; ++i) {
    const int from = partition_.order[i];
    data_.y[i] = problem_.y[from];
    data_.weight[i] = problem_.weight ? problem_.weight[from] : 1.0;
    data_.offset[i] = problem_.offset ? problem_.offset[from] : 0.0;
  }
  gather_left_over(problem_, partition_.order.data(), n, data_.left_over);
  make_workers();
  terms_ = Mat::Zero(4, n);
  if (!drawn()) row_variance_ = Arr::Zero(n);
}

void SparseSource::make_workers() {
  const Index p = pattern_.dense, length = partition_.largest_block;
  const size_t lanes = std::max(partition_.lanes.size(), lanes_.size());
  workers_.resize(std::min<size_t>(static_cast<size_t>(threads_), lanes));
  for (Worker& worker : workers_) {
    worker.m.resize(length);
    worker.v.resize(length);
    worker.column = Vec::Zero((one_precision() ? 1 : 2) * (pattern_.columns + p));
  }
  Layout dense;
  dense.p = p;
  dense.parameters = problem_.parameters();
  dense.leaving = static_cast<Index>(problem_.leaving.size());
  const Index row_lanes = static_cast<Index>(partition_.lanes.size());
  row_sums_ = std::make_unique<TreeSum<RowSums>>(row_lanes, RowSums(dense));
}

// The root's sparse coefficients as the State has them.
void SparseSource::take(const State& state) {
  mean_.tail(extra()) = state.mean().head(extra());
}

void SparseSource::sums(const State& state, RowSums& out, Host& host) {
  likelihood_.follow(state);
  parameters_.prepare(state);
  if (!drawn() && !state.begun()) {
    mean_.setZero();
    step_.setZero();
  }
  take(state);
  if (state.begun() && inverse_.root.size() == 0) find_inverse(state);
  if (state.begun() && stale_variance_) add_sparse_variance();
  run_rows(state, host);
  run_columns(state, out, host);
  eliminate(state, out, host);
}

// ---- a pass over the rows

void SparseSource::run_rows(const State& state, Host& host) {
  std::vector<double> factor(packed_size(pattern_.dense, pattern_.dense));
  if (state.begun()) {
    const auto corner =
        state.inverse_factor().bottomRightCorner(pattern_.dense, pattern_.dense);
    pack_block(corner.data(), corner.outerStride(), pattern_.dense, pattern_.dense, nullptr,
               factor.data());
  }
  row_sums_->start();
  run_lanes(static_cast<Index>(partition_.lanes.size()), threads_, host,
            [&](Index lane, int number, const Checkpoint& checkpoint) {
    auto mine = row_sums_->take();
    Worker& worker = workers_[number];
    for (Index b = partition_.lanes[lane].first; b < partition_.lanes[lane].last; ++b) {
      checkpoint();
      const BlockRange& range = partition_.blocks[b];
      fill(range, state);
      moments(range, state, worker);
      if (state.begun()) variances(range, factor, worker);
      if (problem_.left_over)
        worker.v.head(range.rows).matrix() +=
            data_.left_over.middleRows(range.first_row, range.rows) * state.leaving();
      answer(range, state, worker);
      add_rows(range, worker, *mine);
    }
    row_sums_->put(lane, std::move(mine));
  });
  filled_ = true;
}

// The dense columns of these rows, unless they are there already.
void SparseSource::fill(const BlockRange& range, const State& state) {
  if (filled_ && !varies(problem_)) return;
  gather_design(problem_, partition_.order.data() + range.first_row, range.rows, state,
                data_.c.middleCols(range.first_row, range.rows));
}

// f_i ~ N(m_i, v_i) under q: the mean, or f itself.
void SparseSource::moments(const BlockRange& range, const State& state, Worker& worker) const {
  const Index r = range.rows, first = range.first_row;
  auto m = worker.m.head(r);
  m = data_.offset.segment(first, r);
  m.matrix().noalias() +=
      data_.c.middleCols(first, r).transpose() * state.mean().tail(pattern_.dense);
  for (Index i = 0; i < r; ++i) m[i] += row_product(first + i, mean_);
  worker.v.head(r).setConstant(state.spread());
}

// z_i' x for x by position.
double SparseSource::row_product(Index i, const Vec& x) const {
  double sum = 0;
  for (int t = rows_.row_start[i]; t < rows_.row_start[i + 1]; ++t)
    sum += rows_.row_value[t] * x[rows_.position[t]];
  return sum;
}

// v_i = z' S_zz z + 2 z' S_zc c + c' S_cc c, the first of which is known.
void SparseSource::variances(const BlockRange& range, const std::vector<double>& factor,
                             Worker& worker) const {
  const Index r = range.rows, first = range.first_row, p = pattern_.dense;
  auto v = worker.v.head(r);
  v = row_variance_.segment(first, r);
  for (Index i = first; i < first + r && p > 0; ++i) {
    const double* c = data_.c.data() + i * p;
    double sum = 0;
    for (int t = rows_.row_start[i]; t < rows_.row_start[i + 1]; ++t)
      sum += rows_.row_value[t] * dot(coupling(rows_.position[t]), c, p);
    v[i - first] += 2 * sum;
  }
  kernels().variances(factor.data(), data_.c.data() + first * p, p, r, worker.v.data());
  v = v.max(0.0);  // what rounding may leave of a variance
}

// S_cj, the covariance of a sparse coefficient with the dense ones.
const double* SparseSource::coupling(Index position) const {
  const Index lead = pattern_.leading, p = pattern_.dense;
  if (position < lead) return inverse_.leading.tail.col(position).tail(p).data();
  return inverse_.root.col(position - lead).tail(p).data();
}

void SparseSource::answer(const BlockRange& range, const State& state, Worker& worker) {
  const Index r = range.rows, first = range.first_row;
  RowTerms& terms = worker.terms;
  if (terms.value.size() != r) terms.resize(r);
  const auto y = data_.y.segment(first, r), weight = data_.weight.segment(first, r);
  if (drawn()) {
    worker.random.draw(state.key(), problem_.first_row + first, r, likelihood_->scales());
    return likelihood_->draw(y, worker.m.head(r), weight, worker.random, terms);
  }
  likelihood_->terms(use_, y, worker.m.head(r), worker.v.head(r), terms);
  if (problem_.weight)
    for (Arr* a : {&terms.value, &terms.slope, &terms.weight, &terms.curvature}) *a *= weight;
  if (one_precision()) history_.blend(first, r, state.damping(), terms.weight);
  else terms.curvature += state.damping() * (terms.weight - terms.curvature);
}

// Keeps what the columns will need, and adds the dense columns' own sums.
void SparseSource::add_rows(const BlockRange& range, Worker& worker, RowSums& out) {
  const Index r = range.rows, first = range.first_row, p = pattern_.dense;
  if (out.leaving > 0)
    out.left_over() -= 0.5 * data_.left_over.middleRows(first, r).transpose() *
                       worker.terms.weight.matrix();
  const RowTerms& terms = worker.terms;
  out.value() += terms.value.sum();
  out.rows() += static_cast<double>(r);
  add_parameters(range, worker, out);
  auto kept = terms_.middleCols(first, r);
  kept.row(0) = terms.slope;
  kept.row(1) = terms.weight;
  if (!one_precision()) kept.row(2) = terms.curvature;
  if (p == 0) return;
  const double* c = data_.c.data() + first * p;
  out.linear().noalias() += Eigen::Map<const Mat>(c, p, r) * terms.slope.matrix();
  const auto add_squares = [&](const Arr& omega, Eigen::Map<Mat> sum) {
    worker.squares.add(c, p, r, omega.data(), sum.data(), p);
  };
  add_squares(terms.weight, out.weight());
  if (!one_precision()) add_squares(terms.curvature, out.curvature());
}

void SparseSource::add_parameters(const BlockRange& range, Worker& worker, RowSums& out) const {
  const Index r = range.rows, first = range.first_row;
  const auto y = data_.y.segment(first, r), weight = data_.weight.segment(first, r);
  if (worker.moved.value.size() != r) worker.moved.resize(r);
  const auto value = [&](const ParameterTerms::Moved& to) -> const Arr& {
    to.likelihood->terms(use_, y, worker.m.head(r), worker.v.head(r), worker.moved);
    return worker.moved.value *= weight;
  };
  parameters_.add(y, worker.terms.value, value, out);
}

// z_i' S_zz z_i of all rows: what they need of S is on the pattern, a column at a time.
void SparseSource::add_sparse_variance() {
  row_variance_.setZero();
  Vec column(pattern_.columns);
  for (Index k = 0; k < pattern_.columns; ++k) {
    unpack_inverse(k, column);
    for (int e = rows_.column_start[k]; e < rows_.column_start[k + 1]; ++e) {
      const double z = rows_.value[e];
      double sum = 0;
      for (int t = rows_.later[e]; t < rows_.end[e]; ++t)
        sum += column[rows_.position[t]] * rows_.row_value[t];
      row_variance_[rows_.row[e]] += z * (2 * sum + column[k] * z);
    }
  }
  stale_variance_ = false;
}

// Column k of S from its diagonal on, by position; what is not on the pattern is left alone.
void SparseSource::unpack_inverse(Index k, Vec& column) const {
  const Index lead = pattern_.leading, full = pattern_.columns - pattern_.tail_start;
  if (k >= lead) {
    const Index rest = pattern_.columns - k;
    column.tail(rest) = inverse_.root.col(k - lead).segment(k - lead, rest);
    return;
  }
  column[k] = inverse_.leading.diagonal[k];
  for (Index t = pattern_.start[k]; t < pattern_.start[k + 1]; ++t)
    column[pattern_.row[t]] = inverse_.leading.below[t];
  column.tail(full) = inverse_.leading.tail.col(k).head(full);
}

}  // namespace bsvm
