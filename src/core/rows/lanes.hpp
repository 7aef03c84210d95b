#pragma once
#include <functional>

#include "base/host.hpp"
#include "base/types.hpp"

namespace bsvm {

// Asked by a lane between blocks; throws Interrupted once somebody wants to stop.
using Checkpoint = std::function<void()>;

// Runs work(lane, worker, checkpoint) for lanes 0 .. lanes - 1 on up to
// `threads` threads, the calling one included (only it talks to the host).
// An error in a lane stops the others; the lowest lane's is rethrown. Interrupted is
// rethrown only where no lane had an error.
void run_lanes(Index lanes, int threads, Host& host,
               const std::function<void(Index, int, const Checkpoint&)>& work);

}  // namespace bsvm
