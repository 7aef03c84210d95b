#include <doctest/doctest.h>

#include "chain/chains.hpp"
#include "fitting.hpp"
#include "linalg/dense.hpp"
#include "rows/large_levels.hpp"
#include "rows/make_source.hpp"
#include "rows/shards/group_file.hpp"
#include "shard_files.hpp"

using namespace bsvm_test;

namespace {

// Of 21 000 rows the first level has 9000 and another one 3000.
Data few_levels(Index q, Index p = 4) {
  Data out = large_data(q, 60, p);
  for (size_t i = 0; i < out.group.size(); ++i)
    out.group[i] = i % 7 < 3 ? 1 : i % 7 == 3 ? 31 : 1 + static_cast<int>(i % 60);
  return out;
}

std::vector<LargeLevel> levels_above(const Data& data, Index most) {
  std::vector<Index> rows(static_cast<size_t>(data.shape.groups), 0);
  for (int code : data.group) ++rows[static_cast<size_t>(code - 1)];
  std::vector<LargeLevel> out;
  for (size_t g = 0; g < rows.size(); ++g)
    if (rows[g] > most) out.push_back({static_cast<Index>(g), rows[g]});
  return out;
}

Problem in_pieces(const Data& data, Problem out) {
  out.large = levels_above(data, 2500);
  return out;
}

Problem in_pieces(const Data& data) { return in_pieces(data, usual_problem(data)); }

// Effects of nearly free variances.
Problem with_weak_prior(const Data& data) {
  return to_problem(data, usual_priors(data.shape.p), {normal_prior(1e10, {0}), normal_prior(1e10, {1})});
}

double apart(const Mat& a, const Mat& b) { return (a - b).norm() / a.norm(); }
double lower_apart(const Mat& a, const Mat& b) {
  return apart(a.triangularView<Eigen::Lower>(), b.triangularView<Eigen::Lower>());
}

// Two passes, the second of which knows a covariance.
void check_passes(const Data& data, Use use, double most_apart,
                  Problem (*make)(const Data&) = usual_problem) {
  const Problem whole = make(data), pieces = in_pieces(data, make(data));
  REQUIRE(pieces.large.size() == 2);
  Host host;
  const auto one = make_source(whole, use, 2), other = make_source(pieces, use, 2);
  const Coefficients side(whole), own(pieces);
  State a = side.start(Vec()), b = own.start(Vec());
  for (int pass = 0; pass < 3; ++pass) {
    CAPTURE(pass);
    RowSums x(side.layout()), y(own.layout());
    one->sums(a, x, host);
    other->sums(b, y, host);
    CHECK(y.value() == doctest::Approx(x.value()).epsilon(most_apart));
    CHECK(y.rows() == x.rows());
    CHECK(y.group_logdet() == doctest::Approx(x.group_logdet()).epsilon(most_apart));
    CHECK(y.group_decrement() == doctest::Approx(x.group_decrement()).epsilon(most_apart));
    CHECK(y.group_change() == doctest::Approx(x.group_change()).epsilon(1e3 * most_apart));
    CHECK((x.linear() - y.linear()).norm() < most_apart * x.weight().norm());
    CHECK(lower_apart(x.weight(), y.weight()) < most_apart);
    if (use == Use::augmented) CHECK(lower_apart(x.curvature(), y.curvature()) < most_apart);
    const auto next = use == Use::augmented ? side.propose(a, x, host)
                                            : side.propose_natural(a, x, host);
    for (auto* state : {&a, &b}) {
      state->begun() = 1;
      state->inverse_factor() = next.inverse_factor;
      state->step() = next.step;
      state->mean() += next.step;
    }
    const Mat moments = one->settle(a, Settle::advance, 1), others = other->settle(b, Settle::advance, 1);
    CHECK(apart(moments, others) < most_apart);
    one->keep();
    other->keep();
    const GroupPosterior p = one->groups(), q = other->groups();
    CHECK(apart(p.mean, q.mean) < most_apart);
    CHECK(apart(p.precision, q.precision) < most_apart);
    CHECK(apart(p.regression, q.regression) < most_apart);
  }
}

}  // namespace

