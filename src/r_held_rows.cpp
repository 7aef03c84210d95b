// A problem that is kept from call to call, with its row sources. Where the rows are, it answers the
// questions of r_ask_rows.cpp.
#include <csignal>
#include <filesystem>
#include <fstream>

#include "core/base/checksum.hpp"
#include "core/coefficients/coefficients.hpp"
#include "core/rows/memory/memory_source.hpp"
#include "r_convert.h"
#include "r_host.h"
#include "r_shards.h"

using Rcpp::_;
using Rcpp::as;
using Rcpp::List;
using Rcpp::NumericVector;
using Rcpp::RObject;

namespace {

// How the host of this process stops a pass; so does whoever makes the file `stop`. For each file of
// rows that is done the file `done` gets a byte.
class WatchedHost : public bsvm::Host {
 public:
  WatchedHost(bsvm::Host& host, const List& question) : host_(host) {
    if (question.containsElementNamed("stop")) stop_ = as<std::string>(question["stop"]);
    if (question.containsElementNamed("done")) done_ = as<std::string>(question["done"]);
  }

  void file_done() override {
    if (!done_.empty()) std::ofstream(std::filesystem::u8path(done_), std::ios::app) << '.';
  }

  bool interrupted() override {
    if (host_.interrupted()) return true;
    const auto now = std::chrono::steady_clock::now();
    if (stop_.empty() || now - asked_ < std::chrono::milliseconds(50)) return false;
    asked_ = now;
    std::error_code ignored;
    return std::filesystem::exists(std::filesystem::u8path(stop_), ignored);
  }

 private:
  bsvm::Host& host_;
  std::string stop_, done_;
  std::chrono::steady_clock::time_point asked_;
};

class HeldRows {
 public:
  virtual ~HeldRows() = default;

  RObject answer(const List& question, bsvm::Host& host) {
    const std::string what = as<std::string>(question["what"]);
    if (what == "units") return RObject(units());
    if (what == "open") return RObject(Rcpp::wrap(open(question)));
    bsvm::DrawSource& source = source_of(question);
    source.ask(use_of(question));
    if (what == "sums") return RObject(sums(source, question, host));
    if (what == "settle") return RObject(settle(source, question));
    if (what == "groups") return RObject(groups(source));
    if (what == "effects") return RObject(effects(source));
    if (what == "keep") source.keep();
    else if (what == "back") source.back(state_of(question));
    else if (what == "restore") restore(source, question);
    else throw bsvm::InvalidInput("cluster", "There is no question '" + what + "'.");
    return RObject();
  }

 protected:
  // Is called first, with what stays where it is.
  void start(const bsvm::Problem& problem) {
    problem_ = &problem;
    several_ = problem.sparse.columns > 0;
    const bsvm::Index extra = static_cast<bsvm::Index>(problem.shared.size());
    side_ = std::make_unique<bsvm::Coefficients>(problem, extra);
    drawn_side_ = std::make_unique<bsvm::Coefficients>(problem, extra, false);
  }
  // ... and last, while it is there.
  void finish() {
    sources_.clear();
    side_.reset();
    drawn_side_.reset();
  }
  virtual std::unique_ptr<bsvm::DrawSource> make(bsvm::Use use, int threads) = 0;
  virtual bsvm::Index first_level(const bsvm::DrawSource&) const { return 0; }  // among all
  virtual void turn(bsvm::RowSource&, const List& /*question*/) {}

 private:
  static bsvm::Use use_of(const List& question) {
    return static_cast<bsvm::Use>(as<int>(question["use"]));
  }

  List units() const {
    const bsvm::Vec group = problem_->multipliers ? problem_->multipliers->unit() : bsvm::Vec();
    return List::create(_["units"] = to_numeric(dense_units(*problem_)),
                        _["group_units"] = to_numeric(group));
  }

  // The number of a new source.
  int open(const List& question) {
    sources_.push_back(make(use_of(question), to_count(question, "threads", 1)));
    return static_cast<int>(sources_.size()) - 1;
  }

