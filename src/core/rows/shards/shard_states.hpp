#pragma once
#include <string>
#include <vector>

#include "base/types.hpp"

namespace bsvm {

// What sources of shards know from pass to pass, one vector a shard: in memory while all are at most
// `most` numbers, in files beyond. Files are removed with it.
class ShardStates {
 public:
  ShardStates(Index shards, std::string beside, Index most);
  ~ShardStates();
  ShardStates(const ShardStates&) = delete;
  ShardStates& operator=(const ShardStates&) = delete;

  bool has(Index shard) const { return there_[static_cast<std::size_t>(shard)]; }
  Vec load(Index shard) const;
  void store(Index shard, Vec state);

 private:
  std::string path(Index shard) const;
  void to_files();
  void write(Index shard, const Vec& state) const;
  [[noreturn]] void refuse(Index shard) const;

  std::string beside_;
  Index most_, held_ = 0;
  bool in_files_ = false;
  std::vector<bool> there_;
  std::vector<Vec> memory_;
  std::vector<Index> size_;
};

}  // namespace bsvm
