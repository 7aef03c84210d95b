// Runs of several chains: any number of threads, interrupted, resumed from a file.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>

#include "base/error.hpp"
#include "chain/chains.hpp"
#include "chain/checkpoint.hpp"
#include "chain/diagnosis.hpp"
#include "hosts.hpp"
#include "rows/memory/memory_source.hpp"
#include "simulate.hpp"

using namespace bsvm_test;

namespace {

struct Example {
  Data data;
  Problem problem;
};

Example example(std::uint64_t seed = 3) {
  Shape shape;
  shape.q = 1;
  shape.ones = true;
  shape.groups = 12;
  shape.seed = seed;
  Example out{simulate(shape), Problem()};
  out.problem = usual_problem(out.data);
  return out;
}

SampleOptions few_draws() {
  SampleOptions out;
  out.draws = 40;
  out.burnin = 10;
  out.thin = 2;
  out.chains = 3;
  out.seed = 5;
  return out;
}

SampleResult run(const Problem& problem, const SampleOptions& options, Host& host) {
  const auto sampler = Registry<Sampler>::make("gibbs", Params("gibbs", {{"mixing", 1}}));
  return run_chains(*sampler, problem, [&](Use, int threads) {
    return std::unique_ptr<DrawSource>(new MemorySource(problem, Use::drawn, threads));
  }, options, host);
}

SampleResult run(const Problem& problem, const SampleOptions& options) {
  Host host;
  return run(problem, options, host);
}

bool same(const SampleResult& a, const SampleResult& b, Index kept) {
  bool equal = a.chains.size() == b.chains.size();
  for (size_t k = 0; equal && k < a.chains.size(); ++k)
    for (const auto part : {&ChainDraws::coefficients, &ChainDraws::hyper, &ChainDraws::effects})
      equal = equal && (a.chains[k].*part).leftCols(kept) == (b.chains[k].*part).leftCols(kept);
  return equal;
}

// A file that is gone when the test ends.
struct File {
  std::string path = std::tmpnam(nullptr);
  ~File() { std::remove(path.c_str()); }
};

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void put(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

bool refused(const Problem& problem, const SampleOptions& options) {
  try {
    run(problem, options);
  } catch (const InvalidInput& error) {
    return error.argument() == "checkpoint";
  }
  return false;
}

// A chain without chance: after sweep t a coefficient of t, drawn around t / 2, an effect of t^2,
// drawn around -t, and the same two as a missing entry and its model.
class Counting : public Chain {
 public:
  Index sweeps() const override { return t_; }
  void read(Draw& draw) const override {
    const double t = static_cast<double>(t_);
    draw.coefficients = draw.hyper = draw.law = Vec::Constant(1, t);
    draw.expected = Vec::Constant(1, t / 2);
    draw.effects = draw.unknowns = Vec::Constant(1, t * t);
    draw.expected_effects = Vec::Constant(1, -t);
  }

 private:
  void visit(Archive& archive) override { archive.count(t_, kMostSweeps); }
  void make_sweep(Host&) override { ++t_; }
  Index t_ = 0;
};

class CountingSampler : public Sampler {
 public:
  Use use() const override { return Use::drawn; }
  std::unique_ptr<Chain> start(const Problem&, const MakeDraws&, int, std::uint64_t, int,
                               Index) const override {
    return std::make_unique<Counting>();
  }
};

}  // namespace

TEST_CASE("what is kept of a chain: every draw after the burn-in, and their means and squares") {
  SampleOptions options = few_draws();
  options.chains = 1;
  CountingSampler sampler;
  Host host;
  const SampleResult found =
      run_chains(sampler, Problem(), [](Use, int) { return std::unique_ptr<DrawSource>(); },
                 options, host);
  const ChainDraws& d = found.chains[0];
  CHECK(found.kept == 40);
  const Vec t = Vec::LinSpaced(40, 12, 90);  // a burn-in of 10, and every other sweep
  CHECK(d.coefficients.row(0).transpose() == t);
  CHECK(d.hyper.row(0).transpose() == t);
  CHECK(d.effects.row(0).transpose() == t.cwiseAbs2());
  CHECK(d.unknowns.row(0).transpose() == t.cwiseAbs2());
  CHECK(d.mean[0] == doctest::Approx(t.mean() / 2).epsilon(1e-12));
  CHECK(d.law[0] == doctest::Approx(t.mean()).epsilon(1e-12));
  CHECK(d.effect_mean[0] == doctest::Approx(-t.mean()).epsilon(1e-12));
  const Arr square = t.array().square();
  for (const auto& pair : {std::make_pair(d.effect_center[0], d.effect_square[0]),
                           std::make_pair(d.unknown_center[0], d.unknown_square[0])}) {
    CHECK(pair.first == doctest::Approx(square.mean()).epsilon(1e-12));
    CHECK(pair.second == doctest::Approx((square - square.mean()).square().sum()).epsilon(1e-12));
  }
}

TEST_CASE("draws do not depend on threads") {
  const Example m = example();
  SampleOptions options = few_draws();
  const SampleResult one = run(m.problem, options);
  for (int threads : {2, 3, 8}) {
    options.threads = threads;
    CHECK(same(one, run(m.problem, options), options.draws));
  }
  CHECK(one.kept == 40);
  CHECK_FALSE(one.interrupted);
}

TEST_CASE("an interrupted run has the first draws of a whole one") {
  const Example m = example();
  SampleOptions options = few_draws();
  const SampleResult whole = run(m.problem, options);
  ImpatientHost host(700);
  const SampleResult part = run(m.problem, options, host);
  CHECK(part.interrupted);
  REQUIRE(part.kept > 0);
  CHECK(part.kept < options.draws);
  CHECK(same(whole, part, part.kept));
}

TEST_CASE("a run goes on from its checkpoint to the bit") {
  const Example m = example();
  SampleOptions options = few_draws();
  const SampleResult whole = run(m.problem, options);
  for (const bool keep : {true, false}) {
    File file;
    options.checkpoint = file.path;
    options.keep_effects = keep;
    options.resume = true;  // without a file: a fresh start
    ImpatientHost host(500);
    CHECK(run(m.problem, options, host).interrupted);
    options.seed = 99;  // the file's counts
    const SampleResult resumed = run(m.problem, options);
    CHECK(resumed.resumed);
    if (keep) CHECK(same(whole, resumed, options.draws));
    CHECK((whole.chains[1].effect_mean - resumed.chains[1].effect_mean).norm() == 0);
    options.seed = 5;
  }
}

TEST_CASE("more draws continue a finished run") {
  const Example m = example();
  SampleOptions options = few_draws();
  const SampleResult whole = run(m.problem, options);
  File file;
  options.checkpoint = file.path;
  options.draws = 25;
  run(m.problem, options);
  options.draws = 40;
  options.resume = true;
  CHECK(same(whole, run(m.problem, options), 40));
}

TEST_CASE("fewer draws than the file has are its first") {
  const Example m = example();
  SampleOptions options = few_draws();
  File file;
  options.checkpoint = file.path;
  const SampleResult whole = run(m.problem, options);
  options.resume = true;
  options.draws = 15;
  const SampleResult fewer = run(m.problem, options);
  CHECK(fewer.kept == 15);
  CHECK(same(whole, fewer, 15));
  options.draws = 40;
  CHECK(same(whole, run(m.problem, options), 40));
}

TEST_CASE("a checkpoint that can't be written costs no draw, if the folder was there at first") {
  const Example m = example();
  SampleOptions options = few_draws();
  const SampleResult whole = run(m.problem, options);
  options.checkpoint = "/no such folder/file";
  CHECK(refused(m.problem, options));
  File folder;
  std::filesystem::create_directory(folder.path);
  options.checkpoint = folder.path + "/file";
  class Remover : public Host {
   public:
    explicit Remover(std::string path) : path_(std::move(path)) {}
    bool interrupted() override {
      std::filesystem::remove_all(path_);
      return false;
    }
    std::string path_;
  } host(folder.path);
  const SampleResult unwritten = run(m.problem, options, host);
  CHECK(unwritten.unwritten != "");
  CHECK(same(whole, unwritten, 40));
}

TEST_CASE("checkpoints that can't be gone on from are refused and left as they are") {
  const Example m = example();
  SampleOptions options = few_draws();
  File file;
  options.checkpoint = file.path;
  options.fingerprint = 1;
  run(m.problem, options);
  CHECK(refused(m.problem, options));  // it exists, and resume is not asked for
  options.resume = true;
  const std::string good = contents(file.path);
  SampleOptions other = options;
  other.fingerprint = 2;
  CHECK(refused(m.problem, other));
  other = options;
  other.thin = 3;
  CHECK(refused(m.problem, other));
  for (size_t at = 0; at < good.size(); at += 1 + good.size() / 50) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 4);
    put(file.path, bad);
    CHECK(refused(m.problem, options));
    put(file.path, good.substr(0, at));
    CHECK(refused(m.problem, options));
    CHECK(contents(file.path) == good.substr(0, at));
  }
}

