#pragma once
#include "scores.hpp"

namespace bsvm {

// The factors' share of f_n, given x_n alone.
struct LinkMoments {
  Vec mean, variance;  // (N)
};

// Of a linear classifier, m_n'beta and beta'S_n beta; without feedback nothing is left over.
LinkMoments linear_links(const Scores& scores, ConstVecRef beta, bool feedback);

}  // namespace bsvm
