// What every registered prior must do, whatever its parameters.
#include <doctest/doctest.h>

#include "components.hpp"
#include "oracle.hpp"
#include "prior/prior.hpp"

using namespace bsvm_test;

namespace {

struct Case {
  std::unique_ptr<Prior> prior;
  Moments moments;
  Vec hyper;  // updated

  Case(const std::string& name, double parameter, const Moments& m)
      : prior(make_any<Prior>(name, parameter)), moments(m),
        hyper(prior->hyper_size(m.square.size())) {
    prior->start(moments, hyper);
    prior->update(moments, hyper);
  }
  double value() const { return prior->value(moments, hyper); }
  Vec precision() const {
    Vec out(moments.square.size());
    prior->precision(hyper, out);
    return out;
  }
};

Moments moments_of(const Vec& square, double more = 0, double unseen = 0) {
  return {square, static_cast<double>(square.size()) + more, unseen};
}

Vec squares(Index m) { return Draws(11).normals(m).cwiseAbs2(); }

// One coefficient, several, some unseen, the levels of a grouping factor.
std::vector<Moments> every_kind(const Prior& prior) {
  std::vector<Moments> out{moments_of(squares(1)), moments_of(squares(6))};
  if (!prior.exchangeable()) return out;
  out.push_back(moments_of(squares(6), 9, 9));
  out.push_back(moments_of(Vec::Constant(1, 40.0), 299));
  return out;
}

template <class Visit>
void each_case(Visit visit) {
  for (const std::string& name : Registry<Prior>::names())
    for (double parameter : {0.05, 0.8, 7.0})
      for (const Moments& moments : every_kind(*make_any<Prior>(name, parameter))) {
        CAPTURE(name);
        CAPTURE(parameter);
        CAPTURE(moments.count);
        visit(Case(name, parameter, moments));
      }
}

}  // namespace

TEST_CASE("prior: update is the maximiser of value") {
  each_case([](Case it) {
    const double best = it.value();
    REQUIRE(std::isfinite(best));
    for (Index j = 0; j < it.hyper.size(); ++j)
      for (double factor : {0.1, 0.7, 0.99, 1.01, 1.3, 10.0}) {
        const double kept = it.hyper[j];
        it.hyper[j] *= factor;
        CHECK_FALSE(it.value() > best + 1e-12 * (1 + std::abs(best)));
        it.hyper[j] = kept;
      }
  });
}

TEST_CASE("prior: a second update from the same moments changes nothing") {
  each_case([](Case it) {
    const Vec before = it.hyper;
    it.prior->update(it.moments, it.hyper);
    CHECK(gap(it.hyper, before) < 1e-14);
  });
}

TEST_CASE("prior: value falls with each square at half the expected precision") {
  each_case([](Case it) {
    const Vec precision = it.precision();
    const double before = it.value();
    for (Index j = 0; j < precision.size(); ++j) {
      const double more = 3 / precision[j];  // value is linear in the square
      it.moments.square[j] += more;
      CHECK(it.value() - before == doctest::Approx(-0.5 * precision[j] * more).epsilon(1e-10));
      it.moments.square[j] -= more;
    }
  });
}

TEST_CASE("prior: an unseen coefficient is one with E b^2 of the prior, and its entropy") {
  each_case([](Case it) {
    const double unseen = it.moments.unseen;
    if (unseen == 0) return;
    const double precision = it.precision()[0];
    Moments all = it.moments;
    all.unseen = 0;
    all.square[0] += unseen / precision;
    const double entropy = 0.5 * unseen * (1 + std::log(2 * std::acos(-1.0) / precision));
    CHECK(it.value() == doctest::Approx(it.prior->value(all, it.hyper) + entropy).epsilon(1e-12));
    Vec hyper = it.hyper;
    it.prior->update(all, hyper);
    CHECK(gap(hyper, it.hyper) < 1e-12);
  });
}

TEST_CASE("prior: it starts with precisions about one, or with its fixed one") {
  each_case([](Case it) {
    it.prior->start(it.moments, it.hyper);
    if (it.hyper.size() == 0) return;
    CHECK(it.precision().minCoeff() > 0.1);
    CHECK(it.precision().maxCoeff() < 10);
  });
}

TEST_CASE("prior: moments of any magnitude give a finite bound and a positive precision") {
  for (const std::string& name : Registry<Prior>::names())
    for (double square : {1e-300, 1e-20, 1e20, 1e300}) {
      CAPTURE(name);
      CAPTURE(square);
      const Case it(name, 0.8, moments_of(Vec::Constant(1, square)));
      CHECK(std::isfinite(it.value()));
      CHECK(it.precision()[0] > 0);
      CHECK(std::isfinite(it.precision()[0]));
    }
}

TEST_CASE("prior: only an exchangeable one may ignore how the squares are spread") {
  for (const std::string& name : Registry<Prior>::names()) {
    if (!make_any<Prior>(name)->exchangeable()) continue;
    const Vec square = squares(5);
    const Case one(name, 0.8, moments_of(square)), other(name, 0.8, moments_of(square.reverse()));
    CHECK(one.value() == doctest::Approx(other.value()).epsilon(1e-14));
    CHECK((one.precision().array() == one.precision()[0]).all());
  }
}

TEST_CASE("prior: what a user is told is named, and holds the expected precision") {
  each_case([](Case it) {
    for (const auto& number : it.prior->report(it.hyper)) {
      CHECK_FALSE(number.first.empty());
      CHECK_FALSE(std::isnan(number.second));
      if (number.first == "inverse_mean")
        CHECK(number.second == doctest::Approx(it.precision()[0]).epsilon(1e-14));
    }
  });
}
