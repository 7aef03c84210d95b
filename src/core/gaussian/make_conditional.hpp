#pragma once
#include <memory>

#include "approximation.hpp"

namespace bsvm {

// What the coefficients are given the hyper-parameters: about their mode where a factor's effects
// are integrated out, else by Gaussian variational inference.
std::unique_ptr<Conditional> make_conditional(const Problem& problem,
                                              const MakeSource& make_source, Centre centre,
                                              const Options& options, int threads, Host& host);

}  // namespace bsvm
