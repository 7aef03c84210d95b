#pragma once
#include "core/factors/model.hpp"
#include "r_convert.h"

// `data` and `model` as core_factor_model() has them.
bsvm::FactorModel to_factor_model(const Rcpp::List& data, const Rcpp::List& model);
