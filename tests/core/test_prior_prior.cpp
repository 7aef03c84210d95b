// What every registered prior must do, whatever its parameters.
#include <doctest/doctest.h>

#include <algorithm>

#include "components.hpp"
#include "oracle.hpp"
#include "prior/prior.hpp"

using namespace bsvm_test;

namespace {

struct Case {
  std::unique_ptr<Prior> prior;
  Moments moments;
  Vec hyper;  // updated, where it can be

  Case(std::unique_ptr<Prior> made, const Moments& m)
      : prior(std::move(made)), moments(m), hyper(prior->hyper_size(m.square.size())) {
    prior->start(moments, hyper);
    if (prior->supports(Use::augmented)) prior->update(moments, 1, hyper);
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

Vec squares(Index m) { return Noise(11).normals(m).cwiseAbs2(); }

// The sum over `levels` of u u', the effects of unlike size.
Moments joint_moments(Index q, Index levels) {
  const Vec u = Noise(12).normals(q * levels);
  Eigen::Map<const Mat> all(u.data(), q, levels);
  const Vec size = Vec::LinSpaced(q, 0.3, 4);
  const Mat square = size.asDiagonal() * all * all.transpose() * size.asDiagonal();
  return {Eigen::Map<const Vec>(square.data(), q * q), static_cast<double>(q * levels), 0};
}

// One coefficient, several, some unseen, the levels of a grouping factor; joint effects of
// few levels and of many.
std::vector<Moments> every_kind(const Prior& prior) {
  const Index q = prior.effects();
  if (q > 1) return {joint_moments(q, q), joint_moments(q, 299)};
  std::vector<Moments> out{moments_of(squares(1)), moments_of(squares(6))};
  if (!prior.exchangeable()) return out;
  out.push_back(moments_of(squares(6), 9, 9));
  out.push_back(moments_of(Vec::Constant(1, 40.0), 299));
  return out;
}

// visit(make) for every prior of that use, those that can be joint once more as such.
template <class Visit>
void each_prior(Use use, double parameter, Visit visit) {
  for (const std::string& name : coefficient_priors())
    for (const auto& numbers : {std::map<std::string, double>{}, kTwoEffects}) {
      const auto make = [&] { return make_any<Prior>(name, parameter, numbers); };
      if (!make()->supports(use)) continue;
      if (!numbers.empty() && make()->effects() == 1) continue;
      CAPTURE(name);
      visit(make);
    }
}

template <class Visit>
void each_case(Use use, Visit visit) {
  for (double parameter : {0.05, 0.8, 7.5})
    each_prior(use, parameter, [&](const auto& make) {
      for (const Moments& moments : every_kind(*make())) {
        CAPTURE(parameter);
        CAPTURE(moments.count);
        visit(Case(make(), moments));
      }
    });
}

template <class Visit>
void each_case(Visit visit) {
  each_case(Use::augmented, visit);
}

template <class Visit>
void each_drawn(Visit visit) {
  each_case(Use::drawn, visit);
}

Vec numbers_of(const NamedNumbers& named) {
  Vec out(static_cast<Index>(named.size()));
  for (size_t k = 0; k < named.size(); ++k) out[static_cast<Index>(k)] = named[k].second;
  return out;
}

// Whatever is drawn is a scale, but for the share that is in and the power.
bool has_scale(const NamedNumbers& drawn) {
  return std::any_of(drawn.begin(), drawn.end(), [](const auto& number) {
    return number.first != "pi" && number.first != "alpha";
  });
}

void draw(Case& it, std::uint64_t sweep = 0) {
  Draws random({9, 0, sweep}, Purpose::hyper, 0);
  it.prior->draw(it.moments, random, it.hyper);
}

}  // namespace

TEST_CASE("prior: update is the maximiser of value") {
  each_case([](Case it) {
    const double best = it.value();
    REQUIRE(std::isfinite(best));
    const Index indicators = it.prior->selects() ? it.moments.square.size() : 0;  // the engine's
    for (Index j = 0; j < it.hyper.size() - indicators; ++j)
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
    it.prior->update(it.moments, 1, it.hyper);
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
    it.prior->update(all, 1, hyper);
    CHECK(gap(hyper, it.hyper) < 1e-12);
  });
}

TEST_CASE("prior: it starts with precisions about one, or with its fixed one") {
  each_case([](Case it) {
    it.prior->start(it.moments, it.hyper);
    if (it.hyper.size() == 0) return;
    const Index q = it.prior->effects();
    const Vec all = it.precision();
    const Vec precision = q == 1 ? all : Vec(Eigen::Map<const Mat>(all.data(), q, q).diagonal());
    CHECK(precision.minCoeff() > 0.1);
    CHECK(precision.maxCoeff() < 10);
  });
}

TEST_CASE("prior: moments of any magnitude give a finite bound and a positive precision") {
  for (double square : {1e-300, 1e-20, 1e20, 1e300})
    each_prior(Use::augmented, 0.8, [&](const auto& make) {
      CAPTURE(square);
      Moments moments = every_kind(*make())[0];
      if (make()->effects() == 1) moments.square.setConstant(square);
      else moments.square *= square / 1000;
      for (double reach : {1.0, 1.5}) {
        Case it(make(), moments);
        it.prior->start(moments, it.hyper);
        it.prior->update(moments, reach, it.hyper);
        CHECK(std::isfinite(it.value()));
        CHECK(it.precision()[0] > 0);
        CHECK(it.precision().allFinite());
      }
    });
}

TEST_CASE("prior: only an exchangeable one may ignore how the squares are spread") {
  each_prior(Use::augmented, 0.8, [](const auto& make) {
    if (!make()->exchangeable()) return;
    CHECK(make()->effects() == 1);
    const Vec square = squares(5);
    const Case one(make(), moments_of(square)), other(make(), moments_of(square.reverse()));
    CHECK(one.value() == doctest::Approx(other.value()).epsilon(1e-14));
    CHECK((one.precision().array() == one.precision()[0]).all());
  });
}

TEST_CASE("prior: a step not taken changes nothing, one taken further goes on") {
  each_case([](Case it) {
    const Vec best = it.hyper;
    Vec start(best.size()), none, less, more;
    it.prior->start(it.moments, start);
    none = less = more = start;
    it.prior->update(it.moments, 0, none);
    it.prior->update(it.moments, 0.7, less);
    it.prior->update(it.moments, 1.5, more);
    CHECK(gap(none, start) < 1e-12);
    if (best.size() == 0) return;
    CHECK(it.prior->value(it.moments, start) < it.prior->value(it.moments, less));
    CHECK(it.prior->value(it.moments, less) < it.value());
    if (it.prior->effects() > 1) return;
    const auto log_precision = [&](const Vec& hyper) {
      Vec out(it.moments.square.size());
      it.prior->precision(hyper, out);
      return Vec(out.array().log());
    };
    const Vec step = log_precision(best) - log_precision(start);
    CHECK(gap(log_precision(more) - log_precision(start), 1.5 * step) < 1e-10);
  });
}

TEST_CASE("prior: what a user is told is named, and holds the expected precision") {
  each_case([](Case it) {
    const bool joint = it.prior->effects() > 1;
    const double expected = joint ? it.precision()[0] : it.precision().mean();
    for (const auto& number : it.prior->report(it.hyper)) {
      CHECK_FALSE(number.first.empty());
      CHECK_FALSE(std::isnan(number.second));
      if (number.first == "inverse_mean")
        CHECK(number.second == doctest::Approx(expected).epsilon(1e-14));
    }
  });
}

TEST_CASE("prior: a draw depends on its stream alone, and on what was before by precision()") {
  each_drawn([](Case it) {
    const Vec before = it.hyper;
    draw(it);
    const Vec drawn = it.hyper;
    CHECK(drawn.allFinite());
    it.hyper = before;
    draw(it);
    CHECK((it.hyper.array() == drawn.array()).all());
    it.hyper = before;
    draw(it, 1);
    if (before.size() > 0) CHECK(gap(it.hyper, drawn) > 1e-6);
  });
}

TEST_CASE("prior: after a draw, precision() is the inverse of the variance drawn") {
  each_drawn([](Case it) {
    draw(it);
    const Vec variance = numbers_of(it.prior->drawn(it.hyper)), precision = it.precision();
    for (const auto& number : it.prior->drawn(it.hyper)) CHECK_FALSE(number.first.empty());
    if (it.prior->effects() == 2) {
      REQUIRE(variance.size() == 3);
      Mat sigma(2, 2);
      sigma << variance[0], variance[1], variance[1], variance[2];
      CHECK(gap(sigma * Eigen::Map<const Mat>(precision.data(), 2, 2), Mat::Identity(2, 2)) < 1e-8);
    } else if (variance.size() > 0 && it.prior->exchangeable()) {  // not under scales of their own
      for (Index j = 0; j < precision.size(); ++j)
        CHECK(precision[j] * variance[variance.size() == 1 ? 0 : j] ==
              doctest::Approx(1).epsilon(1e-13));
    }
  });
}

TEST_CASE("prior: scale multiplies every variance that is not fixed by t^2") {
  each_drawn([](Case it) {
    draw(it);
    const Vec before = it.precision();
    const double shrinks = has_scale(it.prior->drawn(it.hyper)) ? 1.7 * 1.7 : 1;
    it.prior->scale(it.hyper, 1.7);
    CHECK(gap(shrinks * it.precision(), before) < 1e-13);
  });
}

TEST_CASE("prior: two moves along a scale are one") {
  each_drawn([](Case it) {
    draw(it);
    const auto log_scaled = [&](double t) { return it.prior->log_scaled(it.moments, it.hyper, t); };
    const double t = 0.8;
    const Vec other = Vec::LinSpaced(4, 0.5, 3);
    Vec whole(4), rest(4);
    for (Index k = 0; k < 4; ++k) whole[k] = log_scaled(t * other[k]) - log_scaled(t);
    it.prior->scale(it.hyper, t);
    it.moments.square *= t * t;
    for (Index k = 0; k < 4; ++k) rest[k] = log_scaled(other[k]) - log_scaled(1);
    CHECK(gap(rest, whole) < 1e-9);
  });
}
