// A problem that is kept from call to call, with its row sources. Where the rows are, it answers the
// questions of r_ask_rows.cpp.
#include "core/coefficients/coefficients.hpp"
#include "r_convert.h"
#include "r_host.h"

using Rcpp::_;
using Rcpp::as;
using Rcpp::List;
using Rcpp::NumericVector;
using Rcpp::RObject;

namespace {

class HeldRows {
 public:
  HeldRows(const List& problem, const List& model)
      : kept_(List::create(problem, model)), problem_(to_problem(problem, model)),
        side_(problem_) {
    if (problem_.sparse.columns > 0 || problem_.latent->any())
      throw bsvm::InvalidInput("cluster", "Sparse columns, several grouping factors and missing "
                                          "predictors need all rows in one process.");
  }

  RObject answer(const List& question, bsvm::Host& host) {
    const std::string what = as<std::string>(question["what"]);
    if (what == "units") return RObject(units());
    if (what == "open") return RObject(Rcpp::wrap(open(question)));
    bsvm::RowSource& source = source_of(question);
    if (what == "sums") return RObject(sums(source, question, host));
    if (what == "settle") return RObject(settle(source, question));
    if (what == "groups") return RObject(groups(source.groups()));
    if (what == "keep") source.keep();
    else if (what == "back") source.back(state_of(question));
    else throw bsvm::InvalidInput("cluster", "There is no question '" + what + "'.");
    return RObject();
  }

 private:
  static bsvm::Use use_of(const List& question) {
    return static_cast<bsvm::Use>(as<int>(question["use"]));
  }

  List units() const {
    const bsvm::Vec group = problem_.multipliers ? problem_.multipliers->unit() : bsvm::Vec();
    return List::create(_["units"] = to_numeric(dense_units(problem_)),
                        _["group_units"] = to_numeric(group));
  }

  // The number of a new source.
  int open(const List& question) {
    sources_.push_back(
        bsvm::make_source(problem_, use_of(question), to_count(question, "threads", 1)));
    return static_cast<int>(sources_.size()) - 1;
  }

  bsvm::RowSource& source_of(const List& question) {
    const int number = to_count(question, "source");
    if (number >= static_cast<int>(sources_.size()))
      throw bsvm::InvalidInput("cluster", "There is no such source.");
    return *sources_[number];
  }

  bsvm::State state_of(const List& question) const {
    bsvm::State out(side_.layout());
    const NumericVector x = question["state"];
    if (x.size() != out.x.size())
      throw bsvm::InvalidInput("cluster", "The state is not of the size of this model.");
    out.x = to_vec(x);
    return out;
  }

  NumericVector sums(bsvm::RowSource& source, const List& question, bsvm::Host& host) const {
    bsvm::RowSums out(side_.layout());
    source.ask(use_of(question));
    source.sums(state_of(question), out, host);
    return to_numeric(out.x);
  }

  NumericVector settle(bsvm::RowSource& source, const List& question) const {
    const bsvm::Mat out =
        source.settle(state_of(question), static_cast<bsvm::Settle>(to_count(question, "how")),
                      as<double>(question["change"]));
    return NumericVector(out.data(), out.data() + out.size());
  }

  static List groups(const bsvm::GroupPosterior& of) {
    const auto matrix = [](const bsvm::Mat& x) { return to_array(x, {x.rows(), x.cols()}); };
    return List::create(_["mean"] = matrix(of.mean), _["precision"] = matrix(of.precision),
                        _["regression"] = matrix(of.regression));
  }

  List kept_;  // what the problem looks at
  bsvm::Problem problem_;
  bsvm::Coefficients side_;
  std::vector<std::unique_ptr<bsvm::RowSource>> sources_;
};

}  // namespace

// Keeps the rows of a problem in this process: a pointer to them.
// [[Rcpp::export(rng = false)]]
Rcpp::RObject core_hold_rows(Rcpp::List problem, Rcpp::List model) {
  return with_core_errors(
      [&] { return RObject(Rcpp::XPtr<HeldRows>(new HeldRows(problem, model))); });
}

// What they answer to a question (R/row-source.R).
// [[Rcpp::export(rng = false)]]
Rcpp::RObject core_ask_held_rows(SEXP rows, Rcpp::List question) {
  return with_host(R_NilValue, [&](RHost& host) {
    return Rcpp::XPtr<HeldRows>(rows)->answer(question, host);
  });
}
