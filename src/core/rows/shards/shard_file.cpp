#include "shard_file.hpp"

#include <filesystem>
#include <fstream>

#include "base/checksum.hpp"
#include "base/error.hpp"

namespace bsvm {

namespace {

constexpr std::uint64_t kShardMagic = 0x3464687376736262;  // "bbsvshd4"
constexpr std::uint64_t kMostSize = std::uint64_t{1} << 40;

enum Word {
  magic, first_row, first_level, rows, columns, multipliers, leaving, beside, levels, sparse, entries,
  parts, code_sum, number_sum, head_sum,
  words
};

using Head = std::uint64_t[words];

std::uint64_t sum_of(const Head& head) {
  return checksum_of(head, head_sum * sizeof(std::uint64_t));
}

std::size_t bytes_of(const std::vector<double>& x) { return x.size() * sizeof(double); }
std::size_t bytes_of(const std::vector<int>& x) { return x.size() * sizeof(int); }

// In the order of the file: those there are.
std::vector<std::pair<const double*, Index>> sections(const ShardShape& shape,
                                                      const ShardViews& rows) {
  std::vector<std::pair<const double*, Index>> out{{rows.x, shape.n * shape.p},
                                                   {rows.y, shape.n}};
  if (shape.weight) out.emplace_back(rows.weight, shape.n);
  if (shape.offset) out.emplace_back(rows.offset, shape.n);
  out.emplace_back(rows.z, shape.n * shape.q);
  out.emplace_back(rows.left_over, shape.n * shape.leaving);
  out.emplace_back(rows.beside, shape.n * shape.beside);
  out.emplace_back(rows.value, shape.entries);
  return out;
}

std::vector<std::pair<const int*, Index>> code_sections(const ShardShape& shape,
                                                        const ShardViews& rows) {
  std::vector<std::pair<const int*, Index>> out;
  if (shape.groups > 0) out.emplace_back(rows.group, shape.n);
  if (shape.sparse == 0) return out;
  out.emplace_back(rows.start, shape.sparse + 1);
  out.emplace_back(rows.row, shape.entries);
  out.emplace_back(rows.number, shape.sparse);
  return out;
}

void look_at_codes(const ShardShape& shape, const std::vector<int>& codes, ShardViews& out) {
  const int* at = codes.data();
  const auto take = [&](Index size) {
    const int* from = at;
    at += size;
    return from;
  };
  if (shape.groups > 0) out.group = take(shape.n);
  if (shape.sparse == 0) return;
  out.start = take(shape.sparse + 1);
  out.row = take(shape.entries);
  out.number = take(shape.sparse);
}

ShardViews views_of(const ShardShape& shape, const std::vector<double>& numbers,
                    const std::vector<int>& codes) {
  ShardViews out;
  const double* at = numbers.data();
  const auto take = [&](Index size) {
    const double* from = at;
    at += size;
    return from;
  };
  out.x = take(shape.n * shape.p);
  out.y = take(shape.n);
  if (shape.weight) out.weight = take(shape.n);
  if (shape.offset) out.offset = take(shape.n);
  if (shape.q > 0) out.z = take(shape.n * shape.q);
  if (shape.leaving > 0) out.left_over = take(shape.n * shape.leaving);
  if (shape.beside > 0) out.beside = take(shape.n * shape.beside);
  if (shape.entries > 0) out.value = take(shape.entries);
  look_at_codes(shape, codes, out);
  return out;
}

template <class T>
bool read_into(std::ifstream& file, std::vector<T>& out) {
  const auto size = static_cast<std::streamsize>(bytes_of(out));
  return size == 0 || file.read(reinterpret_cast<char*>(out.data()), size).gcount() == size;
}

}  // namespace

ShardRows ShardRows::joined(const std::vector<ShardRows>& parts) {
  ShardRows out;
  out.shape = parts.front().shape;
  out.shape.n = 0;
  std::vector<std::vector<std::pair<const double*, Index>>> of_parts;
  for (const ShardRows& part : parts) {
    const int before = static_cast<int>(part.shape.first_level - out.shape.first_level);
    for (const int code : part.codes_) out.codes_.push_back(code + before);
    out.shape.n += part.shape.n;
    out.shape.groups = before + part.shape.groups;
    of_parts.push_back(sections(part.shape, part.views));
  }
  out.numbers_.reserve(static_cast<std::size_t>(out.shape.numbers()));
  for (std::size_t k = 0; k < of_parts[0].size(); ++k)
    for (Index j = 0; j < of_parts[0][k].second / parts[0].shape.n; ++j)
      for (std::size_t i = 0; i < parts.size(); ++i) {
        const Index n = parts[i].shape.n;
        const double* column = of_parts[i][k].first + j * n;
        out.numbers_.insert(out.numbers_.end(), column, column + n);
      }
  out.views = views_of(out.shape, out.numbers_, out.codes_);
  return out;
}

void ShardFile::refuse(const std::string& why) const {
  throw InvalidInput("shards", "The shard '" + path_ + "' " + why);
}

void ShardFile::write(const ShardShape& shape, const ShardViews& from) const {
  std::vector<int> codes;
  codes.reserve(static_cast<std::size_t>(shape.codes()));
  for (const auto& section : code_sections(shape, from))
    codes.insert(codes.end(), section.first, section.first + section.second);
  std::vector<double> all;
  all.reserve(static_cast<std::size_t>(shape.numbers()));
  for (const auto& section : sections(shape, from))
    all.insert(all.end(), section.first, section.first + section.second);
  const auto word = [](Index x) { return static_cast<std::uint64_t>(x); };
  Head head = {kShardMagic,
               word(shape.first_row),
               word(shape.first_level),
               word(shape.n),
               word(shape.p),
               word(shape.q),
               word(shape.leaving),
               word(shape.beside),
               word(shape.groups),
               word(shape.sparse),
               word(shape.entries),
               std::uint64_t{shape.weight} + 2 * std::uint64_t{shape.offset},
               checksum_of(codes.data(), bytes_of(codes)),
               checksum_of(all.data(), bytes_of(all)),
               0};
  head[head_sum] = sum_of(head);
  // Under another name first: a killed run leaves no shard that is not whole.
  const std::string unfinished = path_ + ".new";
  std::ofstream file(std::filesystem::u8path(unfinished), std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(head), sizeof head);
  file.write(reinterpret_cast<const char*>(codes.data()),
             static_cast<std::streamsize>(bytes_of(codes)));
  file.write(reinterpret_cast<const char*>(all.data()),
             static_cast<std::streamsize>(bytes_of(all)));
  file.close();
  std::error_code failed;
  if (!file.fail())
    std::filesystem::rename(std::filesystem::u8path(unfinished), std::filesystem::u8path(path_),
                            failed);
  if (!file.fail() && !failed) return;
  std::filesystem::remove(std::filesystem::u8path(unfinished), failed);
  refuse("can't be written. Is the disk full, and may files be made in its folder?");
}

ShardShape ShardFile::shape() const {
  ShardRows out;
  read_groups(out);
  return out.shape;
}

void ShardFile::read(ShardRows& out) const { read_parts(out, true); }
void ShardFile::read_groups(ShardRows& out) const { read_parts(out, false); }

void ShardFile::read_parts(ShardRows& out, bool whole) const {
  std::ifstream file(std::filesystem::u8path(path_), std::ios::binary);
  if (!file) refuse("can't be read: the file is not there, or may not be opened.");
  Head head;
  file.read(reinterpret_cast<char*>(head), sizeof head);
  if (file.gcount() != sizeof head || head[magic] != kShardMagic)
    refuse("is not one, or was written by another version.");
  if (head[head_sum] != sum_of(head)) refuse("is damaged.");
  ShardShape& shape = out.shape;
  shape.first_row = static_cast<Index>(head[first_row]);
  shape.first_level = static_cast<Index>(head[first_level]);
  shape.n = static_cast<Index>(head[rows]);
  shape.p = static_cast<Index>(head[columns]);
  shape.q = static_cast<Index>(head[multipliers]);
  shape.leaving = static_cast<Index>(head[leaving]);
  shape.beside = static_cast<Index>(head[beside]);
  shape.groups = static_cast<Index>(head[levels]);
  shape.sparse = static_cast<Index>(head[sparse]);
  shape.entries = static_cast<Index>(head[entries]);
  shape.weight = head[parts] & 1;
  shape.offset = head[parts] & 2;
  shape.sum = head[head_sum];
  if (static_cast<std::uint64_t>(shape.numbers()) > kMostSize) refuse("is damaged.");
  out.codes_.resize(static_cast<std::size_t>(shape.codes()));
  if (!read_into(file, out.codes_) ||
      checksum_of(out.codes_.data(), bytes_of(out.codes_)) != head[code_sum])
    refuse("is damaged.");
  out.views = ShardViews();
  look_at_codes(shape, out.codes_, out.views);
  if (!whole) return;
  out.numbers_.resize(static_cast<std::size_t>(shape.numbers()));
  if (!read_into(file, out.numbers_) ||
      checksum_of(out.numbers_.data(), bytes_of(out.numbers_)) != head[number_sum])
    refuse("is damaged.");
  out.views = views_of(shape, out.numbers_, out.codes_);
}

}  // namespace bsvm
