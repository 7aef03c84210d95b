// One sweep of the sampler against dense algebra: with latent scales that are known, the
// draws of the coefficients have a Gaussian law that can be written down.
#include <doctest/doctest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>

#include "base/error.hpp"
#include "chain/sampler.hpp"
#include "hosts.hpp"
#include "rows/memory/memory_source.hpp"
#include "simulate.hpp"

using namespace bsvm_test;

namespace {

// Nothing random: a row of weight w has precision w / 2 and target 3 y, whatever f.
class Known : public Likelihood {
 public:
  bool supports(Use use) const override { return use == Use::drawn; }
  void terms(Use, const Eigen::Ref<const Arr>&, const Eigen::Ref<const Arr>&,
             const Eigen::Ref<const Arr>&, RowTerms&) const override {}
  void draw(const Eigen::Ref<const Arr>& y, const Eigen::Ref<const Arr>& f,
            const Eigen::Ref<const Arr>& weight, const RowDraws&, RowTerms& out) const override {
    const Index r = y.size();
    out.weight.head(r) = 0.5 * weight;
    out.curvature.head(r) = out.weight.head(r);
    out.slope.head(r) = out.weight.head(r) * (3 * y - f);
    out.value.head(r).setZero();
  }
};

struct Case {
  Data data;
  Problem problem;
  Mat design;  // (n, p + q m), the dense columns first
  Mat precision;
  Vec mean;
};

Case known_case(Index q) {
  Shape shape;
  shape.n = 60;
  shape.q = q;
  shape.groups = q > 0 ? 7 : 0;
  Case out{simulate(shape), Problem(), Mat(), Mat(), Vec()};
  std::vector<PriorSpec> group_priors;
  for (Index a = 0; a < q; ++a) group_priors.push_back(normal_prior(0.5 + a, {a}));
  out.problem = to_problem(out.data, {normal_prior(4, range(0, shape.p))}, group_priors);
  out.problem.likelihood.reset(new Known);
  const Index p = shape.p, m = shape.groups, n = shape.n;
  out.design = Mat::Zero(n, p + q * m);
  out.design.leftCols(p) = out.data.design();
  Vec prior = Vec::Constant(p + q * m, 0.25);
  for (Index a = 0; a < q; ++a)
    for (Index g = 0; g < m; ++g) prior[p + g * q + a] = 1 / (0.5 + a);
  for (Index i = 0; i < n; ++i)
    for (Index a = 0; a < q; ++a)
      out.design(i, p + (out.data.group[i] - 1) * q + a) = out.data.z(i, a);
  const Vec omega = 0.5 * out.data.weight;
  out.precision = out.design.transpose() * omega.asDiagonal() * out.design;
  out.precision.diagonal() += prior;
  const Vec target = 3 * out.data.y - out.data.offset;
  out.mean = out.precision.ldlt().solve(out.design.transpose() * omega.cwiseProduct(target));
  return out;
}

std::unique_ptr<Chain> chain_of(const Problem& problem, bool mixing, int chain = 0,
                                Index most_gathered = 1 << 22) {
  const auto sampler = Registry<Sampler>::make("gibbs", Params("gibbs", {{"mixing", mixing}}));
  return sampler->start(
      problem, [&](Use, int threads) {
        return std::make_unique<MemorySource>(problem, Use::drawn, threads, most_gathered);
      }, 1, 77, chain, 100);
}

Vec joined(const Vec& a, const Vec& b) {
  Vec out(a.size() + b.size());
  out << a, b;
  return out;
}

}  // namespace

TEST_CASE("the coefficients' conditional means are those of the dense system") {
  for (const Index q : {0, 1, 2}) {
    const Case c = known_case(q);
    const Index p = c.data.shape.p, rest = c.mean.size() - p;
    const auto chain = chain_of(c.problem, false);
    Host host;
    Draw draw;
    for (int k = 0; k < 5; ++k) {
      chain->sweep(host);
      chain->read(draw);
      CHECK((draw.expected - c.mean.head(p)).norm() < 1e-9);
      if (q == 0) continue;
      const Vec given = c.mean.tail(rest) -
                        c.precision.bottomRightCorner(rest, rest)
                            .ldlt()
                            .solve(c.precision.bottomLeftCorner(rest, p) *
                                   (draw.coefficients - c.mean.head(p)));
      CHECK((draw.expected_effects - given).norm() < 1e-9);
    }
  }
}

