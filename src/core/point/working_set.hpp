#pragma once
#include "interior_point.hpp"
#include "normal_equations.hpp"

namespace bsvm {

// minimise_convex() for any number of columns: those with a power of one beyond what one system can
// hold, `most`, are taken in as they are needed (working_set.cpp).
Point minimise_in_parts(const Design& design, const Penalties& penalties,
                        const PointOptions& options, Host& host,
                        Index most = NormalEquations::kMostFactored);

}  // namespace bsvm
