#include "slide.hpp"

#include <cmath>

#include "linalg/small.hpp"
#include "random/slice.hpp"

namespace bsvm {

double slide_effect(const Likelihood& likelihood, const SlideRows& rows, double precision,
                    double pull, Draws& random) {
  const LineRows own{rows.y, rows.f, nullptr, rows.slope, rows.weight, rows.r};
  const double width = 4 / std::sqrt(precision + 0.3 * squared_length(rows.slope, rows.r));
  const double t = slice([&](double x) {
    return likelihood.along(own, x) - x * (pull + 0.5 * precision * x);
  }, width, random);
  add_multiple(rows.f, rows.slope, t, rows.r);
  return t;
}

}  // namespace bsvm
