#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "chain/chains.hpp"
#include "fitting.hpp"
#include "rows/make_source.hpp"
#include "shard_files.hpp"

using namespace bsvm_test;
namespace fs = std::filesystem;

namespace {

Options few_passes() {
  Options out;
  out.max_passes = 6;
  return out;
}

std::unique_ptr<Vec> number(double x) { return std::make_unique<Vec>(Vec::Constant(1, x)); }

std::vector<char> bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void put_bytes(const std::string& path, const std::vector<char>& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace

TEST_CASE("a tree of sums has the same bits in whatever order its leaves come") {
  Noise noise(3);
  for (Index leaves : {1, 2, 3, 5, 8, 13}) {
    const Vec values = noise.normals(leaves);
    std::vector<Index> order(leaves);
    std::iota(order.begin(), order.end(), Index{0});
    TreeSum<Vec> tree(leaves, Vec::Zero(1));
    double first = 0;
    for (int turn = 0; turn < 5; ++turn) {
      tree.start();
      for (Index leaf : order) {
        auto mine = tree.take();
        (*mine)[0] += values[leaf];
        tree.put(leaf, std::move(mine));
      }
      if (turn == 0) first = tree.total()[0];
      CHECK(tree.total()[0] == first);
      CHECK(first == doctest::Approx(values.sum()).epsilon(1e-12));
      std::rotate(order.begin(), order.begin() + 1 + leaves / 3 % leaves, order.end());
      std::reverse(order.begin(), order.begin() + leaves / 2);
    }
  }
}

TEST_CASE("neighbours are added first, so that parts can be added elsewhere") {
  // 1e16 + 1 + 1: from the left it loses both, by neighbours (of four) it keeps them
  const double values[] = {1e16, -1e16, 1, 1};
  TreeSum<Vec> tree(4, Vec::Zero(1));
  for (Index leaf : {3, 1, 0, 2}) tree.put(leaf, number(values[leaf]));
  CHECK(tree.total()[0] == 2);
  const double others[] = {1, 1e16, -1e16, 1};
  tree.start();
  for (Index leaf : {0, 1, 2, 3}) tree.put(leaf, number(others[leaf]));
  CHECK(tree.total()[0] == (1 + 1e16) + (-1e16 + 1));
}

TEST_CASE("a pass that was interrupted leaves nothing in the next") {
  TreeSum<Vec> tree(3, Vec::Zero(1));
  tree.put(1, number(1));
  tree.start();
  for (Index leaf : {0, 1, 2}) tree.put(leaf, number(1));
  CHECK(tree.total()[0] == 3);
}

TEST_CASE("shards give the bits of rows in memory, whatever their size, threads and states") {
  for (Index p : {3, 4})
   for (Index q : {0, 1, 2}) {
    CAPTURE(p);
    CAPTURE(q);
    const Data data = large_data(q, q > 0 ? 900 : 0, p);
    const Problem whole = usual_problem(data);
    Host host;
    MemorySource memory(whole, Use::augmented, 1), again(whole, Use::augmented, 1, 0);
    const Fit here = fit(whole, memory, few_passes(), host);
    const Fit gathered = fit(whole, again, few_passes(), host);
    CHECK(same_bits(here.result.state.x, gathered.result.state.x));
    CHECK(same_bits(here.outside.groups.mean, gathered.outside.groups.mean));
    for (Index lanes : {1, 2, 8})
      for (int threads : {1, 2})
        for (Index most : {Index{0}, Index{1} << 25}) {
          Shards shards(data, lanes);
          REQUIRE(shards.paths.size() > (lanes == 8 ? 1 : 2));
          ShardSource there(shards.view, shards.paths, shards.beside(), Use::augmented, threads,
                            most);
          const Fit other = fit(elsewhere_of(whole, data), there, few_passes(), host);
          CHECK(same_bits(here.result.state.x, other.result.state.x));
          CHECK(here.result.bound == other.result.bound);
          CHECK(same_bits(here.outside.groups.mean, other.outside.groups.mean));
          CHECK(same_bits(here.outside.groups.regression, other.outside.groups.regression));
        }
  }
}

TEST_CASE("shards give the bits of rows in memory to the mixture of Gaussians, too") {
  for (Index q : {0, 1}) {
    CAPTURE(q);
    const Data data = large_data(q, q > 0 ? 900 : 0);
    const Problem whole = usual_problem(data);
    const auto engine = Registry<Approximator>::make("gaussian", Params());
    const auto nodes = [&](const Problem& problem, const MakeSource& maker) {
      Host host;
      return engine->run(problem, maker, few_passes(), 1, host).nodes;
    };
    // Through a source that is not in memory either: with rows here the engine has shortcuts.
    const auto one = nodes(elsewhere_of(whole, data), [&](Use use, int threads) {
      return std::unique_ptr<RowSource>(new MemorySource(whole, use, threads));
    });
    Shards shards(data, 2);
    const auto other = nodes(elsewhere_of(whole, data), [&](Use use, int threads) {
      return std::unique_ptr<RowSource>(
          new ShardSource(shards.view, shards.paths, shards.beside(), use, threads, 1000));
    });
    REQUIRE(one.size() == other.size());
    for (size_t k = 0; k < one.size(); ++k) CHECK(same_bits(one[k].state.x, other[k].state.x));
  }
}

TEST_CASE("chains over shards are those over rows in memory, resumed ones too") {
  const auto sampler = Registry<Sampler>::make("gibbs", Params("gibbs", {{"mixing", 0}}));
  for (Index q : {0, 1, 2}) {
    CAPTURE(q);
    const Data data = large_data(q, q > 0 ? 900 : 0);
    const Problem whole = usual_problem(data);
    SampleOptions options;
    options.draws = 6;
    options.burnin = 2;
    options.chains = 2;
    Host host;
    const SampleResult here = run_chains(*sampler, whole, source_maker(whole), options, host);
    options.in_turn = true;
    for (Index lanes : {1, 8})
      for (Index most : {Index{0}, Index{1} << 25}) {
        Shards shards(data, lanes);
        const Problem there = elsewhere_of(whole, data);
        int opened = 0;
        const MakeDraws maker = [&](Use use, int threads) {
          const std::string beside = shards.beside() + std::to_string(++opened) + "-";
          return std::unique_ptr<DrawSource>(
              new ShardSource(shards.view, shards.paths, beside, use, threads, most));
        };
        SampleOptions own = options;
        own.threads = static_cast<int>(lanes == 1 ? 1 : 2);
        own.checkpoint = shards.folder().file("checkpoint");
        own.draws = 3;
        run_chains(*sampler, there, maker, own, host);
        own.draws = 6;
        own.resume = true;
        const SampleResult other = run_chains(*sampler, there, maker, own, host);
        REQUIRE(other.resumed);
        for (size_t k = 0; k < 2; ++k) {
          const ChainDraws &a = here.chains[k], &b = other.chains[k];
          CHECK(same_bits(a.coefficients, b.coefficients));
          CHECK(same_bits(a.hyper, b.hyper));
          CHECK(same_bits(a.effects, b.effects));
          CHECK(same_bits(a.effect_mean, b.effect_mean));
        }
      }
  }
}

TEST_CASE("chains over shards are refused the moves that look at rows") {
  const Data data = large_data(0, 0);
  Shards shards(data, 8);
  const Problem there = elsewhere_of(shards.whole(), data);
  const auto sampler = Registry<Sampler>::make("gibbs", Params("gibbs", {{"mixing", 1}}));
  Host host;
  const MakeDraws maker = [&](Use use, int threads) {
    return std::unique_ptr<DrawSource>(
        new ShardSource(shards.view, shards.paths, shards.beside(), use, threads));
  };
  CHECK_THROWS_AS(run_chains(*sampler, there, maker, SampleOptions(), host), InvalidInput);
}

TEST_CASE("files of states go with their source, and are not taken if they were changed") {
  const Data data = large_data(1, 900);
  Shards shards(data, 2);
  const auto files = [&] {
    return std::distance(fs::directory_iterator(shards.folder().path), fs::directory_iterator());
  };
  const auto before = files();
  {
    ShardSource source(shards.view, shards.paths, shards.beside(), Use::augmented, 1, 0);
    Host host;
    fit(elsewhere_of(shards.whole(), data), source, few_passes(), host);
    CHECK(files() == before + static_cast<long>(shards.paths.size()));
    std::vector<char> bytes = bytes_of(shards.beside() + "1");
    bytes[100] ^= 1;
    put_bytes(shards.beside() + "1", bytes);
    CHECK_THROWS_AS(source.keep(), InvalidInput);
  }
  CHECK(files() == before);
}

TEST_CASE("another source goes on with a part of the shards from the files of states it is told of") {
  const Data data = large_data(1, 900);
  Shards shards(data, 1);
  REQUIRE(shards.paths.size() > 5);
  const Coefficients side(shards.view.problem);
  const State state = side.start(Vec());
  const auto file = [&](const std::string& name) { return shards.folder().file(name); };
  Host host;
  const auto part = [&](Index first, Index last) {
    const auto start = shards.paths.begin();
    return ShardSource(shards.view, std::vector<std::string>(start + first, start + last), "",
                       Use::augmented, 1);
  };
  const Index all = std::min<Index>(7, static_cast<Index>(shards.paths.size()));
  ShardSource whole = part(0, all);
  RowSums sums(side.layout()), left(side.layout()), right(side.layout());
  whole.sums(state, sums, host);
  const Mat settled = whole.settle(state, Settle::advance, 0);
  {
    ShardSource one = part(0, 4), two = part(4, all);
    one.turn("", file("a-"), 10);
    two.turn("", file("a-"), 14);
    one.sums(state, left, host);
    two.sums(state, right, host);
    left += right;
    CHECK(same_bits(left.x, sums.x));
  }
  const std::vector<char> before = bytes_of(file("a-14"));
  for (int again = 0; again < 2; ++again) {  // a question that is asked twice
    ShardSource one = part(0, 4), two = part(4, all);
    one.turn(file("a-"), file("b-"), 10);
    two.turn(file("a-"), "", 14);
    const Mat total = one.settle(state, Settle::advance, 0) + two.settle(state, Settle::advance, 0);
    CHECK(total(0, 0) == settled(0, 0));
  }
  CHECK(bytes_of(file("a-14")) == before);
  CHECK(fs::exists(file("b-13")));
  CHECK_FALSE(fs::exists(file("b-14")));
  ShardSource lost = part(0, 4);
  lost.turn(file("c-"), file("d-"), 10);
  CHECK_THROWS_AS(lost.keep(), InvalidInput);
}

TEST_CASE("a file that is cut, changed, absent or of another version is no shard") {
  const Data data = large_data(1, 900);
  Shards shards(data, 2);
  const std::string path = shards.paths[1];
  const std::vector<char> good = bytes_of(path);
  ShardRows whole, rows;
  ShardFile(path).read(whole);
  CHECK(whole.shape.p == 4);
  // a bit of each part: magic number, shape, sums, codes, numbers, the last
  for (size_t at : {size_t{0}, size_t{9}, size_t{50}, size_t{70}, size_t{200}, good.size() / 2,
                    good.size() - 1}) {
    std::vector<char> bad = good;
    bad[at] ^= 4;
    put_bytes(path, bad);
    CHECK_THROWS_AS(ShardFile(path).read(rows), InvalidInput);
  }
  for (size_t size : {size_t{0}, size_t{20}, size_t{80}, good.size() - 8}) {
    put_bytes(path, std::vector<char>(good.begin(), good.begin() + static_cast<long>(size)));
    CHECK_THROWS_AS(ShardFile(path).read(rows), InvalidInput);
  }
  fs::remove(path);
  CHECK_THROWS_AS(ShardFile(path).read(rows), InvalidInput);
  CHECK_THROWS_AS(ShardFile(shards.folder().file("no/such")).write(whole.shape, whole.views),
                  InvalidInput);
}

TEST_CASE("shards begin where lanes do") {
  // without levels: at multiples of whole lanes
  const Index rows = lane_rows(4);
  const std::vector<Index> starts =
      shard_starts(std::vector<Index>(10 * rows + 5, 1), {}, 4, {4 * rows, 4});
  // cut by levels of one row, blocks have as many rows as without levels
  CHECK(starts == std::vector<Index>{0, 4 * rows, 8 * rows});
  const ShardSize size = shard_size(20, 22);
  CHECK(size.rows == size.lanes * lane_rows(20));
  CHECK((size.lanes & (size.lanes - 1)) == 0);
  CHECK(size.rows * 22 <= Index{1} << 23);
  CHECK(2 * size.rows * 22 > Index{1} << 23);
}

TEST_CASE("with long levels a shard has fewer lanes, and pieces of large levels begin shards") {
  const Index rows = lane_rows(4), most = most_level_rows(4, 1);
  const std::vector<Index> of_levels(8, 3 * rows);  // a lane each
  CHECK(shard_starts(of_levels, {}, 4, {4 * rows, 4}) ==
        std::vector<Index>{0, 6 * rows, 12 * rows, 18 * rows});
  CHECK(shard_starts(of_levels, {}, 4, {1, 4}).size() == 8);
  const std::vector<Index> starts =
      shard_starts({5, 10 * rows + 5, 5, 5}, {1}, 4, {2 * rows, 2});
  CHECK(starts == std::vector<Index>{0, 5 + rows, 5 + 3 * rows, 5 + 5 * rows, 5 + 7 * rows,
                                     5 + 9 * rows, 10 + 10 * rows});
  CHECK(most == shard_size(4, 7).rows);
}
