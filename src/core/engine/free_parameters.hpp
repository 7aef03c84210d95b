#pragma once
#include "../prior/prior.hpp"

namespace bsvm {

// Second derivatives of a prior's log_joint in its free parameters, from its gradient.
Mat joint_hessian(const Prior& prior, const Moments& moments, ConstVecRef theta);

// Where log_joint(moments, .) is largest, from `theta` by Newton's method with halved steps.
Vec maximise_joint(const Prior& prior, const Moments& moments, ConstVecRef theta);

}  // namespace bsvm
