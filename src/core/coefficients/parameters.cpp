// Parameters of the likelihood and of blocks, on the coefficients' side: their priors and Newton's
// step of all of them at once. Their priors are parts without columns, in the State's order.
#include <algorithm>
#include <cmath>

#include "coefficients.hpp"
#include "free_parameters.hpp"

namespace bsvm {

double Coefficients::log_parameters(ConstVecRef parameters, VecRef gradient) const {
  double sum = 0;
  Index own = 0;
  for (const PriorPart& part : parts_) {
    if (!part.parameter()) continue;
    sum += part.slot.prior->log_joint(Moments(), parameters.segment(own, 1),
                                      gradient.segment(own, 1));
    ++own;
  }
  return sum;
}

Vec Coefficients::parameter_pull(const State& state, const RowSums& sums) const {
  Vec out(layout_.parameters);
  log_parameters(state.parameters(), out);
  return out + sums.pull();
}

Vec Coefficients::newton_step(const State& state, const RowSums& sums) const {
  Mat bend = sums.bend();
  Index own = 0;
  for (const PriorPart& part : parts_) {
    if (!part.parameter()) continue;
    const Vec theta = state.parameters().segment(own, 1);
    bend(own, own) -= joint_hessian(*part.slot.prior, Moments(), theta)(0, 0);
    ++own;
  }
  return positive_solve(bend, parameter_pull(state, sums));
}

double Coefficients::parameter_gradient(const State& state, const RowSums& sums) const {
  if (layout_.parameters == 0) return 0;
  return std::sqrt(parameter_pull(state, sums).dot(newton_step(state, sums)));
}

Vec Coefficients::parameter_step(const State& state, const RowSums& sums, double longest) const {
  if (layout_.parameters == 0) return Vec();
  const Vec step = newton_step(state, sums);
  return step * (longest / std::max(longest, step.cwiseAbs().maxCoeff()));
}

void Coefficients::set_parameters(State& state, ConstVecRef parameters) const {
  Index own = 0;
  for (const PriorPart& part : parts_)
    if (part.parameter())
      part.slot.prior->fix(parameters.segment(own++, 1), hyper(state, part));
  refresh(state);
}

}  // namespace bsvm
