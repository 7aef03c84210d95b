#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/registry.hpp"
#include "likelihood/likelihood.hpp"
#include "prior/prior.hpp"

namespace bsvm_test {

// Makes a registered component although its parameters are unknown here: what it
// misses is given a number, and one if it will not have another. So a component
// that was added meets the contract tests without being listed anywhere. It is made with
// `numbers` to begin with: those it has no use for do no harm.
template <class Component>
std::unique_ptr<Component> make_any(const std::string& name, double value = 0.8,
                                    std::map<std::string, double> numbers = {}) {
  for (;;) {
    try {
      return bsvm::Registry<Component>::make(name, bsvm::Params(name, numbers));
    } catch (const bsvm::InvalidInput& refused) {
      const auto known = numbers.find(refused.argument());
      if (known != numbers.end() && known->second == 1) throw;
      numbers[refused.argument()] =
          known == numbers.end() ? value + 0.3 * static_cast<double>(numbers.size()) : 1;
    }
  }
}

// The same of a likelihood, of a family a member.
inline std::unique_ptr<bsvm::Likelihood> any_likelihood(const std::string& name) {
  auto made = make_any<bsvm::Likelihood>(name);
  if (made->free_size() == 0) return made;
  return made->with(bsvm::Vec::Constant(made->free_size(), -0.2));
}

// Names of priors of coefficients: a prior of a parameter alone keeps none of their contract and
// has tests of its own.
inline std::vector<std::string> coefficient_priors() {
  std::vector<std::string> out;
  for (const std::string& name : bsvm::Registry<bsvm::Prior>::names())
    if (!make_any<bsvm::Prior>(name)->of_number()) out.push_back(name);
  return out;
}

// What makes a prior that can be joint one on two effects.
inline const std::map<std::string, double> kTwoEffects{
    {"effects", 2}, {"df", 3.5}, {"scale_2_1", 0.2}};

}  // namespace bsvm_test
