#pragma once
#include "engine.hpp"

namespace bsvm {

// The covariance of the dense coefficients that a variational optimum implies (Giordano, Broderick
// & Jordan 2018): with t'b added to the log density, d E_q b/dt at t = 0, everything else
// that q has, group effects and hyper-parameters too, at its optimum for that t. By central
// differences, t_j moving E b_j by about kShift standard deviations. `problem` is as before when
// this returns. (p, p), outside scale.
Mat linear_response(Problem& problem, const Engine& engine, RowSource& source,
                    const Options& options, Host& host);

}  // namespace bsvm
