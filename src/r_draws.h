#pragma once
#include <cstring>

#include "core/chain/chains.hpp"
#include "r_convert.h"

// What results of chains have in common, whatever was drawn.

// A fingerprint of R objects: numbers, integers, strings and lists of them.
class Fingerprint {
 public:
  void add(SEXP x) {
    mix(static_cast<std::uint64_t>(TYPEOF(x)));
    mix(static_cast<std::uint64_t>(Rf_xlength(x)));
    if (TYPEOF(x) == REALSXP) words(REAL(x), static_cast<size_t>(Rf_xlength(x)) * sizeof(double));
    if (TYPEOF(x) == INTSXP || TYPEOF(x) == LGLSXP)
      words(INTEGER(x), static_cast<size_t>(Rf_xlength(x)) * sizeof(int));
    for (R_xlen_t k = 0; TYPEOF(x) == STRSXP && k < Rf_xlength(x); ++k)
      word(STRING_ELT(x, k));
    for (R_xlen_t k = 0; TYPEOF(x) == VECSXP && k < Rf_xlength(x); ++k) add(VECTOR_ELT(x, k));
  }
  std::uint64_t value() const { return hash_; }

 private:
  void word(SEXP x) {
    mix(static_cast<std::uint64_t>(LENGTH(x)));
    words(CHAR(x), static_cast<size_t>(LENGTH(x)));
  }
  void mix(std::uint64_t word) {
    hash_ = (hash_ ^ word) * 0x9e3779b97f4a7c15;
    hash_ ^= hash_ >> 29;
  }
  void words(const void* from, size_t bytes) {
    const char* at = static_cast<const char*>(from);
    for (; bytes > 0; at += 8) {
      std::uint64_t word = 0;
      const size_t size = std::min<size_t>(bytes, 8);
      std::memcpy(&word, at, size);
      mix(word);
      bytes -= size;
    }
  }
  std::uint64_t hash_ = 0x243f6a8885a308d3;
};

bsvm::SampleOptions to_sample_options(const Rcpp::List& options);

// (rows first .. first + rows - 1 of each chain's draws, kept, chains)
Rcpp::NumericVector draws_array(const bsvm::SampleResult& result,
                                bsvm::Mat bsvm::ChainDraws::*part, bsvm::Index first,
                                bsvm::Index rows);

// A mean over chains of something each has one of, weighted by its draws.
bsvm::Vec mean_over(const bsvm::SampleResult& result, bsvm::Vec bsvm::ChainDraws::*part);

// Standard deviation of effects or unknown entries over all draws of all chains.
bsvm::Vec sd_over(const bsvm::SampleResult& result, bsvm::Vec bsvm::ChainDraws::*centers,
                  bsvm::Vec bsvm::ChainDraws::*squares);

void need_draws(const bsvm::SampleResult& result);  // an interrupt before the first one

// draws, resumed, checkpoint_failed, seed, termination.
Rcpp::List run_facts(const bsvm::SampleResult& result);
