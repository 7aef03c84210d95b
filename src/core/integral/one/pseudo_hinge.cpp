#include <algorithm>

#include "hinge_sum.hpp"

namespace bsvm {

namespace {

// exp{-2 w (1 - y f)_+}.
struct PseudoHinge {
  static int count() { return 1; }
  static Atoms atoms(double y) { return {1, {{y, -y, 2}}}; }
  static double most(const EffectRows&) { return 0; }
  static double log_p(const EffectRows& rows, double u) {
    double sum = 0;
    for (Index i = 0; i < rows.r; ++i)
      sum += (rows.weight ? rows.weight[i] : 1) *
             std::max(0.0, 1 - rows.y[i] * (rows.o[i] + rows.z[i] * u));
    return -2 * sum;
  }
};

}  // namespace

std::unique_ptr<EffectIntegral> pseudo_hinge_integral() {
  return std::make_unique<HingesOf<PseudoHinge>>(PseudoHinge());
}

}  // namespace bsvm
