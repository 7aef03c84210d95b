#include <doctest/doctest.h>

#include <cstdio>

#include "chain/chains.hpp"
#include "factor_data.hpp"
#include "factors/variables_pass.hpp"

using namespace bsvm_test;

namespace {

FactorModel some_model(const std::string& likelihood, bool local, bool each, bool missing,
                       bool turned = false) {
  FactorKind kind{likelihood, 12, 300, 2};
  kind.local = local;
  kind.each = each;
  kind.missing = missing;
  kind.turned = turned;
  return plain_factors(kind, 9, 11);
}

}  // namespace

TEST_CASE("factors: a chain goes on from what was saved, to the bit") {
  for (const bool turned : {false, true})
    for (const bool local : {false, true}) {
      if (turned && local) continue;
      const FactorModel model = some_model("hinge_normalized", local, local, local, turned);
      const SharedFactors shared(model);
      const auto chain = make_factors_chain(shared, 1, 9, 2);
      const auto again = make_factors_chain(shared, 1, 9, 2);
      said(*chain, 4);
      again->restore(chain->save());
      CHECK(same(said(*chain, 0), said(*again, 0)));
      CHECK(same(said(*chain, 3), said(*again, 3)));
    }
}

TEST_CASE("factors: threads and chunks of variables do not change a bit") {
  const FactorModel model = some_model("hinge", true, true, true);
  const SharedFactors shared(model);
  const auto one = make_factors_chain(shared, 1, 9, 1), three = make_factors_chain(shared, 3, 9, 1);
  CHECK(same(said(*one, 3), said(*three, 3)));
  Host host;
  const VariablesPass::Given given{Vec::Ones(3), 1.2, 1};
  std::vector<VariableSums> seen;
  std::vector<Mat> drawn;
  for (const Index together : {1, 2, 16}) {
    VariablesPass pass(shared, together);
    seen.push_back(pass.draw(shared.start, given, {1, 0, 1}, 2, host));
    drawn.push_back(pass.b());
    const VariableSums later = pass.sums();
    CHECK((later.linear.array() == seen.back().linear.array()).all());
    CHECK((later.moments.array() == seen.back().moments.array()).all());
  }
  for (size_t k = 1; k < seen.size(); ++k) {
    CHECK((drawn[k].array() == drawn[0].array()).all());
    CHECK((seen[k].linear.array() == seen[0].linear.array()).all());
    CHECK(seen[k].residual == seen[0].residual);
  }
}

// Without a mean of the scores to see, so that sums are known by matrix algebra.
TEST_CASE("factors: sums over variables and rows by matrix algebra, with gaps") {
  FactorModel model = some_model("hinge", true, true, true);
  model.x.col(3).head(9).setConstant(kMissing);  // most of a variable
  model.x.row(5).tail(290).setConstant(kMissing);  // most of a row
  const SharedFactors shared(model);
  const auto chain = make_factors_chain(shared, 1, 2, 0);
  Host host;
  for (int k = 0; k < 2; ++k) chain->sweep(host);
  Vec whole;
  chain->read_seldom(whole);
  Draw draw;
  chain->read(draw);
  const Index p = model.p();
  const Eigen::Map<const Mat> b(whole.data(), p, 3);
  const Mat a = b.rightCols(2);
  const Vec mu = b.col(0), psi = whole.tail(p), beta = draw.coefficients.segment(1, 2);
  for (Index n = 0; n < model.n(); ++n) {
    Mat precision = Mat::Identity(2, 2);
    Vec linear = Vec::Zero(2);
    for (Index i = 0; i < p; ++i)
      if (!std::isnan(model.x(n, i))) {
        precision += psi[i] * a.row(i).transpose() * a.row(i);
        linear += psi[i] * (model.x(n, i) - mu[i]) * a.row(i).transpose();
      }
    const Vec mean = Factor(precision).inverse() * linear;
    CHECK(std::abs(draw.unknowns[n] - draw.coefficients[0] - mean.dot(beta)) < 1e-9);
    CHECK(std::abs(draw.law[n] - mean[0]) < 1e-9);
  }
  // the classifier that a draw implies, of a complete row
  const double offset = draw.hyper[draw.hyper.size() - 1];
  const double by_variables = draw.effects.dot(shared.x().row(10)) + offset;
  CHECK(shared.place[10] < 0);
  CHECK(std::abs(by_variables + draw.coefficients[0] - draw.unknowns[10]) < 1e-9);
}

TEST_CASE("factors: the reduced form's loadings are those that its sums are of") {
  const FactorModel model = some_model("hinge_normalized", false, false, false, true);
  const SharedFactors shared(model);
  const auto chain = make_factors_chain(shared, 1, 2, 0);
  Host host;
  for (int k = 0; k < 3; ++k) chain->sweep(host);
  Vec whole;
  chain->read_seldom(whole);
  Draw draw;
  chain->read(draw);
  const Index p = model.p();
  const Eigen::Map<const Mat> b(whole.data(), p, 3);
  const Mat a = b.rightCols(2);
  const double psi = whole[whole.size() - 1];
  const Mat s = Factor(Mat(psi * a.transpose() * a + Mat::Identity(2, 2))).inverse();
  const Vec beta = draw.coefficients.segment(1, 2), implied = psi * a * (s * beta);
  CHECK((implied - draw.effects).cwiseAbs().maxCoeff() < 1e-9);
  const double offset = -b.col(0).dot(implied);
  CHECK(std::abs(offset - draw.hyper[draw.hyper.size() - 1]) < 1e-9);
  const Vec links = (model.x * implied).array() + offset + draw.coefficients[0];
  CHECK((links - draw.unknowns).cwiseAbs().maxCoeff() < 1e-9);
  CHECK(std::abs(beta.dot(s * beta) - draw.hyper[draw.hyper.size() - 4]) < 1e-9);
}

