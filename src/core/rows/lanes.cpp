#include "lanes.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "base/error.hpp"

namespace bsvm {

namespace {

struct Shared {
  std::atomic<Index> next{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::condition_variable finished;
  int working = 0;

  void add(int change) {
    std::lock_guard<std::mutex> lock(mutex);
    working += change;
    finished.notify_one();
  }

  // Until nobody works, asking now and then whether to stop.
  template <class Ask>
  void wait(Ask asked_to_stop) {
    std::unique_lock<std::mutex> lock(mutex);
    while (working > 0) {
      finished.wait_for(lock, std::chrono::milliseconds(20));
      if (working > 0 && asked_to_stop()) stop = true;
    }
  }
};

// Joins whatever happens: a thread that is let go ends the program.
struct Helpers {
  std::vector<std::thread> threads;
  ~Helpers() { join(); }
  void join() {
    for (std::thread& thread : threads)
      if (thread.joinable()) thread.join();
  }
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

  Helpers helpers;
  const Index wanted = std::min<Index>(threads, lanes);
  helpers.threads.reserve(static_cast<size_t>(wanted));
  for (int worker = 1; worker < wanted; ++worker) {
    shared.add(1);
    try {
      helpers.threads.emplace_back([&, worker] {
        take_lanes(worker, watch);
        shared.add(-1);
      });
    } catch (const std::exception&) {  // no thread to be had: do with fewer
      shared.add(-1);
      break;
    }
  }
  take_lanes(0, ask);
  shared.wait([&] { return host.interrupted(); });
  helpers.join();
  rethrow_first(errors);
}

}  // namespace bsvm
