#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "base/error.hpp"
#include "base/registry.hpp"
#include "block/block.hpp"
#include "kernel/points.hpp"
#include "model/state.hpp"

using namespace bsvm;

namespace {

constexpr Index kRows = 30, kVariables = 2;

// Two kernels: a squared exponential with two length scales, and a rational quadratic with one and a
// shape; free numbers move the first kernel's second length scale and the shape (`apart`), or all
// length scales together.
struct Term {
  Mat x = Mat::Random(kRows, kVariables + 1);  // and a multiplier
  Mat points[2] = {Mat::Random(7, kVariables), Mat::Random(5, kVariables)};
  Vec start[2] = {(Vec(2) << 0.3, -0.2).finished(), (Vec(2) << 0.1, 0.5).finished()};
  Vec moved_by[2];
  Index free;
  std::map<std::string, double> se = {{"variables", 2}, {"ard", 1}}, rational = {{"variables", 2},
                                                                              {"ard", 0}};

  Vec center;  // of the columns, if nothing is free

  // Nothing is free, and columns are less these means.
  explicit Term(Vec means) : free(0), center(std::move(means)) {
    for (Vec& none : moved_by) none = Vec::Zero(2);
  }

  explicit Term(bool apart) : free(apart ? 2 : 1) {
    moved_by[0] = apart ? Vec((Vec(2) << 0, 1).finished()) : Vec((Vec(2) << 1, 1).finished());
    moved_by[1] = apart ? Vec((Vec(2) << 0, 2).finished()) : Vec((Vec(2) << 1, 0).finished());
  }

  std::unique_ptr<Block> block(bool multiplied) const {
    std::vector<Params> parts;
    for (int k = 0; k < 2; ++k) {
      const auto view = [](const auto& m) { return Params::Array(m.data(), m.rows(), m.cols()); };
      const Params factor = k == 0 ? Params("se", se) : Params("rational", rational);
      parts.emplace_back("kernel", std::map<std::string, double>(),
                         std::map<std::string, Params::Array>{{"points", view(points[k])},
                                                              {"start", view(start[k])},
                                                              {"moved_by", view(moved_by[k])}},
                         std::vector<Params>{factor});
    }
    std::map<std::string, Params::Array> arrays;
    if (center.size() > 0)
      arrays.emplace("center", Params::Array(center.data(), center.size(), 1));
    auto out = Registry<Block>::make(
        "gp", Params("gp", {{"free", free}, {"multiplied", multiplied}}, arrays, parts));
    out->take(x.data(), kRows, kVariables + multiplied);
    out->find_parameters(1);
    return out;
  }

  // The columns (12, rows) by the features of each kernel.
  Mat features(Vec by, bool multiplied) const {
    Mat out(12, kRows);
    Host host;
    for (int k = 0; k < 2; ++k) {
      Vec theta = start[k];
      for (Index j = 0; j < theta.size(); ++j)
        if (moved_by[k][j] > 0) theta[j] += by[static_cast<Index>(moved_by[k][j]) - 1];
      const auto kernel = k == 0 ? Registry<Kernel>::make("se", Params("se", se))
                                 : Registry<Kernel>::make("rational", Params("rational", rational));
      const Features own(*kernel, points[k].transpose(), theta, host);
      own.fill(x.leftCols(kVariables).transpose(), out.middleRows(k == 0 ? 0 : 7, own.columns()));
    }
    if (multiplied) out = out * x.col(kVariables).asDiagonal();
    return out;
  }
};

State state_at(const Vec& free) {
  Layout layout;
  layout.parameters = 1 + free.size();
  State out(layout);
  out.parameters() << 9, free;
  return out;
}

Mat filled(const Block& block, const Vec& free) {
  std::vector<int> rows(kRows);
  for (int i = 0; i < kRows; ++i) rows[i] = i;
  Mat out(block.columns(), kRows);
  block.fill(rows.data(), kRows, state_at(free), out);
  return block.unit().cwiseInverse().asDiagonal() * out;
}

}  // namespace

TEST_CASE("a block of a Gaussian process has the features of its kernels at the State's numbers") {
  for (const bool apart : {true, false})
    for (const bool multiplied : {true, false}) {
      const Term term(apart);
      const auto block = term.block(multiplied);
      CHECK(block->columns() == 12);
      CHECK(block->free_size() == term.free);
      CHECK(block->varies());
      for (const double by : {0.0, 0.4, -0.7}) {
        const Vec free = Vec::LinSpaced(term.free, by, 2 * by);
        CHECK((filled(*block, free) - term.features(free, multiplied)).cwiseAbs().maxCoeff() <
              1e-15);
      }
    }
}

TEST_CASE("without free numbers a Gaussian process is known without a State, less given means") {
  for (const bool multiplied : {true, false}) {
    const Term term(Vec(Vec::LinSpaced(12, -0.3, 0.4)));
    const auto block = term.block(multiplied);
    CHECK(block->free_size() == 0);
    CHECK(!block->varies());
    std::vector<int> rows(kRows);
    for (int i = 0; i < kRows; ++i) rows[i] = i;
    Mat out(12, kRows);
    block->fill(rows.data(), kRows, State(Layout()), out);
    const Mat expected = term.features(Vec(), multiplied).colwise() - term.center;
    CHECK((block->unit().cwiseInverse().asDiagonal() * out - expected).cwiseAbs().maxCoeff() <
          1e-15);
  }
  CHECK_THROWS_AS(Term(Vec(Vec::Zero(11))).block(false), InvalidInput);
  Term moving(true);
  moving.center = Vec::Ones(12);
  CHECK_THROWS_AS(moving.block(false), InvalidInput);
}

