#include "likelihood.hpp"

#include "base/error.hpp"

namespace bsvm {

void Likelihood::draw(const Eigen::Ref<const Arr>&, const Eigen::Ref<const Arr>&,
                      const Eigen::Ref<const Arr>&, const RowDraws&, RowTerms&) const {
  throw InvalidInput("likelihood", "This likelihood has no latent scales to draw.");
}

double Likelihood::over(const double* margin, const double* a, const double* b,
                        const double* weight, double s, double t, Index r) const {
  const Arr from = Eigen::Map<const Arr>(margin, r) + s * Eigen::Map<const Arr>(a, r);
  return along(from.data(), b, weight, t, r);
}

double Likelihood::along(const double*, const double*, const double*, double, Index) const {
  throw InvalidInput("likelihood", "This likelihood can't be evaluated at a point.");
}

Tilted Likelihood::averaged(double, double, double) const {
  throw InvalidInput("likelihood", "Nothing unknown can be integrated out of this likelihood.");
}

double Likelihood::draw_averaged(double, double, double, Draws&) const {
  throw InvalidInput("likelihood", "Nothing unknown can be integrated out of this likelihood.");
}

std::unique_ptr<EffectIntegral> Likelihood::integral() const {
  throw InvalidInput("likelihood", "No effect can be integrated out of this likelihood.");
}

}  // namespace bsvm