TEST_CASE("levels that are cut into pieces give the sums of whole ones") {
  for (Index q : {1, 2, 3})
    for (const Use use : {Use::augmented, Use::expected}) {
      CAPTURE(q);
      CAPTURE(static_cast<int>(use));
      check_passes(few_levels(q), use, 2e-14);
    }
}

TEST_CASE("nothing cancels where a column is constant within large levels") {
  Data data = few_levels(1);
  for (size_t i = 0; i < data.group.size(); ++i) data.x(static_cast<Index>(i), 2) = data.group[i];
  check_passes(data, Use::augmented, 2e-14);
}

TEST_CASE("pieces in which multipliers do not vary are as good as others, whatever the prior") {
  Data data = few_levels(2);
  for (size_t i = 0; i < data.group.size(); ++i)
    data.z(static_cast<Index>(i), 1) = 1 + static_cast<double>(i / 3000);
  for (const Use use : {Use::augmented, Use::expected})
    check_passes(data, use, 2e-14, with_weak_prior);
}

TEST_CASE("sums of pieces are those of the level whatever meets first") {
  const Data data = few_levels(2);
  const Problem pieces = in_pieces(data);
  const Coefficients side(pieces);
  Noise noise(8);
  const auto part = [&](Index rows) {
    RowSums out(side.layout());
    for (const bool curvature : {false, true}) {
      const Vec numbers = noise.normals(6 * rows);
      const Mat z = Eigen::Map<const Mat>(numbers.data(), 2, rows),
                c = Eigen::Map<const Mat>(numbers.data() + 2 * rows, 4, rows);
      const Mat precision = z * z.transpose(), coupling = c * z.transpose();
      out.add_piece(curvature, 0, precision.data(), coupling.data());
      const Mat left = c - coupling * Factor(precision).inverse() * z;
      (curvature ? out.curvature() : out.weight()) += left * left.transpose();
    }
    return out;
  };
  const RowSums a = part(9), b = part(30), c = part(4);
  RowSums one = a, other = b;
  one += b;
  one += c;
  other += c;
  other += a;
  RowSums two = b, back = a;
  two += a;
  back += b;
  CHECK(same_bits(two.x, back.x));  // as threads may add them
  CHECK(lower_apart(one.weight(), other.weight()) < 1e-13);
  CHECK(lower_apart(one.curvature(), other.curvature()) < 1e-13);
  CHECK(apart(one.large_coupling(true), other.large_coupling(true)) < 1e-15);
}

TEST_CASE("large levels have the same bits in memory and in shards, whatever threads and sizes") {
  for (Index q : {1, 2}) {
    CAPTURE(q);
    const Data data = few_levels(q);
    const Problem whole = in_pieces(data);
    Options options;
    options.max_passes = 6;
    Host host;
    const auto memory = make_source(whole, Use::augmented, 1);
    const Fit here = fit(whole, *memory, options, host);
    for (Index lanes : {1, 2, 4})
      for (int threads : {1, 2})
        for (Index most : {Index{0}, Index{1} << 25}) {
          Shards shards(data, lanes, in_pieces);
          REQUIRE(shards.paths.size() > 2);
          const Problem there = elsewhere_of(whole, data, in_pieces);
          const auto source = with_large_levels(
              there, std::make_unique<ShardSource>(shards.view, shards.paths, shards.beside(),
                                                   Use::augmented, threads, most),
              Use::augmented);
          const Fit other = fit(there, *source, options, host);
          CHECK(same_bits(here.result.state.x, other.result.state.x));
          CHECK(here.result.bound == other.result.bound);
          CHECK(same_bits(here.outside.groups.mean, other.outside.groups.mean));
          CHECK(same_bits(here.outside.groups.precision, other.outside.groups.precision));
          CHECK(same_bits(here.outside.groups.regression, other.outside.groups.regression));
        }
  }
}