TEST_CASE("rows of a Gaussian process come in the order asked for") {
  const Term term(true);
  const auto block = term.block(true);
  const Vec free = Vec::Constant(2, 0.2);
  const Mat all = block->unit().asDiagonal() * filled(*block, free);
  Mat out = Mat::Constant(14, 3, 7);
  const int rows[] = {4, 0, 4};
  block->fill(rows, 3, state_at(free), out.block(1, 0, 12, 3));
  for (int i = 0; i < 3; ++i)
    CHECK((out.block(1, i, 12, 1) - all.col(rows[i])).cwiseAbs().maxCoeff() < 3e-14);
  CHECK((out.row(0).array() == 7).all());
  CHECK((out.row(13).array() == 7).all());
  for (Index j = 0; j < 12; ++j) CHECK(std::exp2(std::ilogb(block->unit()[j])) == block->unit()[j]);
}

// More values than are kept.
TEST_CASE("threads that ask a Gaussian process for many values get the same as one alone") {
  const Term term(true);
  const auto block = term.block(false);
  constexpr int kValues = 60;
  const auto free = [](int k) { return Vec((Vec(2) << 0.01 * k, -0.02 * k).finished()); };
  std::vector<Mat> alone;
  for (int k = 0; k < kValues; ++k) alone.push_back(filled(*term.block(false), free(k)));
  std::vector<int> wrong(4, 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int k = 0; k < 3 * kValues; ++k) {
        const int value = (k * (t + 1)) % kValues;
        wrong[t] += filled(*block, free(value)) != alone[value];
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const int count : wrong) CHECK(count == 0);
}

namespace {

// A squared exponential that counts how often its covariance between all points was asked for.
class Counted : public Kernel {
 public:
  explicit Counted(const Params& params) : own_(Registry<Kernel>::make("se", params)) {}
  static std::atomic<int> asked;
  Index variables() const override { return own_->variables(); }
  Index size() const override { return own_->size(); }
  void values(const Mat& x, const Mat& v, ConstVecRef theta, Mat& out) const override {
    if (x.cols() == v.cols()) ++asked;
    own_->values(x, v, theta, out);
  }
  Vec pull(const Mat& x, const Mat& v, ConstVecRef theta, const Mat& weight) const override {
    return own_->pull(x, v, theta, weight);
  }
  Mat input_pull(const Mat& x, const Mat& v, ConstVecRef theta, const Mat& weight) const override {
    return own_->input_pull(x, v, theta, weight);
  }

 private:
  std::unique_ptr<Kernel> own_;
};
std::atomic<int> Counted::asked{0};
constexpr Index kCounted = 8;  // variables, and length scales

// Of the last values asked for, how many are still there?
int kept_of(Index points, int values) {
  const Mat at = 9 * Mat::Random(points, kCounted), x = Mat::Random(2, kCounted);
  const Vec start = Vec::Constant(kCounted, -0.1),
            moved_by = Vec::LinSpaced(kCounted, 1, kCounted);
  const auto view = [](const auto& m) { return Params::Array(m.data(), m.rows(), m.cols()); };
  const Params factor("counted", {{"variables", kCounted}, {"ard", 1}});
  std::vector<Params> parts;
  parts.emplace_back("kernel", std::map<std::string, double>(),
                     std::map<std::string, Params::Array>{{"points", view(at)},
                                                          {"start", view(start)},
                                                          {"moved_by", view(moved_by)}},
                     std::vector<Params>{factor});
  const auto block = Registry<Block>::make(
      "gp", Params("gp", {{"free", kCounted}, {"multiplied", 0}}, {}, parts));
  block->take(x.data(), 2, kCounted);
  block->find_parameters(1);
  const int rows[] = {0, 1};
  Mat out(points, 2);
  const auto ask = [&](int k) {
    const int before = Counted::asked;
    block->fill(rows, 2, state_at(Vec::Constant(kCounted, 1e-3 * k)), out);
    return Counted::asked == before;
  };
  for (int k = 0; k < values; ++k) CHECK_FALSE(ask(k));
  int kept = 0;
  while (kept < values && ask(values - 1 - kept)) ++kept;
  return kept;
}

}  // namespace

// Of eight numbers a pass may ask for 1 + 16 + 56 values.
TEST_CASE("a Gaussian process keeps the factors a pass asks for, as far as there is room") {
  const Register<Kernel, Counted> entry("counted");
  const int few = kept_of(10, 200);
  CHECK(few >= 73);
  CHECK(few < 200);
  const double room = kept_of(500, 130) * 500.0 * 500.0 * sizeof(double);
  CHECK(room <= 2e8);
  CHECK(room > 1.9e8);
}

TEST_CASE("a Gaussian process whose numbers don't fit its kernel is refused") {
  Term term(true);
  term.moved_by[0][1] = 3;
  CHECK_THROWS_AS(term.block(false), InvalidInput);
  Term other(true);
  other.start[1] = Vec::Zero(1);
  CHECK_THROWS_AS(other.block(false), InvalidInput);
  const Term good(true);
  const auto block = good.block(false);
  CHECK_THROWS_AS(block->take(good.x.data(), kRows, kVariables + 1), InvalidInput);
}
