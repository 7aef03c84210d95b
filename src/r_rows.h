#pragma once
#include <Rcpp.h>

#include <functional>

#include "core/model/problem.hpp"
#include "core/rows/row_source.hpp"

// How R says where the rows of a fit are: an external pointer to a maker of row sources, which a
// source makes in a glue file of its own (r_ask_rows.cpp), or NULL for rows in the lists of the
// problem. The maker must outlive the fit, as the pointer does in the call that has it.
using RowsMaker = std::function<std::unique_ptr<bsvm::DrawSource>(
    const bsvm::Problem& problem, bsvm::Use use, int threads)>;

// The problem must outlive it.
bsvm::MakeDraws source_for(const bsvm::Problem& problem, SEXP rows);

// A condition of R that the core is to leave alone: with_core_errors() signals it in R.
struct Signalled : std::exception {
  explicit Signalled(SEXP what) : condition(what) {}
  const char* what() const noexcept override { return "a condition of R"; }
  Rcpp::RObject condition;
};
