#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/types.hpp"

namespace bsvm {

// A sum over leaves 0 .. leaves - 1 (lanes, or shards of them) by one binary tree: neighbours are
// added first, then neighbouring pairs, and so on, whatever the order in which leaves come. So the
// bits depend on the leaves alone, and a run of 2^k of them that starts at a multiple of 2^k can be
// added elsewhere. At most one sum for each level waits besides those being made.
template <class Sum>
class TreeSum {
 public:
  using Own = std::unique_ptr<Sum>;

  TreeSum(Index leaves, Sum zero) : leaves_(leaves), zero_(std::move(zero)), total_(zero_) {}

  // Before the leaves of a pass come. What an interrupted one left is forgotten.
  void start() {
    for (auto& node : waiting_) spare_.push_back(std::move(node.second));
    waiting_.clear();
    total_ = zero_;
  }

  // A zero to sum a leaf in.
  Own take() {
    Own out;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (!spare_.empty()) {
        out = std::move(spare_.back());
        spare_.pop_back();
      }
    }
    if (!out) return std::make_unique<Sum>(zero_);
    *out = zero_;
    return out;
  }

  void put(Index leaf, Own sum) {
    std::lock_guard<std::mutex> lock(mutex_);
    int level = 0;
    for (Index nodes = leaves_; nodes > 1; nodes = (nodes + 1) / 2, leaf /= 2, ++level) {
      const Index sibling = leaf ^ 1;
      if (sibling >= nodes) continue;  // the last of an odd number goes up alone
      const auto found = waiting_.find({level, sibling});
      if (found == waiting_.end()) {
        waiting_.emplace(std::make_pair(level, leaf), std::move(sum));
        return;
      }
      *sum += *found->second;
      spare_.push_back(std::move(found->second));
      waiting_.erase(found);
    }
    total_ = *sum;
    spare_.push_back(std::move(sum));
  }

  const Sum& total() const { return total_; }

 private:
  Index leaves_;
  Sum zero_, total_;
  std::mutex mutex_;
  std::map<std::pair<int, Index>, Own> waiting_;  // by level and number on it
  std::vector<Own> spare_;
};

}  // namespace bsvm
