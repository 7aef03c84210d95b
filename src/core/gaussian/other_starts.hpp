#pragma once
#include "linalg/dense.hpp"
#include "model/state.hpp"

namespace bsvm {

constexpr double kNearBound = 0.1, kNear = 1;  // of a top: deviations of q, logs of theta

// Is a climb nearly where another one has been: within a standard deviation of its q, with as good as
// nothing of the bound to gain? The last steps there are a third of such a climb. Of points with
// `state`, `theta` and `bound`.
template <class Point>
bool leads_to(const Point& top, const Point& at) {
  Vec away = at.state.mean() - top.state.mean();
  solve_transposed(top.state.inverse_factor(), away);
  return at.bound > top.bound - kNearBound && away.norm() < kNear &&
         (at.theta - top.theta).norm() < kNear;
}

}  // namespace bsvm
