#pragma once
#include "interior_point.hpp"

namespace bsvm {

// minimise_convex() for any number of columns: those with a power of one beyond what one system can
// hold are taken in as they are needed (working_set.cpp).
Point minimise_in_parts(const Design& design, const Penalties& penalties,
                        const PointOptions& options, Host& host);

}  // namespace bsvm
