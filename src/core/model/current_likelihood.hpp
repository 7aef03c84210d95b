#pragma once
#include <memory>

#include "likelihood/likelihood.hpp"
#include "state.hpp"

namespace bsvm {

// The likelihood at a State: of a family the member that State::parameters() names, else itself.
class CurrentLikelihood {
 public:
  explicit CurrentLikelihood(const Likelihood& family) : family_(&family) {}

  void follow(const State& state) { follow(state.parameters()); }
  // parameters (at least the likelihood's own, which come first)
  void follow(ConstVecRef parameters) {
    if (family_->free_size() > 0) member_ = family_->with(parameters.head(family_->free_size()));
  }

  const Likelihood& operator*() const { return member_ ? *member_ : *family_; }
  const Likelihood* operator->() const { return &**this; }

 private:
  const Likelihood* family_;
  std::shared_ptr<const Likelihood> member_;  // copies have the same
};

}  // namespace bsvm
