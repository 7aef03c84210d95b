#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/types.hpp"

namespace bsvm {

// Rows of a problem as a file has them: whole lanes, and whole levels of the grouping factor but for
// large ones (Model::large). Codes of levels count from the shard's first level on.
struct ShardShape {
  Index first_row = 0, first_level = 0;  // how many are before it, in the problem's working order
  Index n = 0, p = 0, q = 0;  // rows; columns of the design and of the multipliers
  Index leaving = 0;          // columns of what terms leave over (Rows::left_over)
  Index beside = 0;           // columns for the latent (latent/latent.hpp)
  Index groups = 0;           // levels, 0: no grouping factor or several
  Index sparse = 0, entries = 0;  // columns of several factors, and how many numbers these have
  bool weight = false, offset = false;
  std::uint64_t sum = 0;  // a checksum of the file, once it was read

  Index numbers() const {
    return n * (p + q + leaving + beside + 1 + weight + offset) + entries;
  }
  Index codes() const { return (groups > 0 ? n : 0) + (sparse > 0 ? 2 * sparse + 1 + entries : 0); }
};

// Views of the caller's memory: x (n, p), z (n, q), left_over (n, leaving) and beside (n, beside) by
// column, sparse columns as in SparseColumns, each other (n); null where the shape has none.
struct ShardViews {
  const double *x = nullptr, *y = nullptr, *weight = nullptr, *offset = nullptr, *z = nullptr;
  const int* group = nullptr;
  const double *left_over = nullptr, *beside = nullptr;
  const int *start = nullptr, *row = nullptr, *number = nullptr;  // of the sparse columns
  const double* value = nullptr;
};

// What was read of a file, and views of it.
struct ShardRows {
  ShardShape shape;
  ShardViews views;

  // Of files in their order, each of which begins with the last level of the one before.
  static ShardRows joined(const std::vector<ShardRows>& parts);

 private:
  friend class ShardFile;
  std::vector<double> numbers_;
  std::vector<int> codes_;
};

// A file of a shard: a head of 64-bit words in this machine's byte order (magic number with the
// version, the shape, two checksums and one of the head), the codes, the numbers.
class ShardFile {
 public:
  explicit ShardFile(std::string path) : path_(std::move(path)) {}

  // Throws InvalidInput("shards") unless the file is whole and of this version.
  void write(const ShardShape& shape, const ShardViews& rows) const;
  ShardShape shape() const;
  void read(ShardRows& out) const;
  void read_groups(ShardRows& out) const;  // the shape and the codes alone: who has which level

 private:
  [[noreturn]] void refuse(const std::string& why) const;
  void read_parts(ShardRows& out, bool all) const;
  std::string path_;
};

}  // namespace bsvm
