#pragma once
#include <Rcpp.h>

#include <memory>

#include "core/chain/sampler.hpp"
#include "core/gaussian/approximation.hpp"
#include "core/point/estimator.hpp"
#include "core/rows/make_source.hpp"
#include "core/variational/engine.hpp"
#include "r_rows.h"

// Between R's lists and the core's types. Nothing here outlives a call.

bsvm::Params to_params(const std::string& component, SEXP numbers);
// With arrays, a list of double vectors and matrices by name.
bsvm::Params to_params(const std::string& component, SEXP numbers, const Rcpp::List& arrays);

// A Problem that looks at the R vectors in `problem`; they must be kept alive
// and unchanged while it is used.
bsvm::Problem to_problem(const Rcpp::List& problem, const Rcpp::List& model);

bool has(const Rcpp::List& list, const char* name);  // something else than NULL

// A whole number of the list, from `least` on; never a conversion of one that no int can hold.
int to_count(const Rcpp::List& list, const char* name, int least = 0);
std::uint64_t to_seed(const Rcpp::List& list);

bsvm::Vec to_vec(const Rcpp::NumericVector& x);
Rcpp::NumericVector to_numeric(const bsvm::Vec& x);
bsvm::Mat to_mat(const Rcpp::NumericMatrix& x);
// list(prior = its name, parameters)
std::unique_ptr<bsvm::Prior> to_prior(const Rcpp::List& block);

// An R array of these dimensions.
Rcpp::NumericVector to_array(const bsvm::Mat& values, const std::vector<bsvm::Index>& dim);

Rcpp::NumericVector to_named(const bsvm::NamedNumbers& numbers);

std::string hex_of(std::uint64_t x);
Rcpp::List join(const Rcpp::List& a, const Rcpp::List& b);
bsvm::Options to_run_options(const Rcpp::List& options);
Rcpp::NumericMatrix trace_matrix(const std::vector<bsvm::TraceEntry>& trace);

// Moments of the coefficients and of the groups' effects, on the outside scale.
Rcpp::List row_moments(const bsvm::Problem& problem, const bsvm::State& state,
                       const bsvm::GroupPosterior& groups);
// Of a latent: list(imputed = list(row, variable, mean, sd), law = what it reports by name), numbers
// from 1; nothing without one.
Rcpp::List latent_report(const bsvm::NamedMatrices& parts, const bsvm::Imputations& imputed);
bsvm::Vec dense_units(const bsvm::Problem& problem);  // (p) outside = inside times unit
Rcpp::List integrated_moments(const bsvm::Problem& problem, const bsvm::Node& node);

[[noreturn]] void signal_core_error(const char* type, const std::string& message,
                                    const std::string& argument);

[[noreturn]] void signal_again(SEXP condition);

// Runs `work`; an error of the core becomes an R condition of class
// "bsvm_core_invalid" (with `argument`), "bsvm_core_numerical", "bsvm_core_interrupted" or
// "bsvm_core_memory"; a condition of R is signalled as it is.
template <class Work>
auto with_core_errors(Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const Signalled& error) {
    signal_again(error.condition);
  } catch (const bsvm::InvalidInput& error) {
    signal_core_error("bsvm_core_invalid", error.what(), error.argument());
  } catch (const bsvm::NumericalFailure& error) {
    signal_core_error("bsvm_core_numerical", error.what(), "");
  } catch (const bsvm::Interrupted&) {
    signal_core_error("bsvm_core_interrupted", "Interrupted before there was a result.", "");
  } catch (const std::bad_alloc&) {
    signal_core_error("bsvm_core_memory", "There is not enough memory for this fit.", "");
  } catch (const std::exception& error) {  // lists without what they need, or with something else
    signal_core_error("bsvm_core_invalid",
                      std::string("It is not as bsvm_spec() makes it (") + error.what() + ").", "");
  }
}
