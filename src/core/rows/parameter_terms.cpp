#include "parameter_terms.hpp"

namespace bsvm {

void ParameterTerms::prepare(const State& state) {
  moved_.clear();
  for (Index k = 0; k < size_; ++k)
    for (const double by : {kStep, -kStep}) {
      moved_.push_back({state, CurrentLikelihood(*problem_.likelihood), k >= own_});
      Moved& to = moved_.back();
      to.state.parameters()[k] += by;
      to.likelihood.follow(to.state);
    }
}

}  // namespace bsvm
