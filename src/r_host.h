#pragma once
#include <Rcpp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <sstream>

#include "core/base/progress.hpp"
#include "r_convert.h"

// When progress is told: nothing before `after` seconds, then a line every `every`; earlier, from a
// quarter of `after` on, if the run will take longer than that. `rewrite`: on a terminal, in place.
struct Pace {
  double after = std::numeric_limits<double>::infinity(), every = 0;
  bool rewrite = false;

  // TRUE or FALSE, or the three numbers (R/progress.R).
  explicit Pace(SEXP verbose) {
    if (TYPEOF(verbose) == REALSXP && Rf_length(verbose) == 3) {
      after = REAL(verbose)[0];
      every = REAL(verbose)[1];
      rewrite = REAL(verbose)[2] != 0;
    } else if (TYPEOF(verbose) == LGLSXP && Rcpp::as<bool>(verbose)) {
      after = 0;
    }
  }
};

// R behind the core's Host: Ctrl-C, time limits and progress. Main thread only.
class RHost : public bsvm::TimedHost {
 public:
  using bsvm::TimedHost::progress;
  // `let_in`: Ctrl-C and time limits are seen though they are suspended, as with_rows() does.
  RHost(SEXP verbose, bool let_in) : pace_(verbose) {
    if (!let_in) return;
    home_ = Rcpp::Environment::namespace_env("bsvm");
    look_ = Rcpp::Language("allowInterrupts", Rcpp::Language("core_look"));
  }
  ~RHost() override {
    if (open_) REprintf("\n");
  }

  // Once asked to stop, always stopping: R forgets the interrupt it reports.
  bool interrupted() override {
    if (stop_ || !due(asked_, 0.05)) return stop_;
    stop_ = R_ToplevelExec(check, this) == FALSE || !Rf_isNull(error_);
    return stop_;
  }

  // What R signals while it is asked, as setTimeLimit() does, is no Ctrl-C: it is for the caller,
  // and R says it once. So the run stops, and then the error goes on its way.
  void resignal() {
    if (!Rf_isNull(error_)) Rcpp::Function("stop", R_BaseEnv)(error_);
  }

  void progress(const std::string& text, double share) override {
    const double passed = seconds(started_);
    const double left = share > 0 ? passed / share - passed : -1;
    if (!told_once_ && !(passed >= pace_.after ||
                         (passed >= pace_.after / 4 && passed + left > pace_.after)))
      return;
    if (told_once_ && !due(told_, pace_.every)) return;
    told_once_ = true;
    told_ = Clock::now();
    tell(text, passed, left);
  }

 private:
  using Clock = std::chrono::steady_clock;

  static SEXP ask(void* of) {
    const RHost* host = static_cast<RHost*>(of);
    if (!Rf_isNull(host->look_)) return Rf_eval(host->look_, host->home_);
    R_CheckUserInterrupt();
    return R_NilValue;
  }
  static SEXP keep(SEXP error, void* host) {
    static_cast<RHost*>(host)->error_ = error;
    return R_NilValue;
  }
  static void check(void* host) { R_tryCatchError(ask, host, keep, host); }
  static double seconds(Clock::time_point since) {
    return std::chrono::duration<double>(Clock::now() - since).count();
  }
  static bool due(Clock::time_point& last, double interval) {
    if (seconds(last) < interval) return false;
    last = Clock::now();
    return true;
  }

  void tell(const std::string& text, double passed, double left) {
    std::ostringstream line;
    line << "bsvm, " << std::ceil(passed) << " s: " << text;
    if (left >= 0) line << ", about " << std::ceil(left) << " s left";
    std::string words = line.str();
    longest_ = std::max(longest_, words.size());
    if (pace_.rewrite) words.resize(longest_, ' ');
    REprintf(pace_.rewrite ? "\r%s" : "%s\n", words.c_str());
    open_ = pace_.rewrite;
  }

  Pace pace_;
  bool stop_ = false, told_once_ = false, open_ = false;
  size_t longest_ = 0;
  Rcpp::RObject home_, look_, error_;
  Clock::time_point started_ = Clock::now(), asked_ = started_, told_ = started_;
};

// Runs `work(host)` as with_core_errors() does. An error that R had for the caller comes before
// whatever the work made of being stopped.
// `rows`: what with_rows() has, where interrupts are suspended, or NULL.
template <class Work>
auto with_host(SEXP verbose, SEXP rows, Work work) -> decltype(work(std::declval<RHost&>())) {
  RHost host(verbose, !Rf_isNull(rows));
  return with_core_errors([&] {
    try {
      auto out = work(host);
      host.resignal();
      return out;
    } catch (const bsvm::Interrupted&) {
      host.resignal();
      throw;
    }
  });
}

template <class Work>
auto with_host(SEXP verbose, Work work) -> decltype(work(std::declval<RHost&>())) {
  return with_host(verbose, R_NilValue, work);
}
