// Which coefficients are in: against dense algebra over all subsets, and how often each is visited.
#include <doctest/doctest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <functional>

#include "base/error.hpp"
#include "gibbs/active_set.hpp"
#include "hosts.hpp"
#include "simulate.hpp"

using namespace bsvm_test;

namespace {

// Known equations: correlated columns, an intercept that is always in among them.
class Known : public Equations {
 public:
  Known(Index p, std::uint64_t seed) {
    Noise noise(seed);
    const Index n = 3 * p;
    Mat x(n, p);
    const Vec common = noise.normals(n);
    for (Index j = 0; j < p; ++j) x.col(j) = noise.normals(n) + 0.8 * common;
    a = x.transpose() * noise.normals(n).cwiseAbs().asDiagonal() * x;
    a.diagonal().array() += 0.3;
    h = x.transpose() * (0.25 * noise.normals(n) + 0.1 * common);
  }
  const Vec& linear() const override { return h; }
  Vec diagonal() const override { return a.diagonal(); }
  Mat columns(const std::vector<Index>& which) const override {
    Mat out(a.rows(), static_cast<Index>(which.size()));
    for (size_t k = 0; k < which.size(); ++k) out.col(static_cast<Index>(k)) = a.col(which[k]);
    return out;
  }
  Mat a;
  Vec h;
};

constexpr double kPrecision = 0.3;

std::vector<Candidate> candidates(Index m, double log_odds = -0.4) {
  std::vector<Candidate> out;
  for (Index k = 0; k < m; ++k)
    out.push_back({k + 1, log_odds + 0.1 * static_cast<double>(k), kPrecision, k % 3 == 1});
  return out;
}

// log p(g) by dense algebra; g (m) of the candidates, column 0 always in.
double log_model(const Known& known, const std::vector<Candidate>& all,
                 const std::vector<bool>& g) {
  std::vector<Index> in{0};
  double prior = 0;
  for (size_t k = 0; k < g.size(); ++k)
    if (g[k]) {
      in.push_back(all[k].column);
      prior += all[k].log_odds + 0.5 * std::log(all[k].precision);
    }
  const Index size = static_cast<Index>(in.size());
  Mat own(size, size);
  Vec h(size);
  for (Index i = 0; i < size; ++i) {
    h[i] = known.h[in[i]];
    for (Index j = 0; j < size; ++j) own(i, j) = known.a(in[i], in[j]);
  }
  const Eigen::LLT<Mat> factor(own);
  const Mat l = factor.matrixL();
  return prior - l.diagonal().array().log().sum() + 0.5 * h.dot(factor.solve(h));
}

std::vector<bool> state_of(const ActiveSet& active_set) {
  std::vector<bool> out;
  for (const Candidate& candidate : active_set.candidates()) out.push_back(candidate.in);
  return out;
}

size_t number_of(const ActiveSet& active_set) {
  size_t out = 0, bit = 1;
  for (const Candidate& candidate : active_set.candidates()) {
    if (candidate.in) out += bit;
    bit *= 2;
  }
  return out;
}

// The probabilities of all 2^m models.
Vec enumerate(const Known& known, const std::vector<Candidate>& all) {
  const size_t models = size_t{1} << all.size();
  Vec out(models);
  for (size_t model = 0; model < models; ++model) {
    std::vector<bool> g;
    for (size_t k = 0; k < all.size(); ++k) g.push_back(model >> k & 1);
    out[model] = log_model(known, all, g);
  }
  out = (out.array() - out.maxCoeff()).exp();
  return out / out.sum();
}

using Move = std::function<void(ActiveSet&, Draws&)>;

// The largest z of a visited model's frequency or an inclusion's, by batches.
double worst_z(const Known& known, const std::vector<Candidate>& all, const Vec& exact,
               const Move& move, std::uint64_t seed) {
  constexpr int batches = 50, size = 2000;
  const Index m = static_cast<Index>(all.size());
  Host host;
  ActiveSet active_set(known, {0}, all, host);
  Draws random({seed, 0, 1}, Purpose::dense, 1);
  for (int k = 0; k < 200; ++k) move(active_set, random);
  Mat counts = Mat::Zero(exact.size() + m, batches);
  for (int k = 0; k < batches * size; ++k) {
    move(active_set, random);
    const size_t model = number_of(active_set);
    counts(static_cast<Index>(model), k / size) += 1.0 / size;
    for (Index j = 0; j < m; ++j)
      counts(exact.size() + j, k / size) += (model >> j & 1) * (1.0 / size);
  }
  Vec want(exact.size() + m);
  want.head(exact.size()) = exact;
  want.tail(m).setZero();
  for (Index model = 0; model < exact.size(); ++model)
    for (Index j = 0; j < m; ++j)
      if (model >> j & 1) want[exact.size() + j] += exact[model];
  double worst = 0;
  for (Index k = 0; k < want.size(); ++k) {
    if (want[k] < 0.003) continue;  // visited seldom: the normal law is no guide
    const double mean = counts.row(k).mean();
    const double spread = std::sqrt((counts.row(k).array() - mean).square().sum() /
                                    (batches - 1.0) / batches);
    worst = std::max(worst, std::abs(mean - want[k]) / spread);
  }
  return worst;
}

void scan(ActiveSet& active_set, Draws& random) { active_set.scan(random); }
void scan_and_swap(ActiveSet& active_set, Draws& random) {
  active_set.scan(random);
  active_set.swap(random);
}

}  // namespace

