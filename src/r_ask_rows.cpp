// Rows that are reached by asking a function of R. What it is asked, and its answers, are in
// R/row-source.R; r_held_rows.cpp answers where the rows are.
#include <functional>

#include "core/rows/large_levels.hpp"
#include "core/rows/shared_levels.hpp"
#include "core/rows/shards/group_file.hpp"
#include "r_convert.h"

using Rcpp::_;
using Rcpp::as;
using Rcpp::List;
using Rcpp::NumericVector;

namespace {

using Tell = std::function<void(double, double)>;

// A pointer for R to what lives as long as this.
template <class T>
class Lent {
 public:
  explicit Lent(T& of) : pointer_(&of, false) {}
  ~Lent() { R_ClearExternalPtr(pointer_); }
  SEXP pointer() const { return pointer_; }

 private:
  Rcpp::XPtr<T> pointer_;
};

class AskedRows : public bsvm::DrawSource {
 public:
  AskedRows(const Rcpp::Function& ask, bsvm::Use use, int threads) : ask_(ask), use_(use) {
    source_ = as<int>(answer("open", List::create(_["threads"] = threads)));
  }

  void ask(bsvm::Use use) override { use_ = use; }

  void sums(const bsvm::State& state, bsvm::RowSums& out, bsvm::Host& host) override {
    if (host.interrupted()) throw bsvm::Interrupted();
    const std::string pass = "pass " + std::to_string(++passes_) + ", file ";
    Tell tell = [&](double done, double all) {
      host.progress(pass + std::to_string(static_cast<long>(done)) + " of " +
                    std::to_string(static_cast<long>(all)));
    };
    const Lent<Tell> lent(tell);
    out.x = numbers("sums", List::create(_["state"] = to_numeric(state.x),
                                         _["tell"] = lent.pointer()),
                    out.x.size());
  }

  bsvm::Mat settle(const bsvm::State& state, bsvm::Settle how, double change) override {
    found_ = List();
    const bsvm::Index q = state.layout.q;
    if (q == 0) return bsvm::Mat();
    const bsvm::Vec moments =
        numbers("settle", List::create(_["state"] = to_numeric(state.x),
                                       _["how"] = static_cast<int>(how), _["change"] = change),
                q * q);
    return Eigen::Map<const bsvm::Mat>(moments.data(), q, q);
  }

  void keep() override { answer("keep", List()); }
  void back(const bsvm::State& best) override {
    answer("back", List::create(_["state"] = to_numeric(best.x)));
  }

  bsvm::GroupPosterior groups() const override {
    const Rcpp::RObject answered = answer("groups", List());
    bsvm::GroupPosterior out;
    if (TYPEOF(answered) == STRSXP) {  // of a file
      out.file = bsvm::GroupFileReader(as<std::string>(answered)).whole();
      return out;
    }
    const List found(answered);
    if (has(found, "parts")) {
      for (const List part : List(found["parts"])) out.join(to_posterior(part));
      return out;
    }
    out.mean = matrix(found["mean"]);
    out.precision = matrix(found["precision"]);
    out.regression = matrix(found["regression"]);
    return out;
  }

  // As r_held_rows.cpp has it, of several grouping factors.
  static bsvm::GroupPosterior to_posterior(const List& part) {
    bsvm::GroupPosterior out;
    out.effect = to_vec(part["effect"]);
    out.effect_sd = to_vec(part["sd"]);
    out.factor.order = as<std::vector<int>>(part["order"]);
    out.factor.leading = static_cast<bsvm::Index>(out.factor.order.size());
    out.factor.start = as<std::vector<int>>(part["start"]);
    out.factor.row = as<std::vector<int>>(part["row"]);
    out.factor.value = as<std::vector<double>>(part["value"]);
    return out;
  }

  bsvm::Vec effects() const override { return drawn("effects"); }
  bsvm::Vec expected_effects(bsvm::ConstVecRef) const override { return drawn("expected"); }
  void restore(bsvm::ConstVecRef effects, bsvm::State&) override {
    answer("restore", List::create(_["effects"] = to_numeric(effects)));
  }

 private:
  // Both are asked for at once, after settle().
  bsvm::Vec drawn(const char* which) const {
    if (found_.size() == 0) found_ = List(answer("effects", List()));
    const NumericVector out = found_[which];
    return to_vec(out);
  }

  // A condition comes back as a value: the core must be left by its own errors.
  Rcpp::RObject answer(const char* what, const List& more) const {
    const List common = List::create(_["what"] = what, _["source"] = source_,
                                     _["use"] = static_cast<int>(use_));
    const Rcpp::RObject found = ask_(join(common, more));
    if (Rf_inherits(found, "interrupt")) throw bsvm::Interrupted();
    if (Rf_inherits(found, "condition")) throw Signalled(found);
    return found;
  }

  static bsvm::Mat matrix(const Rcpp::NumericMatrix& x) {
    return Eigen::Map<const bsvm::Mat>(x.begin(), x.nrow(), x.ncol());
  }

  bsvm::Vec numbers(const char* what, const List& more, bsvm::Index size) const {
    const Rcpp::RObject found = answer(what, more);
    if (TYPEOF(found) != REALSXP || Rf_xlength(found) != size)
      throw bsvm::InvalidInput("cluster", "An answer is not of the size of this model.");
    return to_vec(NumericVector(found));
  }

  Rcpp::Function ask_;
  bsvm::Use use_;
  int source_ = 0, passes_ = 0;
  mutable List found_;  // what effects() gave last
};

}  // namespace

bsvm::MakeDraws source_for(const bsvm::Problem& problem, SEXP rows) {
  if (Rf_isNull(rows)) return bsvm::source_maker(problem);
  const RowsMaker& maker = *Rcpp::XPtr<RowsMaker>(rows);
  return [&problem, &maker](bsvm::Use use, int threads) {
    return bsvm::with_shared_levels(
        problem, bsvm::with_large_levels(problem, maker(problem, use, threads), use), use);
  };
}

// For answer_or_condition(): the function `tell` of a question.
// [[Rcpp::export(rng = false)]]
void core_tell(SEXP tell, double done, double all) { (*Rcpp::XPtr<Tell>(tell))(done, all); }

// Rows that `ask`, a function of a question, knows of.
// [[Rcpp::export(rng = false)]]
Rcpp::RObject core_ask_rows(Rcpp::Function ask) {
  const auto make = [ask](const bsvm::Problem&, bsvm::Use use, int threads) {
    return std::unique_ptr<bsvm::DrawSource>(new AskedRows(ask, use, threads));
  };
  return Rcpp::RObject(Rcpp::XPtr<RowsMaker>(new RowsMaker(make)));
}
