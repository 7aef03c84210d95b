#include <doctest/doctest.h>

#include <cmath>

#include "integral/leave_one_out.hpp"
#include "integral/one/hinge_integral.hpp"
#include "pair_data.hpp"

using namespace bsvm_test;

namespace {

Vec drop(const Vec& from, Index row) {
  Vec out(std::max<Index>(from.size() - 1, 0));
  for (Index i = 0, k = 0; i < from.size(); ++i)
    if (i != row) out[k++] = from[i];
  return out;
}

RowsData without(const RowsData& data, Index row) {
  return {drop(data.y, row), drop(data.weight, row), drop(data.o, row), drop(data.z, row),
          Mat::Ones(1, data.y.size() - 1)};
}

double truth(const RowsData& data, double s) {
  return data.y.size() == 0 ? 0 : static_cast<double>(brute_force(kNormalised, data, s).value);
}

RowsData rows(Index r, bool weights, double far, std::uint64_t seed) {
  Pair pair(r, seed, weights, false);
  pair.data.z = pair.second;
  pair.data.o *= far;
  pair.data.z[r / 2] = 0;
  return pair.data;
}

}  // namespace

TEST_CASE("leave one out: one effect is brute force's, with all rows and without each") {
  const auto integral = normalised_hinge_integral();
  LeaveOneOut find(*integral->line());
  for (Index r : {1, 2, 9})
    for (bool weights : {false, true})
      for (double far : {1.0, 15.0})
        for (double s : {1e-3, 0.3, 3.0, 100.0}) {
          const RowsData data = rows(r, weights, far, 11 + static_cast<std::uint64_t>(r));
          INFO("rows " << r << " weights " << weights << " far " << far << " s " << s);
          const double tolerance = s < 10 && far < 10 ? 1e-6 : 1e-4;
          const Vec found = find.integrate(data.rows(), s);
          REQUIRE(found.size() == r + 1);
          CHECK(std::abs(found[r] - truth(data, s)) < tolerance);
          for (Index i = 0; i < r; i += 4) {
            INFO("without " << i);
            CHECK(std::abs(found[i] - truth(without(data, i), s)) < tolerance);
          }
        }
}

TEST_CASE("leave one out: many rows, whose kinks are not looked at one by one") {
  const auto integral = normalised_hinge_integral();
  LeaveOneOut find(*integral->line());
  const RowsData data = rows(75, false, 1, 3);
  const Vec found = find.integrate(data.rows(), 2);
  const double all = truth(data, 2);
  CHECK(std::abs(found[75] - all) < 1e-4);
  for (Index i : {17, 74})
    CHECK(std::abs(found[75] - found[i] - (all - truth(without(data, i), 2))) < 1e-5);
}

TEST_CASE("leave one out: two effects are PairIntegral's, with all rows and without each") {
  PairIntegral exact(normalised_hinge_integral());
  const auto integral = normalised_hinge_integral();
  LeaveOneOut find(*integral->line());
  EffectSums sums;
  for (Index r : {1, 2, 7})
    for (bool weights : {false, true})
      for (bool some_zero : {false, true})
        for (const PairScale& scale : {PairScale{1, 0.3, 0.7}, PairScale{4, -2, 3},
                                       PairScale{0.05, 0, 0.02}, PairScale{10, 5, 0.1}}) {
          const Pair pair(r, 5 + static_cast<std::uint64_t>(r), weights, some_zero);
          INFO("rows " << r << " weights " << weights << " zeros " << some_zero << " scale "
                       << scale.f00);
          const Vec found = find.integrate(pair.rows(), scale);
          const auto value = [&](const PairRows& of) {
            if (of.rows.r == 0) return 0.0;
            exact.integrate(of, scale, Depth::value, sums);
            return sums.value;
          };
          CHECK(std::abs(found[r] - value(pair.rows())) < 1e-3);
          for (Index i = 0; i < r; i += 4) {
            const RowsData rest = without(pair.data, i);
            const Vec second = drop(pair.second, i);
            INFO("without " << i);
            CHECK(std::abs(found[i] - value({rest.rows(), second.data()})) < 1e-3);
          }
        }
}
