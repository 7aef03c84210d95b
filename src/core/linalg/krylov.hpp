#pragma once
#include <functional>

#include "base/types.hpp"

namespace bsvm {

// Solves A x = right for a matrix known by its products with vectors, until the residual is
// `tolerance` times as long as `right` or after `most` products (GMRES; Saad & Schultz 1986).
Vec solve_by_products(const std::function<Vec(const Vec&)>& product, const Vec& right,
                      double tolerance, int most);

}  // namespace bsvm
