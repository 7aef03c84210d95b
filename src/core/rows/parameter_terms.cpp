#include "parameter_terms.hpp"

namespace bsvm {

void ParameterTerms::prepare(const State& state) {
  moved_.clear();
  second_ = state.slopes() > 1;
  for (Index k = 0; k < size_ && state.slopes() > 0; ++k)
    for (const double by : {kStep, -kStep}) move(state, k, k, by);
  for (Index k = 0; k < size_ && second_; ++k)
    for (Index j = 0; j < k; ++j)
      for (const double by : {kStep, -kStep}) move(state, j, k, by);
}

// Parameter k, and j if it is another. Only who fills a design looks at the State.
void ParameterTerms::move(const State& state, Index j, Index k, double by) {
  Vec parameters = state.parameters();
  parameters[k] += by;
  if (j != k) parameters[j] += by;
  moved_.push_back({State(Layout()), CurrentLikelihood(*problem_.likelihood), k >= own_});
  Moved& to = moved_.back();
  to.likelihood.follow(parameters);
  if (!to.design) return;
  to.state = state;
  to.state.parameters() = parameters;
}

}  // namespace bsvm
