#pragma once
#include <memory>

#include "effect_integral.hpp"

namespace bsvm {

constexpr double kFlat = 1e-30;  // a slope in e that no e can make felt

// An effect integrated out of rows with p(y | f) = exp{-2 (1 - y f)_+}, in closed form.
std::unique_ptr<EffectIntegral> pseudo_hinge_integral();

// The same of the normalised p(y | f) = 1 / (1 + exp(-y h(f))), h = 2f - 2 below -1, 4f inside,
// 2f + 2 above 1: quadrature that knows the kinks, to 1e-8 relative.
std::unique_ptr<EffectIntegral> normalised_hinge_integral();

}  // namespace bsvm
