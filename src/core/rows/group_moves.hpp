#pragma once
#include "data/group_states.hpp"
#include "model/row_sums.hpp"
#include "model/state.hpp"

namespace bsvm {

// What becomes of groups' effects in a pass and after it, for whoever has their sums: a MemorySource,
// or LargeLevels. Groups first .. first + m - 1 of `groups`; names as there.

// The group's share of the Newton step. `groups.next_step` has its gradient r_g = sum z slope - D u_g,
// which eliminating the group takes out of the gradient of b by -B_g' r_g (`coupling` has B_g'), and gets
// K_gg^{-1} r_g, the step at fixed b.
void finish_step(GroupStates& groups, Index group, const Mat& coupling, RowSums& out);

// How far the groups moved in the metric of q. `inverse_factor`: the State's, packed for the kernels;
// `columns` has room for m q of p numbers, to a multiple of four.
double groups_change(const GroupStates& groups, Index first, Index m, const double* inverse_factor,
                     double* columns);

// Moves the groups' means, and adds E u u' = E u E u' + A_gg^{-1} + B_g S B_g' to `out`. `steps` has B_g'
// of the step, `spread` room for m q of p numbers. Where q advances its precision is `next_precision`
// from now on: the caller swaps.
void settle_groups(GroupStates& groups, Index first, Index m, const State& state, bool advance,
                   double change, const Mat& steps, Eigen::Ref<Mat> spread, Mat& out);

// Draws u_g given the new dense coefficients: its conditional mean, which is kept in `expected` (q, m),
// one Newton step from where it was, and L^{-T} e with L L' = A_gg. Adds u u' to `out`. Group g is level
// first_level + g, by which draws are keyed.
void draw_groups(GroupStates& groups, Index first, Index m, Index first_level, const State& state,
                 Mat& expected, Mat& out);

}  // namespace bsvm
