#pragma once
#include <Rcpp.h>

#include <memory>

#include "core/engine/engine.hpp"
#include "core/engine/sampler.hpp"
#include "core/rows/row_source.hpp"

// Between R's lists and the core's types. Nothing here outlives a call.

bsvm::Params to_params(const std::string& component, SEXP numbers);

// A Problem that looks at the R vectors in `problem`; they must be kept alive
// and unchanged while it is used.
bsvm::Problem to_problem(const Rcpp::List& problem, const Rcpp::List& model);

// Where the problem's rows are: eliminating one grouping factor, or with sparse columns.
std::unique_ptr<bsvm::DrawSource> make_source(const bsvm::Problem& problem, bsvm::Use use,
                                             int threads);

bsvm::Vec to_vec(const Rcpp::NumericVector& x);
Rcpp::NumericVector to_numeric(const bsvm::Vec& x);

// An R array of these dimensions.
Rcpp::NumericVector to_array(const bsvm::Mat& values, const std::vector<bsvm::Index>& dim);

Rcpp::NumericVector to_named(const bsvm::NamedNumbers& numbers);

[[noreturn]] void signal_core_error(const char* type, const std::string& message,
                                    const std::string& argument);

// Runs `work`; an error of the core becomes an R condition of class
// "bsvm_core_invalid" (with `argument`), "bsvm_core_numerical" or "bsvm_core_memory".
template <class Work>
auto with_core_errors(Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const bsvm::InvalidInput& error) {
    signal_core_error("bsvm_core_invalid", error.what(), error.argument());
  } catch (const bsvm::NumericalFailure& error) {
    signal_core_error("bsvm_core_numerical", error.what(), "");
  } catch (const std::bad_alloc&) {
    signal_core_error("bsvm_core_memory", "There is not enough memory for this fit.", "");
  }
}
