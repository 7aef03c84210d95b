#pragma once
#include "point_model.hpp"

namespace bsvm {

// EM as the papers have it (plain_em.cpp), with the CME-step after each M-step. `hyper` is where it
// starts and where it ends.
Point run_plain_em(const Design& design, const PointModel& model, ConstVecRef start,
                   const PointOptions& options, PointModel::Hyper& hyper, Host& host);

}  // namespace bsvm