  bsvm::DrawSource& source_of(const List& question) {
    const int number = to_count(question, "source");
    if (number >= static_cast<int>(sources_.size()))
      throw bsvm::InvalidInput("cluster", "There is no such source.");
    turn(*sources_[number], question);
    return *sources_[number];
  }

  // The State of draws holds no covariance.
  bsvm::Layout layout_of(const List& question) const {
    return (use_of(question) == bsvm::Use::drawn ? drawn_side_ : side_)->layout();
  }

  bsvm::State state_of(const List& question) const {
    bsvm::State out(layout_of(question));
    const NumericVector x = question["state"];
    if (x.size() != out.x.size())
      throw bsvm::InvalidInput("cluster", "The state is not of the size of this model.");
    out.x = to_vec(x);
    return out;
  }

  NumericVector sums(bsvm::RowSource& source, const List& question, bsvm::Host& host) const {
    bsvm::RowSums out(layout_of(question));
    source.sums(state_of(question), out, host);
    return to_numeric(out.x);
  }

  NumericVector settle(bsvm::RowSource& source, const List& question) const {
    const bsvm::Mat out =
        source.settle(state_of(question), static_cast<bsvm::Settle>(to_count(question, "how")),
                      as<double>(question["change"]));
    return NumericVector(out.data(), out.data() + out.size());
  }

  // Of the levels that are here; of several factors those of all levels, zeros for others'.
  List effects(const bsvm::DrawSource& source) const {
    if (several_)
      return List::create(_["effects"] = to_numeric(source.effects()),
                          _["expected"] = to_numeric(source.expected_effects(bsvm::Vec())));
    const bsvm::Mat own[] = {to_columns(source.effects()),
                             to_columns(source.expected_effects(bsvm::Vec()))};
    return List::create(_["first"] = first_of(source), _["effects"] = matrix(own[0]),
                        _["expected"] = matrix(own[1]));
  }

  // From those of all levels.
  void restore(bsvm::DrawSource& source, const List& question) {
    const NumericVector all = question["effects"];
    const bsvm::Index first = first_level(source) * problem_->effects();
    if (first > all.size())
      throw bsvm::InvalidInput("cluster", "There are fewer effects than levels.");
    bsvm::State state(layout_of(question));
    source.restore(to_vec(all).tail(all.size() - first), state);
  }

  // The name of a file, where it asked for one.
  RObject groups(const bsvm::DrawSource& source) const {
    const bsvm::GroupPosterior of = source.groups();
    if (of.file) {
      of.file->kept = true;
      return Rcpp::wrap(of.file->path);
    }
    if (several_) {
      const bsvm::SparseFactor& factor = of.factor;
      return List::create(_["effect"] = to_numeric(of.effect), _["sd"] = to_numeric(of.effect_sd),
                          _["order"] = Rcpp::wrap(factor.order),
                          _["start"] = Rcpp::wrap(factor.start), _["row"] = Rcpp::wrap(factor.row),
                          _["value"] = Rcpp::wrap(factor.value));
    }
    return List::create(_["first"] = first_of(source), _["mean"] = matrix(of.mean),
                        _["precision"] = matrix(of.precision),
                        _["regression"] = matrix(of.regression));
  }

  double first_of(const bsvm::DrawSource& source) const {
    return static_cast<double>(first_level(source) + 1);
  }
  static Rcpp::NumericVector matrix(const bsvm::Mat& x) { return to_array(x, {x.rows(), x.cols()}); }
  bsvm::Mat to_columns(const bsvm::Vec& x) const {
    const bsvm::Index q = problem_->effects();
    return Eigen::Map<const bsvm::Mat>(x.data(), q, q > 0 ? x.size() / q : 0);
  }

  const bsvm::Problem* problem_ = nullptr;
  bool several_ = false;  // grouping factors
  std::unique_ptr<bsvm::Coefficients> side_, drawn_side_;
  std::vector<std::unique_ptr<bsvm::DrawSource>> sources_;
};

class HeldInMemory : public HeldRows {
 public:
  HeldInMemory(const List& problem, const List& model)
      : kept_(List::create(problem, model)), problem_(to_problem(problem, model)) {
    if (problem_.sparse.columns > 0 || problem_.latent->any())
      throw bsvm::InvalidInput("cluster", "Sparse columns, several grouping factors and missing "
                                          "predictors need all rows in one process.");
    start(problem_);
  }
  ~HeldInMemory() override { finish(); }

