#pragma once
#include <Rcpp.h>

#include <memory>

#include "core/rows/shards/shard_source.hpp"

// A problem whose rows are in files. problem: list(center, scale, intercept, slopes, their number);
// known: the problem as the engine has it, with the units of all rows: list(units, group_units, n,
// n_groups, leaving, latent).
std::shared_ptr<bsvm::ShardProblem> to_shard_problem(const Rcpp::List& problem,
                                                     const Rcpp::List& model,
                                                     const Rcpp::List& known);
