#pragma once
#include "base/types.hpp"

namespace bsvm_test {

using namespace bsvm;

// Means over draws, and their standard errors by batches.
struct BatchMeans {
  Mat batches;
  Index next = 0, each;
  BatchMeans(Index size, Index draws) : batches(Mat::Zero(size, 30)), each(draws / 30) {}
  void add(const Vec& seen) {
    if (next / each < 30) batches.col(next / each) += seen / static_cast<double>(each);
    ++next;
  }
  Vec mean() const { return batches.rowwise().mean(); }
  Arr error() const {
    return ((batches.colwise() - mean()).array().square().rowwise().sum() / (30.0 * 29)).sqrt();
  }
};

}  // namespace bsvm_test