 private:
  std::unique_ptr<bsvm::DrawSource> make(bsvm::Use use, int threads) override {
    return std::make_unique<bsvm::MemorySource>(problem_, use, threads);
  }

  List kept_;  // what the problem looks at
  bsvm::Problem problem_;
};

// Shards first, first + 1, ... of all. What is known of their levels is in the files that a question
// names, `from` and `to`, so that another process can go on with them.
class HeldShards : public HeldRows {
 public:
  HeldShards(const List& problem, const List& model, const List& known,
             std::vector<std::string> paths, bsvm::Index first)
      : view_(to_shard_problem(problem, model, known)), paths_(std::move(paths)), first_(first) {
    start(view_->problem);
  }
  ~HeldShards() override { finish(); }

 private:
  std::unique_ptr<bsvm::DrawSource> make(bsvm::Use use, int threads) override {
    return std::make_unique<bsvm::ShardSource>(*view_, paths_, "", use, threads);
  }

  bsvm::Index first_level(const bsvm::DrawSource& source) const override {
    return static_cast<const bsvm::ShardSource&>(source).first_level();
  }

  void turn(bsvm::RowSource& source, const List& question) override {
    auto& shards = static_cast<bsvm::ShardSource&>(source);
    shards.turn(as<std::string>(question["from"]), as<std::string>(question["to"]), first_);
    if (has(question, "groups_to"))
      shards.groups_to(as<std::string>(question["groups_to"]) + std::to_string(first_) + "-");
  }

  std::shared_ptr<bsvm::ShardProblem> view_;
  std::vector<std::string> paths_;
  bsvm::Index first_;
};

}  // namespace

// Keeps the rows of a problem in this process: a pointer to them.
// [[Rcpp::export(rng = false)]]
Rcpp::RObject core_hold_rows(Rcpp::List problem, Rcpp::List model) {
  return with_core_errors(
      [&] { return RObject(Rcpp::XPtr<HeldRows>(new HeldInMemory(problem, model))); });
}

// The same of rows in files, as core_shard_rows() has them; `first`: the number of the first file
// among all of the fit.
// [[Rcpp::export(rng = false)]]
Rcpp::RObject core_hold_shards(Rcpp::List problem, Rcpp::List model, Rcpp::List known,
                               std::vector<std::string> paths, double first) {
  return with_core_errors([&] {
    return RObject(Rcpp::XPtr<HeldRows>(
        new HeldShards(problem, model, known, paths, static_cast<bsvm::Index>(first))));
  });
}

// What they answer to a question (R/row-source.R).
// [[Rcpp::export(rng = false)]]
Rcpp::RObject core_ask_held_rows(SEXP rows, Rcpp::List question) {
  return with_host(R_NilValue, [&](RHost& host) {
    WatchedHost watched(host, question);
    return Rcpp::XPtr<HeldRows>(rows)->answer(question, watched);
  });
}

// Ctrl-C in a terminal comes to all processes that were started from it. One that answers questions
// of another heeds it no more until it is released: the asker decides what becomes of the work.
// [[Rcpp::export(rng = false)]]
void core_heed_interrupts(bool heed) {
  static void (*heeding)(int) = SIG_IGN;
  if (heed) {
    if (heeding != SIG_IGN) std::signal(SIGINT, heeding);
    heeding = SIG_IGN;
    return;
  }
  const auto before = std::signal(SIGINT, SIG_IGN);
  if (before != SIG_IGN && before != SIG_ERR) heeding = before;
}

// Of doubles on their way from one process to another.
// [[Rcpp::export(rng = false)]]
std::string core_checksum(Rcpp::NumericVector x) {
  return hex_of(bsvm::checksum_of(x.begin(), sizeof(double) * static_cast<std::size_t>(x.size())));
}

// Looks for Ctrl-C and time limits, and leaves by a jump: a call of R and no C++ is around it.
// [[Rcpp::export(rng = false)]]
void core_look() { R_CheckUserInterrupt(); }
