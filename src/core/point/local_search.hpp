#pragma once
#include "interior_point.hpp"

namespace bsvm {

// A local minimum of P(b) where some powers are below one, from `start` (P): each pass minimises
// the objective with those penalties replaced by their tangents at b, which lie above,
//
//   |x / scale_j|^alpha <= slope_j |x| + a constant,
//   slope_j = alpha |b_j|^(alpha-1) / scale_j^alpha
//
// so no pass raises the objective. A coefficient of zero has an infinite slope: it stays, and its
// column is left out. The gap is that of the tangents' own optimum.
Point minimise_local(const Design& design, const Penalties& penalties, ConstVecRef start,
                     const PointOptions& options, Host& host);

}  // namespace bsvm
