#include "lanes.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "../error.hpp"

namespace bsvm {

namespace {

struct Shared {
  std::atomic<Index> next{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::condition_variable finished;
  int working = 0;
};

// The lowest lane's error; Interrupted, which a lane also throws because another
// one failed, only if there is nothing else.
void rethrow_first(const std::vector<std::exception_ptr>& errors) {
  bool interrupted = false;
  for (const std::exception_ptr& error : errors) {
    try {
      if (error) std::rethrow_exception(error);
    } catch (const Interrupted&) {
      interrupted = true;
    }
  }
  if (interrupted) throw Interrupted();
}

}  // namespace

void run_lanes(Index lanes, int threads, Host& host,
               const std::function<void(Index, int, const Checkpoint&)>& work) {
  Shared shared;
  std::vector<std::exception_ptr> errors(lanes);
  const Checkpoint watch = [&] {
    if (shared.stop) throw Interrupted();
  };
  const Checkpoint ask = [&] {
    if (host.interrupted()) shared.stop = true;
    watch();
  };
  const auto take_lanes = [&](int worker, const Checkpoint& checkpoint) {
    for (Index lane; (lane = shared.next++) < lanes;) {
      try {
        work(lane, worker, checkpoint);
      } catch (...) {
        errors[lane] = std::current_exception();
        shared.stop = true;
      }
    }
  };

  std::vector<std::thread> helpers;
  const Index wanted = std::min<Index>(threads, lanes);
  for (int worker = 1; worker < wanted; ++worker) {
    try {
      { std::lock_guard<std::mutex> lock(shared.mutex); ++shared.working; }
      helpers.emplace_back([&, worker] {
        take_lanes(worker, watch);
        std::lock_guard<std::mutex> lock(shared.mutex);
        --shared.working;
        shared.finished.notify_one();
      });
    } catch (const std::system_error&) {  // no thread to be had: do with fewer
      std::lock_guard<std::mutex> lock(shared.mutex);
      --shared.working;
      break;
    }
  }
  take_lanes(0, ask);
  {
    std::unique_lock<std::mutex> lock(shared.mutex);
    while (shared.working > 0) {
      shared.finished.wait_for(lock, std::chrono::milliseconds(20));
      if (shared.working > 0 && host.interrupted()) shared.stop = true;
    }
  }
  for (std::thread& helper : helpers) helper.join();
  rethrow_first(errors);
}

}  // namespace bsvm
