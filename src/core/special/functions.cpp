#include "functions.hpp"

#include <cmath>
#include <limits>

namespace bsvm {

namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

}  // namespace

double digamma(double x) {
  if (!(x > 0)) return kNoNumber;  // nor does the sum below end for a large one
  double shift = 0;
  for (; x < 10; ++x) shift -= 1 / x;  // psi(x) = psi(x + 1) - 1/x
  const double r = 1 / (x * x);
  const double series =
      r * (1. / 12 - r * (1. / 120 - r * (1. / 252 - r * (1. / 240 -
      r * (1. / 132 - r * (691. / 32760 - r / 12))))));
  return shift + std::log(x) - 0.5 / x - series;
}

double log_gamma(double x) {
  if (!(x > 0)) return kNoNumber;
  double product = 1;
  for (; x < 10; ++x) product *= x;  // Gamma(x) = Gamma(x + 1) / x
  const double r = 1 / (x * x);
  const double series =
      (1. / 12 - r * (1. / 360 - r * (1. / 1260 - r * (1. / 1680 -
       r * (1. / 1188 - r * (691. / 360360 - r / 156)))))) / x;
  return (x - 0.5) * std::log(x) - x + 0.91893853320467274178 + series -
         std::log(product);
}

}  // namespace bsvm