TEST_CASE("a file of group effects has each large level once, as the whole is") {
  const Data data = few_levels(2);
  const Problem whole = in_pieces(data);
  Options options;
  options.max_passes = 6;
  Host host;
  const auto memory = make_source(whole, Use::augmented, 1);
  fit(whole, *memory, options, host);
  Shards shards(data, 1, in_pieces);
  const Problem there = elsewhere_of(whole, data, in_pieces);
  auto rows = std::make_unique<ShardSource>(shards.view, shards.paths, shards.beside(),
                                            Use::augmented, 1);
  rows->groups_to(shards.folder().file("effects-"));
  const auto source = with_large_levels(there, std::move(rows), Use::augmented);
  fit(there, *source, options, host);
  const GroupPosterior here = memory->groups(), kept = source->groups();
  REQUIRE(kept.file);
  CHECK(kept.file->levels == data.shape.groups);
  CHECK(kept.mean.size() == 0);
  const GroupPosterior found = GroupFileReader(kept.file->path).read(range(0, data.shape.groups));
  CHECK(same_bits(here.mean, found.mean));
  CHECK(same_bits(here.precision, found.precision));
  CHECK(same_bits(here.regression, found.regression));
}

TEST_CASE("chains with large levels are those over shards, and up to rounding those of whole levels") {
  const auto sampler = Registry<Sampler>::make("gibbs", Params("gibbs", {{"mixing", 0}}));
  for (Index q : {1, 2}) {
    CAPTURE(q);
    const Data data = few_levels(q);
    const Problem plain = usual_problem(data), whole = in_pieces(data);
    SampleOptions options;
    options.draws = 4;
    options.burnin = 2;
    options.chains = 1;
    Host host;
    const SampleResult usual = run_chains(*sampler, plain, source_maker(plain), options, host);
    const SampleResult here = run_chains(*sampler, whole, source_maker(whole), options, host);
    CHECK(apart(usual.chains[0].coefficients, here.chains[0].coefficients) < 1e-8);
    CHECK(apart(usual.chains[0].effects, here.chains[0].effects) < 1e-8);
    Shards shards(data, 2, in_pieces);
    const Problem there = elsewhere_of(whole, data, in_pieces);
    const MakeDraws maker = [&](Use use, int threads) {
      return with_large_levels(there,
                               std::make_unique<ShardSource>(shards.view, shards.paths,
                                                             shards.beside(), use, threads),
                               use);
    };
    SampleOptions own = options;
    own.in_turn = true;
    own.checkpoint = shards.folder().file("checkpoint");
    own.draws = 2;
    run_chains(*sampler, there, maker, own, host);
    own.draws = 4;
    own.resume = true;
    const SampleResult other = run_chains(*sampler, there, maker, own, host);
    REQUIRE(other.resumed);
    CHECK(same_bits(here.chains[0].coefficients, other.chains[0].coefficients));
    CHECK(same_bits(here.chains[0].effects, other.chains[0].effects));
    CHECK(same_bits(here.chains[0].effect_mean, other.chains[0].effect_mean));
  }
}

TEST_CASE("whoever reads parts of rows once gets a large level as a whole") {
  const Data data = few_levels(2);
  for (Index lanes : {1, 2}) {
    Shards shards(data, lanes, in_pieces);
    const Partition order = cut(data.group.data(), data.shape.n, data.shape.groups, 4);
    Index row = 0, level = 0;
    each_shard(shards.view, shards.paths, [&](const Problem& part) {
      CHECK(part.first_row == row);
      CHECK(part.first_level == level);
      std::vector<int> all(static_cast<size_t>(part.n));
      std::iota(all.begin(), all.end(), 0);
      Mat z(2, part.n);
      part.multipliers->fill(all.data(), part.n, State(Layout()), z);
      const Vec unit = part.multipliers->unit();
      for (Index i = 0; i < part.n; ++i, ++row) {
        const Index from = order.order[static_cast<size_t>(row)];
        REQUIRE(part.y[i] == data.y[from]);
        REQUIRE(part.weight[i] == data.weight[from]);
        REQUIRE(part.group[i] + level == data.group[static_cast<size_t>(from)]);
        REQUIRE(z(1, i) == doctest::Approx(data.z(from, 1) * (z(1, 0) / data.z(order.order[static_cast<size_t>(part.first_row)], 1))));
      }
      level += part.groups;
    });
    CHECK(row == data.shape.n);
    CHECK(level == data.shape.groups);
  }
}
