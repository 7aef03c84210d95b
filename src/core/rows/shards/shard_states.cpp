#include "shard_states.hpp"

#include <filesystem>
#include <fstream>

#include "base/checksum.hpp"
#include "base/error.hpp"

namespace bsvm {

namespace {

[[noreturn]] void refuse_state(const std::string& path) {
  throw InvalidInput("shards", "What is known of the levels can't be kept in the file '" + path +
                                   "'. Is the disk full?");
}

Vec read_state(const std::string& path) {
  std::uint64_t sum = 0;
  std::error_code failed;
  const auto size = std::filesystem::file_size(std::filesystem::u8path(path), failed);
  if (failed || size < sizeof sum) refuse_state(path);
  Vec out(static_cast<Index>((size - sizeof sum) / sizeof(double)));
  const auto bytes = static_cast<std::streamsize>(sizeof(double)) * out.size();
  std::ifstream file(std::filesystem::u8path(path), std::ios::binary);
  file.read(reinterpret_cast<char*>(&sum), sizeof sum);
  if (file.read(reinterpret_cast<char*>(out.data()), bytes).gcount() != bytes ||
      checksum_of(out.data(), static_cast<std::size_t>(bytes)) != sum)
    refuse_state(path);
  return out;
}

void write_state(const std::string& path, const Vec& state) {
  const auto bytes = static_cast<std::streamsize>(sizeof(double)) * state.size();
  const std::uint64_t sum = checksum_of(state.data(), static_cast<std::size_t>(bytes));
  std::ofstream file(std::filesystem::u8path(path), std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(&sum), sizeof sum);
  file.write(reinterpret_cast<const char*>(state.data()), bytes);
  file.close();
  if (file.fail()) refuse_state(path);
}

}  // namespace

ShardStates::ShardStates(Index shards, std::string beside, Index most)
    : beside_(std::move(beside)), most_(most), there_(static_cast<std::size_t>(shards)),
      memory_(there_.size()), size_(there_.size(), 0) {}

ShardStates::~ShardStates() {
  std::error_code ignored;
  if (in_files_)
    for (std::size_t k = 0; k < there_.size(); ++k)
      std::filesystem::remove(std::filesystem::u8path(path(static_cast<Index>(k))), ignored);
}

std::string ShardStates::path(Index shard) const { return beside_ + std::to_string(shard); }

void ShardStates::turn(std::string from, std::string to, Index first) {
  named_ = true;
  from_ = std::move(from);
  to_ = std::move(to);
  first_ = first;
}

Vec ShardStates::load(Index shard) const {
  if (named_) return read_state(from_ + std::to_string(first_ + shard));
  return in_files_ ? read_state(path(shard)) : memory_[static_cast<std::size_t>(shard)];
}

void ShardStates::store(Index shard, Vec state) {
  if (named_) {
    if (!to_.empty()) write_state(to_ + std::to_string(first_ + shard), state);
    return;
  }
  const std::size_t k = static_cast<std::size_t>(shard);
  held_ += state.size() - size_[k];
  size_[k] = state.size();
  there_[k] = true;
  if (!in_files_ && held_ > most_) to_files();
  if (in_files_) write_state(path(shard), state);
  else memory_[k] = std::move(state);
}

void ShardStates::to_files() {
  in_files_ = true;
  for (std::size_t k = 0; k < memory_.size(); ++k) {
    if (memory_[k].size() > 0) write_state(path(static_cast<Index>(k)), memory_[k]);
    memory_[k] = Vec();
  }
}

}  // namespace bsvm
