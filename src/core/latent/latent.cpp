#include "latent.hpp"

#include "base/error.hpp"

namespace bsvm {

void check_use(const Latent& latent, Use use) {
  if (latent.supports(use)) return;
  throw InvalidInput("engine", "It has no form of what is unknown in the design of this model.");
}

}  // namespace bsvm
