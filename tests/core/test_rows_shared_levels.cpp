// Several grouping factors of rows in shards: each shard eliminates the levels it has alone, and the
// others are coefficients. Fits are those of the same rows in memory, which test_rows_sparse_source.cpp
// compares with brute force.
#include "rows/shared_levels.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "chain/chains.hpp"
#include "fitting.hpp"
#include "rows/make_source.hpp"
#include "rows/sparse/sparse_source.hpp"
#include "rows/sparse/sparse_variance.hpp"
#include "shard_files.hpp"
#include "sparse_data.hpp"

using namespace bsvm_test;

namespace {

Shape shape_of(Index n, Index p) {
  Shape out;
  out.n = n;
  out.p = p;
  return out;
}

// The rows of a problem in `count` shards: row i in place[i].
class SparseShards {
 public:
  SparseShards(const SparseData& data, std::vector<int> place, int count)
      : data_(data), place_(std::move(place)) {
    find_shared(count);
    elsewhere = data.problem();
    elsewhere.blocks[0].reset(new ElsewhereBlock(Vec(elsewhere.blocks[0]->unit())));
    static_cast<Rows&>(elsewhere) = Rows();
    elsewhere.sparse.start = elsewhere.sparse.row = nullptr;
    elsewhere.sparse.value = nullptr;
    elsewhere.shared = shared_;
    check(elsewhere);
    view.problem = data.problem();
    view.problem.shared = shared_;
    view.terms = data.terms;
    view.design = new DenseBlock(data.data.center, data.data.scale, Vec(elsewhere.blocks[0]->unit()));
    view.problem.blocks[0].reset(view.design);
    for (int shard = 0; shard < count; ++shard) write(shard);
  }

  std::unique_ptr<DrawSource> source(Use use, int threads = 1, Index most = Index{1} << 24) {
    const std::string beside = folder_.file("state-" + std::to_string(++made_) + "-");
    return with_shared_levels(
        elsewhere, std::make_unique<ShardSource>(view, paths_, beside, use, threads, most), use);
  }

  ShardProblem view;
  Problem elsewhere;

 private:
  // By level, since the effects of one go together.
  void find_shared(int count) {
    Index column = 0;
    for (const SparseTerm& term : data_.terms)
      for (Index level = 0; level < term.levels; ++level, column += term.effects) {
        std::set<int> where;
        for (int k = data_.start[column]; k < data_.start[column + term.effects]; ++k)
          where.insert(place_[data_.row[k]]);
        const int shard = where.empty() ? 0 : *where.begin();
        for (Index a = 0; a < term.effects; ++a) {
          if (where.size() > 1) shared_.push_back(static_cast<int>(column + a));
          home_.push_back(where.size() > 1 ? count : shard);
        }
      }
    everywhere_ = count;
  }

  void write(int shard) {
    std::vector<int> rows, number, start{0}, row, to(place_.size(), -1);
    for (size_t i = 0; i < place_.size(); ++i)
      if (place_[i] == shard) {
        to[i] = static_cast<int>(rows.size());
        rows.push_back(static_cast<int>(i));
      }
    std::vector<double> value;
    for (int j = 0; j < data_.columns(); ++j) {
      if (home_[j] != shard && home_[j] != everywhere_) continue;
      number.push_back(j);
      for (int k = data_.start[j]; k < data_.start[j + 1]; ++k)
        if (to[data_.row[k]] >= 0) {
          row.push_back(to[data_.row[k]]);
          value.push_back(data_.value[k]);
        }
      start.push_back(static_cast<int>(row.size()));
    }
    const Data& of = data_.data;
    ShardShape shape;
    shape.first_row = before_;
    shape.n = static_cast<Index>(rows.size());
    shape.p = of.x.cols();
    shape.sparse = static_cast<Index>(number.size());
    shape.entries = static_cast<Index>(row.size());
    shape.weight = shape.offset = true;
    before_ += shape.n;
    const Mat x = taken(of.x, rows), y = taken(of.y, rows), weight = taken(of.weight, rows),
              offset = taken(of.offset, rows);
    ShardViews views;
    views.x = x.data();
    views.y = y.data();
    views.weight = weight.data();
    views.offset = offset.data();
    views.start = start.data();
    views.row = row.data();
    views.number = number.data();
    views.value = value.data();
    paths_.push_back(folder_.file("shard-" + std::to_string(shard)));
    ShardFile(paths_.back()).write(shape, views);
  }

