#include "shard_source.hpp"

#include <algorithm>
#include <chrono>
#include <future>
#include <system_error>

#include "group_file.hpp"
#include "linalg/cholesky.hpp"
#include "rows/memory/memory_source.hpp"
#include "rows/sparse/sparse_source.hpp"

namespace bsvm {

namespace {

// Engines tell of each pass; a longer one tells of its files, too.
constexpr std::chrono::seconds kSlowPass{5};

// Reads the files in their order, the next one while the last is worked with.
class Ahead {
 public:
  explicit Ahead(const std::vector<std::string>& paths) : paths_(paths) {}
  ~Ahead() {
    if (coming_.valid()) coming_.wait();
  }

  // To be looked at until the next is taken, or moved from.
  ShardRows& take(std::size_t k) {
    if (coming_.valid()) coming_.get();
    else read(k);
    if (k + 1 < paths_.size()) start(k + 1);
    return rows_[k % 2];
  }

 private:
  void read(std::size_t k) { ShardFile(paths_[k]).read(rows_[k % 2]); }
  void start(std::size_t k) {
    try {
      coming_ = std::async(std::launch::async, [this, k] { read(k); });
    } catch (const std::system_error&) {  // no thread to be had: it is read when it is wanted
    }
  }

  const std::vector<std::string>& paths_;
  ShardRows rows_[2];
  std::future<void> coming_;
};

}  // namespace

void ShardProblem::look_at(const ShardRows& rows) {
  problem.n = rows.shape.n;
  problem.groups = rows.shape.groups;
  problem.first_row = rows.shape.first_row;
  problem.first_level = rows.shape.first_level;
  problem.y = rows.views.y;
  problem.weight = rows.views.weight;
  problem.offset = rows.views.offset;
  problem.group = rows.views.group;
  problem.left_over = rows.views.left_over;
  if (!terms.empty()) look_at_levels(rows);
  problem.latent->look_at({rows.shape.n, rows.views.x, rows.views.beside});
  design->look_at(rows.views.x, rows.shape.n);
  if (slopes) slopes->look_at(rows.views.z, rows.shape.n);
  if ((shift == 0 && unit == 1) || !rows.views.y) return;
  y_ = (Eigen::Map<const Arr>(rows.views.y, problem.n) - shift) / unit;
  problem.y = y_.data();
  if (!problem.offset) return;
  offset_ = Eigen::Map<const Arr>(problem.offset, problem.n) / unit;
  problem.offset = offset_.data();
}

void ShardProblem::look_at_levels(const ShardRows& rows) {
  SparseColumns& sparse = problem.sparse;
  sparse.columns = rows.shape.sparse;
  sparse.start = rows.views.start;
  sparse.row = rows.views.row;
  sparse.number = rows.views.number;
  sparse.value = rows.views.value;
  Index end = 0;
  const int* at = sparse.number;
  for (std::size_t t = 0; t < terms.size(); ++t) {
    end += terms[t].levels * terms[t].effects;
    const int* last = std::lower_bound(at, sparse.number + sparse.columns, end);
    sparse.terms[t].levels = (last - at) / terms[t].effects;
    at = last;
  }
}

void each_shard(ShardProblem& view, const std::vector<std::string>& paths,
                const std::function<void(const Problem& part)>& work) {
  Ahead ahead(paths);
  const auto work_on = [&](const ShardRows& rows) {
    view.look_at(rows);
    work(view.problem);
  };
  std::vector<ShardRows> waiting;  // until it is known that the last level does not go on
  const auto work_off = [&] {
    if (waiting.size() == 1) work_on(waiting[0]);
    if (waiting.size() > 1) work_on(ShardRows::joined(waiting));
    waiting.clear();
  };
  for (std::size_t k = 0; k < paths.size(); ++k) {
    ShardRows& rows = ahead.take(k);
    if (view.problem.large.empty()) {
      work_on(rows);
      continue;
    }
    if (!waiting.empty()) {
      const ShardShape& before = waiting.back().shape;
      if (rows.shape.first_level >= before.first_level + before.groups) work_off();
    }
    waiting.push_back(std::move(rows));
  }
  work_off();
}

ShardSource::ShardSource(ShardProblem& view, std::vector<std::string> paths, std::string beside,
                         Use use, int threads, Index most_in_memory)
    : view_(view), paths_(std::move(paths)), opened_(use), use_(use), threads_(threads),
      most_in_memory_(most_in_memory), patterns_(paths_.size()),
      states_(std::make_unique<ShardStates>(shards(), std::move(beside), most_in_memory)) {
  if (paths_.empty()) return;
  first_level_ = ShardFile(paths_.front()).shape().first_level;
  const ShardShape last = ShardFile(paths_.back()).shape();
  levels_ = last.first_level + last.groups - first_level_;
}

void ShardSource::work_on(Index shard, const ShardRows& rows, const Work& work) const {
  view_.look_at(rows);
  std::unique_ptr<KeptSource> source;
  if (view_.terms.empty())
    source = std::make_unique<MemorySource>(view_.problem, opened_, threads_, 0);
  else source = sparse_source(shard);
  source->ask(use_);
  if (has_states() && states_->has(shard)) source->restore(states_->load(shard));
  work(shard, *source);
}

// The inverse of the root, which all shards have, once for all.
void ShardSource::find_root(const State& state) {
  if (view_.terms.empty() || opened_ == Use::drawn || !state.begun()) return;
  Host nobody;
  root_ = std::make_shared<const Mat>(squared_transposed(state.inverse_factor(), nobody));
}

std::unique_ptr<KeptSource> ShardSource::sparse_source(Index shard) const {
  auto& known = patterns_[static_cast<std::size_t>(shard)];
  auto out = std::make_unique<SparseSource>(view_.problem, opened_, threads_, known);
  out->know_root(root_);
  const Index numbers = out->pattern().integers() / 2;
  if (known || pattern_numbers_ + numbers > most_in_memory_) return out;
  pattern_numbers_ += numbers;
  known = out->shared_pattern();
  return out;
}

void ShardSource::each_shard(const Work& work) {
  Ahead ahead(paths_);
  for (Index k = 0; k < shards(); ++k)
    work_on(k, ahead.take(static_cast<std::size_t>(k)), [&](Index shard, KeptSource& source) {
      work(shard, source);
      if (has_states()) states_->store(shard, source.kept());
    });
}

void ShardSource::look_at_states(const Work& work) const {
  if (!has_states()) return;
  ShardRows rows;
  for (Index k = 0; k < shards(); ++k) {
    ShardFile(paths_[static_cast<std::size_t>(k)]).read_groups(rows);
    work_on(k, rows, work);
  }
}

void ShardSource::move_states(const Work& work) {
  look_at_states([&](Index shard, KeptSource& source) {
    work(shard, source);
    states_->store(shard, source.kept());
  });
}

void ShardSource::sums(const State& state, RowSums& out, Host& host) {
  if (!total_) total_ = std::make_unique<TreeSum<RowSums>>(shards(), RowSums(state.layout));
  total_->start();
  ++passes_;
  find_root(state);
  const auto started = std::chrono::steady_clock::now();
  each_shard([&](Index shard, KeptSource& source) {
    auto mine = total_->take();
    source.sums(state, *mine, host);
    total_->put(shard, std::move(mine));
    host.file_done();
    if (std::chrono::steady_clock::now() - started > kSlowPass)
      host.progress("pass " + std::to_string(passes_) + ", file " + std::to_string(shard + 1) +
                    " of " + std::to_string(shards()));
  });
  out = total_->total();
}

Mat ShardSource::settle(const State& state, Settle how, double change) {
  const Index q = view_.problem.effects();
  if (q == 0 && use_ == Use::drawn) return Mat(0, 0);
  find_root(state);
  TreeSum<Mat> total(shards(), Mat::Zero(q, q));
  move_states([&](Index shard, KeptSource& source) {
    total.put(shard, std::make_unique<Mat>(source.settle(state, how, change)));
  });
  return total.total();
}

void ShardSource::keep() {
  move_states([](Index, KeptSource& source) { source.keep(); });
}

void ShardSource::back(const State& best) {
  find_root(best);
  move_states([&](Index, KeptSource& source) { source.back(best); });
}

// One column a level of the shard at hand, among those of all levels here. A level that is in several
// shards gets what the last of them says: LargeLevels knows better.
void ShardSource::put(const Mat& part, Mat& all) const {
  if (part.cols() == 0) return;
  if (all.cols() == 0) all.resize(part.rows(), levels_);
  all.middleCols(view_.problem.first_level - first_level_, part.cols()) = part;
}

Index ShardSource::columns_of_terms() const {
  Index out = 0;
  for (const SparseTerm& term : view_.terms) out += term.levels * term.effects;
  return out;
}

// Effects of the levels that are in this shard alone, and the columns of the factor by which these were
// eliminated: their order is by the columns of all rows.
void ShardSource::put(GroupPosterior part, GroupPosterior& all) const {
  if (part.effect.size() == 0) return;
  if (all.effect.size() == 0) all.effect = all.effect_sd = Vec::Zero(columns_of_terms());
  const SparseColumns& here = view_.problem.sparse;
  part.factor.order.resize(static_cast<std::size_t>(part.factor.leading));
  for (int& column : part.factor.order) {
    const int number = here.number[column];
    all.effect[number] = part.effect[column];
    all.effect_sd[number] = part.effect_sd[column];
    column = number;
  }
  const int lead = static_cast<int>(part.factor.leading);
  for (int& row : part.factor.row)
    if (row >= lead) row = lead - 1 - row;
  all.factor.append(part.factor);
}

GroupPosterior ShardSource::groups() const {
  GroupPosterior out;
  if (!view_.terms.empty()) {
    look_at_states([&](Index, KeptSource& source) { put(source.groups(), out); });
    return out;
  }
  if (!groups_to_.empty() && view_.problem.multipliers) {
    GroupFileWriter writer(groups_to_ + std::to_string(++written_), first_level_);
    look_at_states([&](Index, KeptSource& source) {
      writer.add(source.groups(), writer.next() - view_.problem.first_level);
    });
    out.file = writer.finish();
    return out;
  }
  look_at_states([&](Index, KeptSource& source) {
    const GroupPosterior part = source.groups();
    put(part.mean, out.mean);
    put(part.precision, out.precision);
    put(part.regression, out.regression);
  });
  return out;
}

template <class Part>
Vec ShardSource::of_levels(const Part& part) const {
  if (!view_.terms.empty()) {
    Vec all = Vec::Zero(columns_of_terms());
    look_at_states([&](Index, KeptSource& source) {
      const SparseColumns& here = view_.problem.sparse;
      const Vec own = part(source);
      for (Index j = 0; j < here.columns; ++j) all[here.number[j]] = own[j];
    });
    for (const int column : view_.problem.shared) all[column] = 0;
    return all;
  }
  Mat out;
  look_at_states([&](Index, KeptSource& source) {
    const Vec own = part(source);
    put(Eigen::Map<const Mat>(own.data(), view_.problem.effects(), view_.problem.groups), out);
  });
  return Eigen::Map<const Vec>(out.data(), out.size());
}

Vec ShardSource::effects() const {
  return of_levels([](const KeptSource& source) { return source.effects(); });
}

Vec ShardSource::expected_effects(ConstVecRef) const {
  const Vec nothing = Vec::Zero(static_cast<Index>(view_.problem.shared.size()));
  return of_levels([&](const KeptSource& source) { return source.expected_effects(nothing); });
}

void ShardSource::restore(ConstVecRef effects, State& state) {
  move_states([&](Index, KeptSource& source) {
    const Problem& part = view_.problem;
    if (!view_.terms.empty()) {
      if (effects.size() != columns_of_terms())
        throw InvalidInput("cluster", "There are not as many effects as levels of the shards.");
      Vec own(part.sparse.columns);
      for (Index j = 0; j < own.size(); ++j) own[j] = effects[part.sparse.number[j]];
      return source.restore(own, state);
    }
    const Index first = (part.first_level - first_level_) * part.effects();
    const Index size = part.group_coefficients();
    if (first + size > effects.size())
      throw InvalidInput("cluster", "There are fewer effects than levels of the shards.");
    source.restore(effects.segment(first, size), state);
  });
}

ShardSize shard_size(Index p, Index numbers_a_row) {
  ShardSize out{lane_rows(p), 1};
  while (2 * out.rows * numbers_a_row <= Index{1} << 23) {
    out.rows *= 2;
    out.lanes *= 2;
  }
  return out;
}

Index most_level_rows(Index p, Index q) { return shard_size(p, p + q + 2).rows; }

std::vector<Index> shard_starts(const std::vector<Index>& level_rows,
                                const std::vector<Index>& large, Index p, ShardSize size) {
  std::vector<Index> start(level_rows.size() + 1, 0), out;
  for (std::size_t k = 0; k < level_rows.size(); ++k) start[k + 1] = start[k] + level_rows[k];
  const Index n = start.back();
  const Partition whole = cut_levels(std::move(start), p, large);
  for (Index lanes = size.lanes;; lanes /= 2) {
    out.clear();
    for (std::size_t k = 0; k < whole.lanes.size(); k += static_cast<std::size_t>(lanes))
      out.push_back(whole.blocks[static_cast<std::size_t>(whole.lanes[k].first)].first_row);
    Index longest = 0;
    for (std::size_t k = 0; k < out.size(); ++k)
      longest = std::max(longest, (k + 1 < out.size() ? out[k + 1] : n) - out[k]);
    if (lanes == 1 || longest <= 2 * size.rows) return out;
  }
}

}  // namespace bsvm
