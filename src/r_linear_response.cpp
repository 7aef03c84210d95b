#include "core/variational/linear_response.hpp"
#include "r_convert.h"
#include "r_host.h"

// [[Rcpp::export(rng = false)]]
Rcpp::NumericMatrix core_linear_response(Rcpp::List problem, Rcpp::List model,
                                         Rcpp::List options) {
  return with_host(R_NilValue, [&](RHost& host) {
    bsvm::Problem data = to_problem(problem, model);
    const Rcpp::List engine_spec = model["engine"];
    const std::string name = Rcpp::as<std::string>(engine_spec["name"]);
    const auto engine = bsvm::Registry<bsvm::Engine>::make(
        name, to_params(name, engine_spec["parameters"]));
    const auto rows =
        bsvm::make_source(data, engine->use(), to_count(options, "threads", 1));
    const bsvm::Mat out =
        bsvm::linear_response(data, *engine, *rows, to_run_options(options), host);
    return Rcpp::NumericMatrix(static_cast<int>(out.rows()), static_cast<int>(out.cols()),
                               out.data());
  });
}
