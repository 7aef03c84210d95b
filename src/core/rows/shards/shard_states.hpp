#pragma once
#include <string>
#include <vector>

#include "base/types.hpp"

namespace bsvm {

// What sources of shards know from pass to pass, one vector a shard: in memory while all are at most
// `most` numbers, in files beyond. Files are removed with it, unless others name them.
class ShardStates {
 public:
  ShardStates(Index shards, std::string beside, Index most);
  ~ShardStates();
  ShardStates(const ShardStates&) = delete;
  ShardStates& operator=(const ShardStates&) = delete;

  // States of shard k are read from the file `from` + (first + k) and written to `to` + it, from now
  // on and by whoever is told so: a process that goes on with another's shards. Nothing is read, or
  // written, where a name is empty.
  void turn(std::string from, std::string to, Index first);

  bool has(Index shard) const {
    return named_ ? !from_.empty() : there_[static_cast<std::size_t>(shard)];
  }
  Vec load(Index shard) const;
  void store(Index shard, Vec state);

 private:
  std::string path(Index shard) const;
  void to_files();

  std::string beside_;
  Index most_, held_ = 0;
  bool in_files_ = false, named_ = false;
  std::string from_, to_;
  Index first_ = 0;
  std::vector<bool> there_;
  std::vector<Vec> memory_;
  std::vector<Index> size_;
};

}  // namespace bsvm
