#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "hosts.hpp"
#include "rows/lanes.hpp"

using namespace bsvm;

namespace {

std::string message_of(int threads,
                       const std::function<void(Index, int, const Checkpoint&)>& work) {
  Host host;
  try {
    run_lanes(6, threads, host, work);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("every lane is worked once, by a worker there is") {
  for (int threads : {1, 2, 4, 40}) {
    std::vector<std::atomic<int>> times(17);
    Host host;
    run_lanes(17, threads, host, [&](Index lane, int worker, const Checkpoint& checkpoint) {
      checkpoint();
      CHECK(worker >= 0);
      CHECK(worker < std::min(threads, 17));
      ++times[lane];
    });
    for (const auto& count : times) CHECK(count == 1);
  }
}

TEST_CASE("no lanes, nothing to do") {
  Host host;
  run_lanes(0, 4, host, [](Index, int, const Checkpoint&) { FAIL("there is no lane"); });
}

TEST_CASE("an error in a lane is rethrown, the lowest lane's of several") {
  for (int threads : {1, 2, 4})
    CHECK(message_of(threads, [](Index lane, int, const Checkpoint&) {
            if (lane >= 2) throw NumericalFailure("lane " + std::to_string(lane));
          }) == "lane 2");
}

TEST_CASE("a lane that was stopped by another's error does not hide it") {
  const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  CHECK(message_of(2, [&](Index lane, int, const Checkpoint& checkpoint) {
          if (lane == 1) throw NumericalFailure("lane 1");
          while (std::chrono::steady_clock::now() < late) checkpoint();
        }) == "lane 1");
}

TEST_CASE("an interrupt reaches all lanes, and only the starting thread asks the host") {
  for (int threads : {1, 2, 4}) {
    bsvm_test::ImpatientHost host(3);
    std::atomic<int> ended{0};
    CHECK_THROWS_AS(run_lanes(4, threads, host,
                              [&](Index, int, const Checkpoint& checkpoint) {
                                for (;;) checkpoint();
                                ++ended;
                              }),
                    Interrupted);
    CHECK(ended == 0);
  }
}

TEST_CASE("a host is asked while the starting thread has nothing left to do") {
  bsvm_test::ImpatientHost host(2);
  const std::thread::id starter = std::this_thread::get_id();
  std::atomic<bool> helper_runs{false};
  CHECK_THROWS_AS(run_lanes(2, 2, host,
                            [&](Index, int, const Checkpoint& checkpoint) {
                              if (std::this_thread::get_id() != starter) {
                                helper_runs = true;
                                for (;;) checkpoint();
                              }
                              while (!helper_runs) std::this_thread::yield();
                            }),
                  Interrupted);
}
