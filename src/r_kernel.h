#pragma once
#include <Rcpp.h>

#include <memory>

#include "core/kernel/kernel.hpp"

// The kernel of a list of factors, list(name, parameters, arrays) each, with the numbers
// `variables` and `ard` among the parameters: their product, or the one there is. It keeps nothing
// of R's.
std::unique_ptr<bsvm::Kernel> to_kernel(const Rcpp::List& factors);
