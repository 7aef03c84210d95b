#include <doctest/doctest.h>

#include <limits>

#include "oracle.hpp"
#include "special/functions.hpp"
#include "special/normal_law.hpp"
#include "special/normal_tail.hpp"
#include "special/whole.hpp"

using namespace bsvm_test;

namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("whole numbers within their range are what a conversion makes of them") {
  CHECK(whole_within(0, 0, 5) == 0);
  CHECK(whole_within(2.999, 0, 5) == 2);
  CHECK(whole_within(-1.5, -3, 5) == -1);
  CHECK(whole_within(4503599627370497.0, 0, Index{1} << 53) == 4503599627370497);
}

TEST_CASE("what has no whole number in the range is one of its ends") {
  for (double x : {kNoNumber, -kInfinite, -1e300, -1e18, -7.0}) CHECK(whole_within(x, -3, 5) == -3);
  for (double x : {kInfinite, 1e300, 1e19, 9.3e18, 5.0, 6.0}) CHECK(whole_within(x, -3, 5) == 5);
}

TEST_CASE("special functions outside their range have no value, at once") {
  for (double x : {kNoNumber, -kInfinite, -1e300, -1e18, -0.5, 0.0}) {
    CHECK(std::isnan(digamma(x)));
    CHECK(std::isnan(log_gamma(x)));
  }
  for (double x : {kNoNumber, kInfinite, 1e300}) {
    double out[5];
    tail_moments<4>(x, out);
    CHECK((std::isnan(x) ? std::isnan(out[0]) : out[0] == 1 / x));
  }
  for (double x : {-1e-9, -0.4, -1e300, -kInfinite}) {  // not asked for, and no place in a table
    double out[1];
    tail_moments<0>(x, out);
    CHECK(!(out[0] < 0));
  }
}
