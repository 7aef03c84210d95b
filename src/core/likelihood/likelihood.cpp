#include "likelihood.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace bsvm {

void check_signs(const double* y, Index n) {
  if (!y || !std::all_of(y, y + n, [](double code) { return code == 1 || code == -1; }))
    throw InvalidInput("y", "Its codes must be -1 and 1.");
}

void Likelihood::check(const double* y, Index n) const {
  if (!y || !std::all_of(y, y + n, [](double code) { return std::isfinite(code); }))
    throw InvalidInput("y", "Its codes must be finite numbers.");
}

std::unique_ptr<Likelihood> Likelihood::with(ConstVecRef) const {
  throw InvalidInput("likelihood", "This likelihood has no parameters to be given.");
}

Atoms Likelihood::atoms(double) const { return {}; }

void Likelihood::draw(const Eigen::Ref<const Arr>&, const Eigen::Ref<const Arr>&,
                      const Eigen::Ref<const Arr>&, const RowDraws&, RowTerms&) const {
  throw InvalidInput("likelihood", "This likelihood has no latent scales to draw.");
}

double Likelihood::over(const LineRows&, double, double) const {
  throw InvalidInput("likelihood", "This likelihood can't be evaluated at a point.");
}

Tilted Likelihood::averaged(double, double, double, double) const {
  throw InvalidInput("likelihood", "Nothing unknown can be integrated out of this likelihood.");
}

double Likelihood::draw_averaged(double, double, double, double, Draws&) const {
  throw InvalidInput("likelihood", "Nothing unknown can be integrated out of this likelihood.");
}

std::unique_ptr<EffectIntegral> Likelihood::integral() const {
  throw InvalidInput("likelihood", "No effect can be integrated out of this likelihood.");
}

}  // namespace bsvm
