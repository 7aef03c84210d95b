#include "links.hpp"

namespace bsvm {

LinkMoments linear_links(const Scores& scores, ConstVecRef beta, bool feedback) {
  LinkMoments out{scores.mean() * beta, Vec::Zero(scores.mean().rows())};
  if (!feedback) return out;
  out.variance.setConstant(beta.dot(scores.covariance() * beta));
  for (Index n = 0; n < out.variance.size(); ++n)
    if (!scores.complete(n)) out.variance[n] = beta.dot(scores.covariance(n) * beta);
  return out;
}

}  // namespace bsvm