  const SparseData& data_;
  std::vector<int> place_, shared_, home_;  // home: the shard of a column
  int everywhere_ = 0, made_ = 0;
  Index before_ = 0;
  Folder folder_;
  std::vector<std::string> paths_;
};

// In runs, as rows sorted by one of the factors would be, or one after the other.
std::vector<int> in_runs(Index n, int count) {
  std::vector<int> out(n);
  for (Index i = 0; i < n; ++i) out[i] = static_cast<int>(i * count / n);
  return out;
}

// Of the level that a row has of the first term.
std::vector<int> by_first_factor(const SparseData& data, int count) {
  std::vector<int> out(data.n(), 0);
  const Index q = data.terms[0].effects;
  for (Index level = 0; level < data.terms[0].levels; ++level)
    for (int k = data.start[level * q]; k < data.start[level * q + 1]; ++k)
      out[data.row[k]] = static_cast<int>(level * count / data.terms[0].levels);
  return out;
}

Fit fit_from(SparseShards& shards, Use use, int threads = 1, Index most = Index{1} << 24) {
  Host host;
  const auto source = shards.source(use, threads, most);
  return fit(shards.elsewhere, *source, exact_options(), host);
}

Fit fit_in_memory(const Problem& problem) {
  SparseSource source(problem, Use::augmented, 1);
  Host host;
  return fit(problem, source, exact_options(), host);
}

// Of the linear predictors of all rows, as predictions have them.
Vec variances(const Fit& found, const SparseData& data, const Problem& problem) {
  const Index p = data.data.shape.p;
  Mat root = found.result.state.inverse_factor();
  root.rightCols(p) = (root.rightCols(p) * problem.blocks[0]->unit().asDiagonal()).eval();
  Host host;
  return linear_variances(found.result.groups.factor, root, data.view(), data.data.design(), host);
}

void check_fits(const SparseData& data, const std::vector<int>& place, int count) {
  const Problem whole = data.problem();
  const Fit here = fit_in_memory(whole);
  SparseShards shards(data, place, count);
  CAPTURE(shards.elsewhere.shared.size());
  const Fit there = fit_from(shards, Use::augmented);
  CHECK(there.result.bound == doctest::Approx(here.result.bound).epsilon(1e-12));
  CHECK(gap(there.outside.mean, here.outside.mean) < 1e-11);
  CHECK(gap(there.outside.covariance, here.outside.covariance) < 1e-11);
  CHECK(gap(there.result.groups.effect, here.result.groups.effect) < 1e-11);
  CHECK(gap(there.result.groups.effect_sd, here.result.groups.effect_sd) < 1e-11);
  CHECK(gap(there.result.state.hyper(), here.result.state.hyper()) < 1e-11);
  CHECK(gap(variances(there, data, whole), variances(here, data, whole)) < 1e-11);
  for (int threads : {1, 2})
    for (Index most : {Index{0}, Index{1} << 24}) {
      const Fit again = fit_from(shards, Use::augmented, threads, most);
      CHECK(same_bits(again.result.state.x, there.result.state.x));
      CHECK(same_bits(again.result.groups.effect, there.result.groups.effect));
      CHECK(again.result.groups.factor.value == there.result.groups.factor.value);
    }
}

}  // namespace

TEST_CASE("shards with several factors give the fit of rows in memory, however rows are dealt out") {
  const SparseData two = crossed(shape_of(160, 3), {20, 6}), three = crossed(shape_of(150, 2), {15, 8, 3}),
                   within = nested(shape_of(160, 2), 4, 16);
  for (int count : {1, 2, 5}) {
    CAPTURE(count);
    check_fits(two, in_runs(160, count), count);
    check_fits(two, by_first_factor(two, count), count);
    check_fits(three, by_first_factor(three, count), count);
    check_fits(within, by_first_factor(within, count), count);
    check_fits(within, in_runs(160, count), count);
  }
}

TEST_CASE("levels that are in one shard alone leave nothing to share") {
  const SparseData data = nested(shape_of(120, 2), 3, 12);
  std::vector<int> place(120);
  const Mat outer = data.dense().rightCols(3);
  for (Index i = 0; i < 120; ++i) place[i] = outer(i, 0) != 0 ? 0 : outer(i, 1) != 0 ? 1 : 2;
  SparseShards shards(data, place, 3);
  CHECK(shards.elsewhere.shared.empty());
  check_fits(data, place, 3);
}

