#pragma once
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "model/group_posterior.hpp"

namespace bsvm {

// What is known of the effects of very many levels, in a file: a head of 64-bit words in this
// machine's byte order (magic number with the version, effects of a level, columns, levels, how many
// levels of the fit are before them, a checksum of all numbers and one of the head), then for each level
// a record of its own: mean (q), precision (q q), regression (p q) and a checksum. So a few levels are
// read without the others.
class GroupFileWriter {
 public:
  // `first`: the number of the first level among all of the fit, from 0.
  GroupFileWriter(std::string path, Index first);
  ~GroupFileWriter();  // without finish() no file is left
  GroupFileWriter(const GroupFileWriter&) = delete;
  GroupFileWriter& operator=(const GroupFileWriter&) = delete;

  Index next() const { return first_ + levels_; }  // the level that comes next
  // Levels after those so far, from number `from` on of those that are given, up to number `to`.
  void add(const GroupPosterior& given, Index from, Index to);
  void add(const GroupPosterior& given, Index from) { add(given, from, given.mean.cols()); }
  void add(const class GroupFileReader& given, Index from, Index to);
  std::shared_ptr<const GroupFile> finish();

 private:
  void put(const double* numbers);
  void start(Index effects, Index columns);
  std::string path_;
  std::ofstream file_;
  Index first_, effects_ = 0, columns_ = 0, levels_ = 0;
  std::uint64_t all_;
  std::vector<double> record_;
  bool finished_ = false;
};

// Throws InvalidInput("shards") unless the file is whole and of this version.
class GroupFileReader {
 public:
  explicit GroupFileReader(std::string path);

  const GroupFile& about() const { return about_; }
  Index first() const { return first_; }  // how many levels of the fit are before these
  // The file as who wrote it has it, to be kept or removed.
  std::shared_ptr<const GroupFile> whole() const;
  // Of these levels, from 0, in this order.
  GroupPosterior read(const std::vector<Index>& levels) const;

 private:
  friend class GroupFileWriter;
  void read_record(Index level, std::vector<double>& record) const;
  GroupFile about_;
  Index first_ = 0;
  mutable std::ifstream file_;
  mutable Index at_ = -1;  // the level at which the file stands
};

}  // namespace bsvm