// ---- how long chains are, where they stop by themselves ------------------------------------------

namespace {

constexpr Index kFirst = 300;

// A chain that "draws" a column of given hyper-parameters in each sweep.
class Given : public Counting {
 public:
  explicit Given(const Mat& hyper) : hyper_(hyper) {}
  void read(Draw& draw) const override {  // before the first sweep, too
    draw.hyper = hyper_.col(std::max<Index>(sweeps() - 1, 0));
  }

 private:
  Mat hyper_;
};

// How many of two times kFirst draws are made.
Index kept(const std::vector<Mat>& hyper, const std::vector<ShownCovariance>& covariances,
           const std::vector<Index>& numbers) {
  SampleOptions options;
  options.draws = kFirst;
  options.most = 2 * kFirst;
  options.burnin = 0;
  options.covariances = covariances;
  options.numbers = numbers;
  Host host;
  return run_chains([&](int, std::uint64_t, int chain) { return std::make_unique<Given>(hyper[chain]); },
                    options, host).kept;
}

// Of the first draws of row k.
double rhat(const std::vector<Mat>& hyper, Index k, double (*shown)(double)) {
  Mat draws(kFirst, 4);
  for (Index chain = 0; chain < 4; ++chain)
    draws.col(chain) = hyper[chain].row(k).head(kFirst).unaryExpr(shown);
  return diagnose(draws).rhat;
}

double as_is(double x) { return x; }
double root(double x) { return std::sqrt(x); }
double logarithm(double x) { return 0.5 * std::log(x); }
double share(double x) { return 1 / (1 + std::sqrt(x)); }

}  // namespace

