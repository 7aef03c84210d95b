#include "parameter_terms.hpp"

namespace bsvm {

void ParameterTerms::prepare(const State& state) {
  moved_.clear();
  for (Index k = 0; k < size_; ++k)
    for (const double by : {kStep, -kStep}) move(state, {k}, by);
  for (Index k = 0; k < size_; ++k)
    for (Index l = 0; l < k; ++l) move(state, {k, l}, kStep);
}

void ParameterTerms::move(const State& state, const std::vector<Index>& which, double by) {
  moved_.push_back({state, CurrentLikelihood(*problem_.likelihood), false});
  Moved& to = moved_.back();
  for (const Index k : which) {
    to.state.parameters()[k] += by;
    to.design = to.design || k >= own_;
  }
  to.likelihood.follow(to.state);
}

}  // namespace bsvm
