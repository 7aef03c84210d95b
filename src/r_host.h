#pragma once
#include <Rcpp.h>

#include <chrono>

#include "core/host.hpp"

// R behind the core's Host: Ctrl-C and messages. Main thread only.
class RHost : public bsvm::Host {
 public:
  explicit RHost(bool verbose) : verbose_(verbose) {}

  // Once asked to stop, always stopping: R forgets the interrupt it reports.
  bool interrupted() override {
    if (stop_ || !due(asked_, 0.05)) return stop_;
    stop_ = R_ToplevelExec(check, nullptr) == FALSE;
    return stop_;
  }

  // Silent for the first two seconds; a line every half second then.
  void progress(const std::string& text) override {
    if (!verbose_ || seconds(started_) < 2 || !due(told_, 0.5)) return;
    Rcpp::Rcout << text << std::endl;
  }

 private:
  using Clock = std::chrono::steady_clock;

  static void check(void*) { R_CheckUserInterrupt(); }
  static double seconds(Clock::time_point since) {
    return std::chrono::duration<double>(Clock::now() - since).count();
  }
  static bool due(Clock::time_point& last, double interval) {
    if (seconds(last) < interval) return false;
    last = Clock::now();
    return true;
  }

  bool verbose_, stop_ = false;
  Clock::time_point started_ = Clock::now(), asked_ = started_, told_ = started_;
};