TEST_CASE("taking coefficients in and out: log ratios are those of dense algebra") {
  const Index m = 12;
  const Known known(m + 1, 5);
  Host host;
  ActiveSet active_set(known, {0}, candidates(m), host);
  Noise noise(3);
  for (int step = 0; step < 300; ++step) {
    for (Index k = 0; k < m; ++k) {
      std::vector<bool> with = state_of(active_set), without = with;
      with[k] = true;
      without[k] = false;
      const double want = log_model(known, active_set.candidates(), with) -
                          log_model(known, active_set.candidates(), without);
      CHECK(active_set.log_ratio(k) == doctest::Approx(want).epsilon(1e-9));
    }
    active_set.flip(noise.below(m));
  }
}

TEST_CASE("the mean and the covariance of what is in are those of dense algebra") {
  const Index m = 9, p = m + 1;
  const Known known(p, 8);
  Host host;
  ActiveSet active_set(known, {0}, candidates(m), host);
  Noise noise(4);
  for (int step = 0; step < 40; ++step) {
    active_set.flip(noise.below(m));
    Mat padded = Mat::Identity(p, p);  // A_g, and the identity where nothing is in
    std::vector<bool> in(p, false);
    in[0] = true;
    for (const Candidate& candidate : active_set.candidates()) in[candidate.column] = candidate.in;
    Vec h = Vec::Zero(p);
    for (Index i = 0; i < p; ++i) {
      if (!in[i]) continue;
      h[i] = known.h[i];
      for (Index j = 0; j < p; ++j)
        if (in[j]) padded(i, j) = known.a(i, j);
    }
    const Mat covariance = padded.inverse();
    const Vec mean = active_set.solve(Vec::Zero(p));
    CHECK((mean - covariance * h).norm() < 1e-9);
    Mat root(p, p);  // its columns: what each noise adds
    for (Index j = 0; j < p; ++j) root.col(j) = active_set.solve(Vec::Unit(p, j)) - mean;
    Mat seen = root * root.transpose();
    for (Index j = 0; j < p; ++j)
      if (!in[j]) seen(j, j) += 1;
    CHECK((seen - covariance).norm() < 1e-9);
    for (Index j = 0; j < p; ++j)
      if (!in[j]) CHECK(mean[j] == 0);
  }
}

TEST_CASE("scans and swaps visit all 2^10 models as often as enumeration says") {
  const Index m = 10;
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Known known(m + 1, seed);
    const std::vector<Candidate> all = candidates(m);
    const Vec exact = enumerate(known, all);
    for (const Move& move : {Move(scan), Move(scan_and_swap)})
      CHECK(worst_z(known, all, exact, move, seed) < 5);
    // A slab's precision that is off by a fifth does not pass.
    std::vector<Candidate> wrong = all;
    for (Candidate& candidate : wrong) candidate.precision *= 1.2;
    CHECK(worst_z(known, all, enumerate(known, wrong), Move(scan_and_swap), seed) > 5);
  }
}

TEST_CASE("swaps alone stay among models of a size, and visit these as often as they should") {
  const Index m = 6;
  const Known known(m + 1, 4);
  const std::vector<Candidate> all = candidates(m);
  Vec exact = enumerate(known, all);
  const auto size_of = [](Index model) { return __builtin_popcountll(model); };
  for (Index model = 0; model < exact.size(); ++model)
    if (size_of(model) != 2) exact[model] = 0;
  exact /= exact.sum();
  const Move move = [](ActiveSet& active_set, Draws& random) { active_set.swap(random); };
  CHECK(worst_z(known, all, exact, move, 9) < 5);
}

// Of two columns that are one the second adds its prior's precision only.
TEST_CASE("columns that repeat others do no harm") {
  Known known(5, 6);
  known.a = 1e4 * (known.a - kPrecision * Mat::Identity(5, 5)).eval();
  known.h *= 1e4;
  known.a.row(4) = known.a.row(3).eval();
  known.a.col(4) = known.a.col(3).eval();
  known.h[4] = known.h[3];
  known.a.diagonal().array() += kPrecision;
  const double own = known.a(3, 3) - kPrecision;
  for (Index j : {1, 2}) {  // alone with the pair
    known.a.row(j).setZero();
    known.a.col(j).setZero();
    known.a(j, j) = 1;
    known.h[j] = 0;
  }
  known.a.row(0).setZero();
  known.a.col(0).setZero();
  known.a(0, 0) = 1;
  Host host;
  ActiveSet active_set(known, {0}, candidates(4, 0), host);
  for (Index k = 0; k < 4; ++k)
    if (active_set.candidates()[k].in) active_set.flip(k);
  active_set.flip(2);
  // A_kk less its regression on the twin: D (2 S + D) / (S + D).
  const double d = kPrecision * (2 * own + kPrecision) / (own + kPrecision);
  const double r = known.h[4] * kPrecision / (own + kPrecision);
  const double want = active_set.candidates()[3].log_odds +
                      0.5 * (std::log(kPrecision / d) + r * r / d);
  CHECK(active_set.log_ratio(3) == doctest::Approx(want).epsilon(1e-7));
}

TEST_CASE("an interrupt leaves a scan") {
  const Known known(11, 2);
  ImpatientHost host(3);
  ActiveSet active_set(known, {0}, candidates(10), host);
  Draws random({1, 0, 1}, Purpose::dense, 1);
  CHECK_THROWS_AS(active_set.scan(random), Interrupted);
}
