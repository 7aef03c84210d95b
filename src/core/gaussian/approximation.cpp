#include "approximation.hpp"

namespace bsvm {

Imputations imputations(const Approximation& of) {
  Imputations out = of.nodes.at(0).imputed;
  Vec square = Vec::Zero(out.mean.size());
  out.mean.setZero();
  for (size_t k = 0; k < of.nodes.size(); ++k) {
    const Imputations& own = of.nodes[k].imputed;
    out.mean += of.weights[k] * own.mean;
    square += of.weights[k] * (own.mean.cwiseAbs2() + own.sd.cwiseAbs2());
  }
  out.sd = (square - out.mean.cwiseAbs2()).cwiseMax(0).cwiseSqrt();
  return out;
}

}  // namespace bsvm
