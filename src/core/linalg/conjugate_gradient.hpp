#pragma once
#include <functional>

#include "base/types.hpp"

namespace bsvm {

// Solves A x = b for several right sides at once, each a row of b (k, d), by preconditioned
// conjugate gradients from x. A and the preconditioner are symmetric and positive definite, and
// take and give (k, d). A side is done where its residual, in the preconditioner's norm, is
// `tolerance` of the right side's. Returns the number of products with A.
using Product = std::function<Mat(const Mat&)>;
int conjugate_gradient(const Product& a, const Product& precondition, const Mat& b,
                       double tolerance, int most, const std::function<void()>& checkpoint, Mat& x);

}  // namespace bsvm
