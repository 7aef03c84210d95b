#pragma once
#include <Rcpp.h>

#include <chrono>

#include "core/host.hpp"
#include "r_convert.h"

// R behind the core's Host: Ctrl-C, time limits and messages. Main thread only.
class RHost : public bsvm::Host {
 public:
  explicit RHost(bool verbose) : verbose_(verbose) {}

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

  // Silent for the first two seconds; a line every half second then.
  void progress(const std::string& text) override {
    if (!verbose_ || seconds(started_) < 2 || !due(told_, 0.5)) return;
    Rcpp::Rcout << text << std::endl;
  }

 private:
  using Clock = std::chrono::steady_clock;

  static SEXP ask(void*) {
    R_CheckUserInterrupt();
    return R_NilValue;
  }
  static SEXP keep(SEXP error, void* host) {
    static_cast<RHost*>(host)->error_ = error;
    return R_NilValue;
  }
  static void check(void* host) { R_tryCatchError(ask, nullptr, keep, host); }
  static double seconds(Clock::time_point since) {
    return std::chrono::duration<double>(Clock::now() - since).count();
  }
  static bool due(Clock::time_point& last, double interval) {
    if (seconds(last) < interval) return false;
    last = Clock::now();
    return true;
  }

  bool verbose_, stop_ = false;
  Rcpp::RObject error_;
  Clock::time_point started_ = Clock::now(), asked_ = started_, told_ = started_;
};

// Runs `work(host)` as with_core_errors() does. An error that R had for the caller comes before
// whatever the work made of being stopped.
template <class Work>
auto with_host(bool verbose, Work work) -> decltype(work(std::declval<RHost&>())) {
  RHost host(verbose);
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
