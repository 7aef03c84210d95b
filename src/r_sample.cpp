#include <cstring>

#include "core/chain/chains.hpp"
#include "core/coefficients/coefficients.hpp"
#include "core/rows/memory/memory_source.hpp"
#include "r_convert.h"
#include "r_host.h"

using Rcpp::_;
using Rcpp::as;
using Rcpp::List;
using Rcpp::NumericVector;

namespace {

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

bsvm::SampleOptions to_options(const List& options) {
  bsvm::SampleOptions out;
  out.draws = to_count(options, "draws", 1);
  if (options.containsElementNamed("most")) out.most = to_count(options, "most");
  out.burnin = to_count(options, "burnin");
  out.thin = to_count(options, "thin", 1);
  out.chains = to_count(options, "chains", 1);
  out.threads = to_count(options, "threads", 1);
  out.seed = to_seed(options);
  out.keep_effects = as<bool>(options["keep_effects"]);
  if (options.containsElementNamed("keep_unknowns"))
    out.keep_unknowns = as<bool>(options["keep_unknowns"]);
  out.checkpoint = as<std::string>(options["checkpoint"]);
  out.resume = as<bool>(options["resume"]);
  out.interval = as<double>(options["checkpoint_interval"]);
  return out;
}

// (rows first .. first + rows - 1 of each chain's draws, kept, chains)
NumericVector draws_array(const bsvm::SampleResult& result, bsvm::Mat bsvm::ChainDraws::*part,
                          bsvm::Index first, bsvm::Index rows) {
  const bsvm::Index kept = result.kept, chains = static_cast<bsvm::Index>(result.chains.size());
  NumericVector out(static_cast<R_xlen_t>(rows * kept * chains));
  for (bsvm::Index k = 0; k < chains; ++k)
    Eigen::Map<bsvm::Mat>(out.begin() + k * rows * kept, rows, kept) =
        (result.chains[k].*part).block(first, 0, rows, kept);
  out.attr("dim") = Rcpp::IntegerVector::create(rows, kept, chains);
  return out;
}

// The drawn hyper-parameters of each prior, with their names.
List variances(const bsvm::Problem& problem, const bsvm::SampleResult& result) {
  List out;
  const bsvm::Coefficients side(problem, 0, false);
  const bsvm::State state = side.start(bsvm::Vec());
  bsvm::Index first = 0;
  for (const bsvm::PriorPart& part : side.parts()) {
    const auto named = part.slot.prior->drawn(side.hyper(state, part));
    const bsvm::Index rows = static_cast<bsvm::Index>(named.size());
    NumericVector own = draws_array(result, &bsvm::ChainDraws::hyper, first, rows);
    const NumericVector names = to_named(named);
    own.attr("dimnames") = List::create(names.names(), R_NilValue, R_NilValue);
    out.push_back(own);
    first += rows;
  }
  return out;
}

// A mean over chains of something each has one of, weighted by its draws.
bsvm::Vec mean_over(const bsvm::SampleResult& result, bsvm::Vec bsvm::ChainDraws::*part) {
  bsvm::Vec sum = bsvm::Vec::Zero((result.chains[0].*part).size());
  double count = 0;
  for (const bsvm::ChainDraws& chain : result.chains) {
    sum += static_cast<double>(chain.kept) * (chain.*part);
    count += static_cast<double>(chain.kept);
  }
  return sum / count;
}

// Standard deviation of effects or unknown entries over all draws of all chains.
bsvm::Vec sd_over(const bsvm::SampleResult& result, bsvm::Vec bsvm::ChainDraws::*centers,
                  bsvm::Vec bsvm::ChainDraws::*squares) {
  const bsvm::Vec center = mean_over(result, centers);
  bsvm::Vec square = bsvm::Vec::Zero(center.size());
  double count = 0;
  for (const bsvm::ChainDraws& chain : result.chains) {
    square += chain.*squares +
              static_cast<double>(chain.kept) * (chain.*centers - center).cwiseAbs2();
    count += static_cast<double>(chain.kept);
  }
  return (square / std::max(1.0, count - 1)).cwiseSqrt();
}

// Of what is unknown in the design.
List unknowns(const bsvm::Problem& problem, const bsvm::SampleResult& result,
              const bsvm::SampleOptions& options) {
  if (!problem.latent->any()) return List();
  bsvm::Imputations imputed =
      bsvm::MemorySource(problem, bsvm::Use::drawn, 1).imputations(bsvm::State(bsvm::Layout()));
  imputed.mean = mean_over(result, &bsvm::ChainDraws::unknown_center);
  imputed.sd =
      sd_over(result, &bsvm::ChainDraws::unknown_center, &bsvm::ChainDraws::unknown_square);
  const List report = latent_report(
      problem.latent->report_drawn(mean_over(result, &bsvm::ChainDraws::law)), imputed);
  if (!options.keep_unknowns) return report;
  return join(report, List::create(_["unknowns"] = draws_array(result, &bsvm::ChainDraws::unknowns,
                                                               0, imputed.mean.size())));
}

List package(const bsvm::Problem& problem, const bsvm::SampleResult& result,
             const bsvm::SampleOptions& options) {
  if (result.kept == 0)
    signal_core_error("bsvm_core_interrupted", "Interrupted before the first draw was kept.", "");
  const bsvm::Index p = problem.columns(), effects = problem.group_coefficients();
  Rcpp::RObject kept_effects;
  if (options.keep_effects)
    kept_effects = draws_array(result, &bsvm::ChainDraws::effects, 0, effects);
  const List out = List::create(
      _["coefficients"] = draws_array(result, &bsvm::ChainDraws::coefficients, 0, p),
      _["variances"] = variances(problem, result), _["effects"] = kept_effects,
      _["mean"] = to_numeric(mean_over(result, &bsvm::ChainDraws::mean)),
      _["effects_mean"] = to_numeric(mean_over(result, &bsvm::ChainDraws::effect_mean)),
      _["effects_sd"] = to_numeric(sd_over(result, &bsvm::ChainDraws::effect_center,
                                           &bsvm::ChainDraws::effect_square)),
      _["draws"] = static_cast<int>(result.kept), _["resumed"] = result.resumed,
      _["checkpoint_failed"] = result.unwritten,
      _["seed"] = static_cast<double>(result.seed),
      _["termination"] = result.interrupted ? "interrupted" : "completed");
  return join(out, unknowns(problem, result, options));
}

}  // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List core_sample(Rcpp::List problem, Rcpp::List model, Rcpp::List options) {
  return with_host(options["verbose"], [&](RHost& host) {
    const bsvm::Problem data = to_problem(problem, model);
    const List engine_spec = model["engine"];
    const std::string name = as<std::string>(engine_spec["name"]);
    const auto sampler = bsvm::Registry<bsvm::Sampler>::make(
        name, to_params(name, engine_spec["parameters"]));
    bsvm::SampleOptions run = to_options(options);
    if (!run.checkpoint.empty()) {
      Fingerprint print;
      print.add(problem);
      print.add(model);
      run.fingerprint = print.value();
    }
    const bsvm::SampleResult result =
        bsvm::run_chains(*sampler, data, bsvm::source_maker(data), run, host);
    host.resignal();
    return package(data, result, run);
  });
}