TEST_CASE("factors: odd data give finite draws") {
  for (const std::string likelihood : {"hinge", "hinge_normalized", "normal", "eps_insensitive"})
    for (const bool local : {false, true}) {
      FactorKind kind{likelihood, 8, 1, 3};  // one variable, more factors
      kind.local = kind.each = local;
      FactorModel one = plain_factors(kind, 2, 6);
      if (one.likelihood->free_size() == 0) one.y.head(2) << 1, -1;  // one row a class
      kind.variables = 5;
      FactorModel constant = plain_factors(kind, 8, 6);
      constant.x.col(2).setZero();
      constant.x.col(3).setConstant(kMissing);
      constant.x.row(4).setConstant(kMissing);
      FactorModel alone = plain_factors(kind, 8, 6);  // nothing of f is left over
      alone.feedback = false;
      kind.factors = 0;
      FactorModel none = plain_factors(kind, 8, 6);
      for (const FactorModel* model : {&one, &constant, &alone, &none}) {
        const SharedFactors shared(*model);
        const auto chain = make_factors_chain(shared, 1, 4, 1);
        CHECK(said(*chain, 50).allFinite());
      }
    }
}

TEST_CASE("factors: mean scores decide without feedback") {
  FactorModel model = some_model("hinge_normalized", false, false, false);
  FactorModel other = some_model("hinge_normalized", false, false, false);
  model.feedback = other.feedback = false;
  for (Index n = 0; n < 9; ++n) other.y[n] *= n % 2 == 0 ? -1 : 1;
  const SharedFactors first(model), second(other);
  const auto one = make_factors_chain(first, 1, 5, 0), two = make_factors_chain(second, 1, 5, 0);
  said(*one, 3);
  said(*two, 3);
  Vec a, b;
  one->read_seldom(a);
  two->read_seldom(b);
  CHECK(same(a, b));  // loadings do not see the response
  Draw draw;
  one->read(draw);
  CHECK(draw.hyper[draw.hyper.size() - 4] == 0);  // leftover
  CHECK(draw.hyper[draw.hyper.size() - 2] == 1);  // determinacy
}

TEST_CASE("factors: names of numbers are as many as the numbers") {
  for (const bool local : {false, true}) {
    FactorKind kind{local ? "normal" : "hinge", 6, 4, 2};
    kind.local = local;
    if (local) kind.beta = "bridge";
    const FactorModel model = plain_factors(kind, 5, 3);
    const SharedFactors shared(model);
    Draw draw;
    make_factors_chain(shared, 1, 4, 1)->read(draw);
    CHECK(static_cast<size_t>(draw.hyper.size()) == factor_numbers(model).size());
  }
}

TEST_CASE("factors: runs keep every so many loadings, and go on from a file to the bit") {
  const FactorModel model = some_model("hinge", true, false, true);
  const SharedFactors shared(model);
  const auto make = [&](int threads, std::uint64_t seed, int chain) {
    return make_factors_chain(shared, threads, seed, chain);
  };
  SampleOptions options;
  options.draws = 20;
  options.burnin = 5;
  options.chains = 2;
  options.every = 4;
  options.identified = 1;
  options.seed = 3;
  Host host;
  const SampleResult at_once = run_chains(make, options, host);
  CHECK(at_once.chains[1].seldom.cols() == 5);
  CHECK(at_once.chains[1].seldom.rows() == 3 * 300 + 1);
  CHECK(at_once.chains[1].seldom.allFinite());
  options.checkpoint = "factors.checkpoint";
  std::remove(options.checkpoint.c_str());
  options.draws = 9;
  run_chains(make, options, host);
  options.draws = 20;
  options.resume = true;
  const SampleResult later = run_chains(make, options, host);
  std::remove(options.checkpoint.c_str());
  CHECK(later.resumed);
  for (size_t k = 0; k < 2; ++k) {
    CHECK((later.chains[k].seldom.array() == at_once.chains[k].seldom.array()).all());
    CHECK((later.chains[k].effects.array() == at_once.chains[k].effects.array()).all());
  }
}

TEST_CASE("factors: parts that do not fit together are refused") {
  const auto refused = [](FactorModel model) {
    CHECK_THROWS_AS(SharedFactors{model}, InvalidInput);
  };
  FactorModel model = some_model("hinge", false, false, false);
  model.y[0] = 2;
  refused(std::move(model));
  model = some_model("hinge", false, false, false);
  model.loadings.priors.pop_back();
  refused(std::move(model));
  model = some_model("hinge", false, false, false);
  model.parts[1].places.pop_back();
  refused(std::move(model));
  model = some_model("hinge", true, false, false);
  model.turned = true;
  refused(std::move(model));
  model = some_model("hinge", false, false, true);
  model.turned = true;
  refused(std::move(model));
  model = some_model("normal", false, false, false);
  model.parameters.clear();
  refused(std::move(model));
  model = some_model("hinge", false, false, false);
  model.noise.rate = 0;
  refused(std::move(model));
}
