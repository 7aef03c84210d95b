#include "group_file.hpp"

#include <algorithm>
#include <filesystem>

#include "base/checksum.hpp"
#include "base/error.hpp"

namespace bsvm {

namespace {

constexpr std::uint64_t kGroupMagic = 0x3270727667736262;  // "bbsgvrp2"

enum GroupWord { group_magic, group_effects, group_columns, group_levels, group_first, all_sum,
                 group_head_sum, group_words };

using GroupHead = std::uint64_t[group_words];

std::uint64_t sum_of_groups(const GroupHead& head) {
  return checksum_of(head, group_head_sum * sizeof(std::uint64_t));
}

std::uint64_t sum_of_record(const double* numbers, Index size) {
  Checksum out;
  out.add(numbers, static_cast<std::size_t>(size) * sizeof(double));
  return out.value();
}

Index numbers_of(Index effects, Index columns) { return effects * (1 + effects + columns); }

std::uintmax_t bytes_of_record(Index effects, Index columns) {
  return static_cast<std::uintmax_t>(numbers_of(effects, columns) + 1) * sizeof(double);
}

[[noreturn]] void refuse_groups(const std::string& path, const std::string& why) {
  throw InvalidInput("shards", "The file of group effects '" + path + "' " + why);
}

std::string new_name(const std::string& path) { return path + ".new"; }

}  // namespace

// ---- writing ---------------------------------------------------------------------------------------

GroupFileWriter::GroupFileWriter(std::string path, Index first)
    : path_(std::move(path)),
      file_(std::filesystem::u8path(new_name(path_)), std::ios::binary | std::ios::trunc),
      first_(first), all_(Checksum().value()) {
  const GroupHead none = {};
  file_.write(reinterpret_cast<const char*>(none), sizeof none);
}

GroupFileWriter::~GroupFileWriter() {
  if (finished_) return;
  file_.close();
  std::error_code ignored;
  std::filesystem::remove(std::filesystem::u8path(new_name(path_)), ignored);
}

void GroupFileWriter::start(Index effects, Index columns) {
  effects_ = effects;
  columns_ = columns;
  record_.resize(static_cast<std::size_t>(numbers_of(effects, columns)));
}

void GroupFileWriter::put(const double* numbers) {
  const std::uint64_t sum = sum_of_record(numbers, numbers_of(effects_, columns_));
  file_.write(reinterpret_cast<const char*>(numbers),
              static_cast<std::streamsize>(bytes_of_record(effects_, columns_) - sizeof sum));
  file_.write(reinterpret_cast<const char*>(&sum), sizeof sum);
  all_ = sum_of_record(reinterpret_cast<const double*>(&sum), 1) ^ (all_ * 0x9e3779b97f4a7c15);
  ++levels_;
}

void GroupFileWriter::add(const GroupPosterior& given, Index from, Index to) {
  const Index q = given.mean.rows();
  if (to <= from) return;
  if (levels_ == 0) start(q, given.regression.rows() / q);
  for (Index g = from; g < to; ++g) {
    auto at = std::copy_n(given.mean.col(g).data(), q, record_.begin());
    at = std::copy_n(given.precision.col(g).data(), q * q, at);
    std::copy_n(given.regression.col(g).data(), q * columns_, at);
    put(record_.data());
  }
}

void GroupFileWriter::add(const GroupFileReader& given, Index from, Index to) {
  if (to <= from) return;
  if (levels_ == 0) start(given.about().effects, given.about().columns);
  for (Index g = from; g < to; ++g) {
    given.read_record(g, record_);
    put(record_.data());
  }
}

std::shared_ptr<const GroupFile> GroupFileWriter::finish() {
  GroupHead head = {kGroupMagic, static_cast<std::uint64_t>(effects_),
                    static_cast<std::uint64_t>(columns_), static_cast<std::uint64_t>(levels_),
                    static_cast<std::uint64_t>(first_), all_, 0};
  head[group_head_sum] = sum_of_groups(head);
  file_.seekp(0);
  file_.write(reinterpret_cast<const char*>(head), sizeof head);
  file_.close();
  std::error_code failed;
  if (!file_.fail())
    std::filesystem::rename(std::filesystem::u8path(new_name(path_)),
                            std::filesystem::u8path(path_), failed);
  if (file_.fail() || failed)
    refuse_groups(path_, "can't be written. Is the disk full, and may files be made in its folder?");
  finished_ = true;
  auto out = std::make_shared<GroupFile>();
  out->path = path_;
  out->effects = effects_;
  out->columns = columns_;
  out->levels = levels_;
  out->sum = all_;
  return out;
}

// ---- reading ---------------------------------------------------------------------------------------

GroupFileReader::GroupFileReader(std::string path)
    : file_(std::filesystem::u8path(path), std::ios::binary) {
  about_.path = std::move(path);
  about_.kept = true;
  if (!file_) refuse_groups(about_.path, "can't be read: it is not there, or may not be opened.");
  GroupHead head;
  file_.read(reinterpret_cast<char*>(head), sizeof head);
  if (file_.gcount() != sizeof head || head[group_magic] != kGroupMagic)
    refuse_groups(about_.path, "is not one, or was written by another version.");
  if (head[group_head_sum] != sum_of_groups(head)) refuse_groups(about_.path, "is damaged.");
  about_.effects = static_cast<Index>(head[group_effects]);
  about_.columns = static_cast<Index>(head[group_columns]);
  about_.levels = static_cast<Index>(head[group_levels]);
  first_ = static_cast<Index>(head[group_first]);
  about_.sum = head[all_sum];
  std::error_code failed;
  const auto size = std::filesystem::file_size(std::filesystem::u8path(about_.path), failed);
  if (failed || size != sizeof head + static_cast<std::uintmax_t>(about_.levels) *
                                          bytes_of_record(about_.effects, about_.columns))
    refuse_groups(about_.path, "is damaged.");
}

std::shared_ptr<const GroupFile> GroupFileReader::whole() const {
  auto out = std::make_shared<GroupFile>();
  out->path = about_.path;
  out->effects = about_.effects;
  out->columns = about_.columns;
  out->levels = about_.levels;
  out->sum = about_.sum;
  return out;
}

void GroupFileReader::read_record(Index level, std::vector<double>& record) const {
  const Index size = numbers_of(about_.effects, about_.columns);
  const auto bytes = bytes_of_record(about_.effects, about_.columns);
  record.resize(static_cast<std::size_t>(size));
  if (level != at_)
    file_.seekg(static_cast<std::streamoff>(sizeof(GroupHead) +
                                            static_cast<std::uintmax_t>(level) * bytes));
  std::uint64_t sum = 0;
  file_.read(reinterpret_cast<char*>(record.data()),
             static_cast<std::streamsize>(bytes - sizeof sum));
  file_.read(reinterpret_cast<char*>(&sum), sizeof sum);
  if (!file_ || sum != sum_of_record(record.data(), size)) refuse_groups(about_.path, "is damaged.");
  at_ = level + 1;
}

GroupPosterior GroupFileReader::read(const std::vector<Index>& levels) const {
  const Index q = about_.effects, p = about_.columns, m = static_cast<Index>(levels.size());
  GroupPosterior out;
  out.mean.resize(q, m);
  out.precision.resize(q * q, m);
  out.regression.resize(p * q, m);
  std::vector<double> record;
  for (Index g = 0; g < m; ++g) {
    const Index level = levels[static_cast<std::size_t>(g)];
    if (level < 0 || level >= about_.levels) refuse_groups(about_.path, "lacks levels of the fit.");
    read_record(level, record);
    const double* from = record.data();
    std::copy_n(from, q, out.mean.col(g).data());
    std::copy_n(from + q, q * q, out.precision.col(g).data());
    std::copy_n(from + q + q * q, p * q, out.regression.col(g).data());
  }
  return out;
}

}  // namespace bsvm