TEST_CASE("chains that agree on a covariance go on if its correlation differs") {
  // Signs of a correlation are random in all. Its size is one half in the first two chains, and
  // larger in two thirds of the draws of the others; sizes of covariances have the same law.
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform;
  const auto variance = [](double u) { return std::exp(4 * std::min(0.99, std::max(0.01, u))); };
  std::vector<Mat> hyper(4, Mat::Ones(3, 2 * kFirst));
  for (int chain = 0; chain < 4; ++chain)
    for (Index t = 0; t < 2 * kFirst; ++t) {
      const double u = uniform(random), moved = chain < 2 ? u : std::fmod(u + 1.0 / 3, 1.0);
      hyper[chain](0, t) = variance(u);
      hyper[chain](1, t) = (uniform(random) < 0.5 ? -0.5 : 0.5) * std::sqrt(variance(moved));
    }
  REQUIRE(rhat(hyper, 0, as_is) < 1.01);
  REQUIRE(rhat(hyper, 0, root) < 1.01);
  REQUIRE(rhat(hyper, 1, as_is) < 1.01);
  CHECK(kept(hyper, {}, {}) == kFirst);
  CHECK(kept(hyper, {{0, 1}, {2, 1}}, {}) == kFirst);
  CHECK(kept(hyper, {{0, 2}}, {}) > kFirst);
}

// Draws whose chains agree on the number's root, but not quite on the form.
template <class Form>
std::vector<Mat> differing_in(Form form) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal;
  std::vector<Mat> hyper(4, Mat(1, 2 * kFirst));
  for (int trial = 0; trial < 10000; ++trial) {
    for (Mat& chain : hyper) {
      double z = normal(random);
      for (Index t = 0; t < 2 * kFirst; ++t) {
        z = 0.45 * z + std::sqrt(1 - 0.45 * 0.45) * normal(random);
        chain(0, t) = std::exp(6 * z);
      }
    }
    if (rhat(hyper, 0, root) <= 1.01 && rhat(hyper, 0, form) > 1.01) return hyper;
  }
  FAIL("no such draws");
  return hyper;
}

TEST_CASE("chains go on if a number differs in a form in which it is read, or as it is") {
  for (const auto form : {logarithm, share}) {
    const std::vector<Mat> hyper = differing_in(form);
    CHECK(kept(hyper, {{0, 1}}, {}) == kFirst);
    CHECK(kept(hyper, {{0, 1}}, {0}) > kFirst);
  }
  CHECK(kept(differing_in(as_is), {{0, 1}}, {}) > kFirst);
}

TEST_CASE("a number that varies by rounding alone keeps no chain") {
  std::vector<Mat> hyper(4, Mat::Constant(1, 2 * kFirst, 1e-20));
  for (Index t = 0; t < 2 * kFirst; t += 3) hyper[t % 4](0, t) = 2e-20;
  CHECK(kept(hyper, {}, {}) == kFirst);
}