TEST_CASE("a mixture of Gaussians over shards with several factors is that of rows in memory") {
  const SparseData data = crossed(shape_of(160, 2), {16, 5});
  const Problem whole = data.problem();
  SparseShards shards(data, by_first_factor(data, 3), 3);
  const auto engine = Registry<Approximator>::make("gaussian", Params());
  Host host;
  const auto nodes = [&](const MakeSource& make) {
    return engine->run(shards.elsewhere, make, close_options(), 1, host).nodes;
  };
  const auto here = nodes([&](Use use, int threads) {
    return std::unique_ptr<RowSource>(new SparseSource(whole, use, threads));
  });
  const auto there = nodes([&](Use use, int threads) -> std::unique_ptr<RowSource> {
    return shards.source(use, threads, 0);
  });
  REQUIRE(here.size() == there.size());
  for (size_t k = 0; k < here.size(); ++k) {
    CHECK(there[k].log_density == doctest::Approx(here[k].log_density).epsilon(1e-10));
    CHECK(gap(there[k].groups.effect, here[k].groups.effect) < 1e-6);
    CHECK(gap(there[k].groups.effect_sd, here[k].groups.effect_sd) < 1e-6);
  }
}

TEST_CASE("chains over shards with several factors have the posterior of those in memory") {
  const SparseData data = crossed(shape_of(80, 2), {8, 4});
  const Problem whole = data.problem();
  SparseShards shards(data, by_first_factor(data, 2), 2);
  REQUIRE(!shards.elsewhere.shared.empty());
  const auto sampler = Registry<Sampler>::make("gibbs", Params("gibbs", {{"mixing", 0}}));
  Host host;
  struct Moments {
    Vec mean, sd;
    Mat correlation;  // of what was drawn around the expected effects
  };
  const auto moments = [&](Chain& chain) {
    const int draws = 6000;
    Draw draw;
    Vec sum = Vec::Zero(data.columns()), squares = sum;
    Mat products = Mat::Zero(data.columns(), data.columns());
    for (int k = 0; k < draws + 200; ++k) {
      chain.sweep(host);
      if (k < 200) continue;
      chain.read(draw);
      sum += draw.effects;
      squares += draw.effects.cwiseAbs2();
      const Vec around = draw.effects - draw.expected_effects;
      products += around * around.transpose();
    }
    const Vec mean = sum / draws;
    const Vec size = products.diagonal().cwiseSqrt().cwiseInverse();
    return Moments{mean, (squares / draws - mean.cwiseAbs2()).cwiseSqrt(),
                   size.asDiagonal() * products * size.asDiagonal()};
  };
  const auto one = sampler->start(whole, source_maker(whole), 1, 3, 0, 0);
  const auto other = sampler->start(
      shards.elsewhere, [&](Use use, int threads) { return shards.source(use, threads); }, 1, 3, 0, 0);
  const Moments here = moments(*one), there = moments(*other);
  for (Index j = 0; j < data.columns(); ++j) {
    CAPTURE(j);
    CHECK(std::abs(here.mean[j] - there.mean[j]) < 0.12 * here.sd[j]);
    CHECK(there.sd[j] == doctest::Approx(here.sd[j]).epsilon(0.12));
  }
  // each level of the first factor, in one of the shards alone, has noise of its own
  const Mat own = there.correlation.topLeftCorner(8, 8) - Mat::Identity(8, 8);
  CHECK(own.cwiseAbs().maxCoeff() < 0.08);
}

TEST_CASE("more shared effects than can be moved together are refused, and answers that do not fit") {
  const SparseData data = crossed(shape_of(60, 2), {6, 4});
  SparseShards shards(data, in_runs(60, 2), 2);
  Problem& problem = shards.elsewhere;
  problem.sparse.terms = {{30000, 1}};
  problem.sparse.columns = 30000;
  for (int k = 0; k < 20001; ++k) problem.shared.push_back(k);
  CHECK_THROWS_AS(with_shared_levels(problem, nullptr, Use::augmented), InvalidInput);
  GroupPosterior one, other;
  one.effect = one.effect_sd = Vec::Zero(3);
  other.effect = other.effect_sd = Vec::Zero(4);
  CHECK_THROWS_AS(one.join(other), InvalidInput);
}

TEST_CASE("the root is what stays, in its own order, however much is tied") {
  const SparseData data = crossed(shape_of(100, 1), {5, 4, 3});
  const Levels levels(data.view());
  const Graph graph = level_graph(data.view(), data.n(), levels);
  std::vector<char> stays(levels.weight.size(), 0);
  for (const int level : {1, 6, 7, 11}) stays[level] = 1;
  const SparsePattern pattern = pattern_before(graph, levels.weight, 1, stays);
  CHECK(pattern.leading == 8);
  CHECK(std::vector<int>(pattern.order.begin() + 8, pattern.order.end()) ==
        std::vector<int>{1, 6, 7, 11});
}
