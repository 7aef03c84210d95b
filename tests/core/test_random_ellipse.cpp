#include <doctest/doctest.h>

#include <cmath>

#include "random/ellipse.hpp"

using namespace bsvm;

// N(0, 1) times exp(2 x - x^2): a normal law with precision 3 and mean 2/3.
TEST_CASE("an ellipse leaves a law as it is") {
  double sum = 0, square = 0;
  const int runs = 40000;
  const auto log_density = [](double x) { return 2 * x - x * x; };
  for (int k = 0; k < runs; ++k) {
    Draws random({3, 0, static_cast<std::uint64_t>(k)}, Purpose::move, 0);
    double x = 2.0 / 3 + random.normal() / std::sqrt(3.0);
    for (int step = 0; step < 3; ++step) {
      const double nu = random.normal(), z = x;
      double c, s;
      ellipse([&](double a, double b) { return log_density(a * z + b * nu); }, log_density(z),
              random, c, s);
      CHECK(c * c + s * s == doctest::Approx(1));
      CHECK(s != 0);  // the slice about where it is has room
      x = c * z + s * nu;
    }
    sum += x - 2.0 / 3;
    square += (x - 2.0 / 3) * (x - 2.0 / 3);
  }
  CHECK(std::abs(sum / runs) < 5 / std::sqrt(3.0 * runs));
  CHECK(std::abs(3 * square / runs - 1) < 5 * std::sqrt(2.0 / runs));
}

TEST_CASE("an ellipse stays where nothing else is possible") {
  Draws random({3, 0, 0}, Purpose::move, 0);
  double c = 0, s = 0;
  ellipse([](double, double) { return -INFINITY; }, 0, random, c, s);
  CHECK(c == 1);
  CHECK(s == 0);
}
