#include <doctest/doctest.h>

#include <cmath>

#include "random/slice.hpp"

using namespace bsvm;

// Moves of width 0.5 find their size; of 0.01 the limit on the steps binds, and the chain is slow
// but must not drift; of 1000 all is shrinkage.
TEST_CASE("a slice leaves a normal law as it is") {
  for (const double width : {0.5, 0.01, 1000.0}) {
    double sum = 0, square = 0;
    const int runs = 40000;
    for (int k = 0; k < runs; ++k) {
      Draws random({3, 0, static_cast<std::uint64_t>(k)}, Purpose::move, 0);
      double x = random.normal();  // of the law itself
      for (int step = 0; step < 5; ++step)
        x += slice([&](double t) { return -0.5 * (x + t) * (x + t); }, width, random);
      sum += x;
      square += x * x;
    }
    CHECK(std::abs(sum / runs) < 5 / std::sqrt(runs));
    CHECK(std::abs(square / runs - 1) < 5 * std::sqrt(2.0 / runs));
  }
}

TEST_CASE("a slice stays where nothing else is possible") {
  Draws random({3, 0, 0}, Purpose::move, 0);
  CHECK(slice([](double t) { return t == 0 ? 0.0 : -INFINITY; }, 1, random) == 0);
}