TEST_CASE("draws have the dense system's covariance") {
  for (const Index q : {0, 1, 2}) {
    const Case c = known_case(q);
    const auto chain = chain_of(c.problem, false);
    Host host;
    Draw draw;
    const Eigen::LLT<Mat> factor(c.precision);
    const Index size = c.mean.size();
    Mat square = Mat::Zero(size, size);
    Vec sum = Vec::Zero(size);
    const int draws = 20000;
    for (int k = 0; k < draws; ++k) {
      chain->sweep(host);
      chain->read(draw);
      // White noise if the law is right.
      const Vec white =
          factor.matrixU() * (joined(draw.coefficients, draw.effects) - c.mean);
      sum += white;
      square += white * white.transpose();
    }
    CHECK((sum / draws).cwiseAbs().maxCoeff() < 5 / std::sqrt(draws));
    CHECK((square / draws - Mat::Identity(size, size)).cwiseAbs().maxCoeff() <
          6 * std::sqrt(2.0 / draws));
  }
}

TEST_CASE("a saved chain goes on to the bit") {
  for (const bool mixing : {false, true}) {
    Shape shape;
    shape.q = 2;
    shape.groups = 9;
    const Data data = simulate(shape);
    const Problem problem = usual_problem(data);
    const auto whole = chain_of(problem, mixing), first = chain_of(problem, mixing),
               second = chain_of(problem, mixing);
    Host host;
    for (int k = 0; k < 30; ++k) whole->sweep(host);
    for (int k = 0; k < 11; ++k) first->sweep(host);
    second->restore(first->save());
    CHECK(second->sweeps() == 11);
    for (int k = 11; k < 30; ++k) second->sweep(host);
    CHECK(whole->save() == second->save());
  }
}

TEST_CASE("chains and seeds differ") {
  Shape shape;
  shape.q = 1;
  shape.groups = 9;
  const Data data = simulate(shape);
  const Problem problem = usual_problem(data);
  const auto a = chain_of(problem, true, 0), b = chain_of(problem, true, 1);
  Host host;
  a->sweep(host);
  b->sweep(host);
  CHECK(a->save() != b->save());
}

TEST_CASE("rows kept in working order and rows gathered anew give the same draws") {
  for (const Index q : {0, 2}) {
    Shape shape;
    shape.q = q;
    shape.groups = q > 0 ? 9 : 0;
    const Data data = simulate(shape);
    const Problem problem = usual_problem(data);
    const auto kept = chain_of(problem, true), anew = chain_of(problem, true, 0, 0);
    Host host;
    for (int k = 0; k < 10; ++k) {
      kept->sweep(host);
      anew->sweep(host);
    }
    CHECK(kept->save() == anew->save());
  }
}

TEST_CASE("a sweep interrupted anywhere has not been") {
  Shape shape;
  shape.q = 2;
  shape.groups = 9;
  const Data data = simulate(shape);
  const Problem problem = usual_problem(data);
  const auto whole = chain_of(problem, true);
  Host patient;
  for (int k = 0; k < 4; ++k) whole->sweep(patient);
  int interrupted = 0;
  for (int patience = 0; patience < 40; ++patience) {
    const auto cut = chain_of(problem, true);
    for (int k = 0; k < 3; ++k) cut->sweep(patient);
    ImpatientHost host(patience);
    try {
      cut->sweep(host);
    } catch (const Interrupted&) {
      ++interrupted;
      CHECK(cut->sweeps() == 3);
      cut->sweep(patient);
    }
    CHECK(cut->save() == whole->save());
  }
  CHECK(interrupted > 5);
}

TEST_CASE("separated classes give finite draws under a vague prior") {
  Shape shape;
  shape.n = 12;
  shape.p = 10;
  Data data = simulate(shape);
  data.y = data.x.col(1).array().sign().matrix();
  const Problem problem = to_problem(data, {normal_prior(1e8, {0}),
                                            ridge_prior(0.01, 0.01, range(1, 10))}, {});
  const auto chain = chain_of(problem, true);
  Host host;
  Draw draw;
  for (int k = 0; k < 20000; ++k) {
    chain->sweep(host);
    chain->read(draw);
    REQUIRE(draw.coefficients.allFinite());
    REQUIRE(draw.hyper.allFinite());
    REQUIRE(draw.hyper[0] > 0);
  }
}

// Rows that weigh nothing: two blocks have nothing to do with each other.
TEST_CASE("priors draw their variances independently of one another") {
  Shape shape;
  shape.n = 20;
  Data data = simulate(shape);
  data.weight.setConstant(1e-12);
  const Problem problem = to_problem(
      data, {ridge_prior(3, 2, {0}), ridge_prior(3, 2, {1}), ridge_prior(3, 2, {2})}, {});
  const auto chain = chain_of(problem, false);
  Host host;
  Draw draw;
  const int draws = 4000;
  Mat logs(draws, 3);
  for (int k = 0; k < draws; ++k) {
    chain->sweep(host);
    chain->read(draw);
    logs.row(k) = draw.hyper.array().log().transpose();
  }
  logs.rowwise() -= logs.colwise().mean().eval();
  const Mat covariance = logs.transpose() * logs;
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j < i; ++j)
      CHECK(std::abs(covariance(i, j)) < 0.1 * std::sqrt(covariance(i, i) * covariance(j, j)));
}
