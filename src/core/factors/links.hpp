#pragma once
#include "scores.hpp"

namespace bsvm {

// Likelihoods divide by the standard deviation of f: below this variance it does not matter.
constexpr double kLeastLeftover = 1e-20;

// The factors' share of f_n, given x_n alone.
struct LinkMoments {
  Vec mean, variance;  // (N)
};

// Of a linear classifier, m_n'beta and beta'S_n beta; without feedback nothing is left over.
LinkMoments linear_links(const Scores& scores, ConstVecRef beta, bool feedback);

}  // namespace bsvm
