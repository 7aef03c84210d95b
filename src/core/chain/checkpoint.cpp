#include "checkpoint.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/checksum.hpp"
#include "base/error.hpp"

namespace bsvm {

namespace {

constexpr std::uint64_t kMagic = 0x34766b636d767362;  // "bsvmckv4", this machine's byte order

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw InvalidInput("checkpoint", "The checkpoint '" + path + "' " + why);
}

class Writer {
 public:
  explicit Writer(const std::string& path)
      : file_(path, std::ios::binary | std::ios::trunc) {}
  void number(std::uint64_t x) { bytes(&x, sizeof x); }
  void numbers(const double* x, Index size) {
    number(static_cast<std::uint64_t>(size));
    bytes(x, static_cast<size_t>(size) * sizeof(double));
  }
  bool finish() {
    const std::uint64_t sum = sum_.value();
    file_.write(reinterpret_cast<const char*>(&sum), sizeof sum);
    file_.close();
    return !file_.fail();
  }

 private:
  void bytes(const void* x, size_t size) {
    file_.write(static_cast<const char*>(x), static_cast<std::streamsize>(size));
    sum_.add(x, size);
  }
  std::ofstream file_;
  Checksum sum_;
};

// Never beyond the end of what was read, whatever lengths it is told.
class Reader {
 public:
  Reader(std::vector<char> in, const std::string& path) : in_(std::move(in)), path_(path) {}
  bool at_end() const { return at_ == in_.size(); }
  std::uint64_t number() {
    std::uint64_t x;
    bytes(&x, sizeof x);
    return x;
  }
  Vec numbers() {
    const std::uint64_t size = number();
    if (size > (in_.size() - at_) / sizeof(double)) damaged();
    Vec out(static_cast<Index>(size));
    bytes(out.data(), size * sizeof(double));
    return out;
  }
  Mat columns(std::uint64_t kept) {
    const std::uint64_t rows = number();
    const Vec all = numbers();
    const std::uint64_t size = static_cast<std::uint64_t>(all.size());
    if (kept == 0 ? size != 0 : size % kept != 0 || size / kept != rows) damaged();
    if (rows > (std::uint64_t{1} << 40)) damaged();
    return Eigen::Map<const Mat>(all.data(), static_cast<Index>(rows),
                                 static_cast<Index>(kept));
  }
  // Checks that it ends with the checksum of all before.
  void verify() {
    if (in_.size() < 2 * sizeof(std::uint64_t)) not_one();
    const size_t end = in_.size() - sizeof(std::uint64_t);
    std::uint64_t magic, stored;
    std::memcpy(&magic, in_.data(), sizeof magic);
    std::memcpy(&stored, in_.data() + end, sizeof stored);
    if (magic != kMagic) not_one();
    Checksum sum;
    sum.add(in_.data(), end);
    if (sum.value() != stored) damaged();
    in_.resize(end);
    at_ = sizeof magic;
  }
  [[noreturn]] void damaged() const { refuse(path_, "is damaged."); }

 private:
  [[noreturn]] void not_one() const {
    refuse(path_, "is not one, or was written by another version.");
  }
  void bytes(void* to, size_t size) {
    if (size > in_.size() - at_) damaged();
    if (size > 0) std::memcpy(to, in_.data() + at_, size);
    at_ += size;
  }
  std::vector<char> in_;
  size_t at_ = 0;
  const std::string& path_;
};

// What must be the same for a chain to go on, and its name.
std::vector<std::pair<const char*, std::uint64_t>> settings(const SampleOptions& options) {
  return {{"chains", static_cast<std::uint64_t>(options.chains)},
          {"burnin", static_cast<std::uint64_t>(options.burnin)},
          {"thin", static_cast<std::uint64_t>(options.thin)},
          {"every", static_cast<std::uint64_t>(options.every)},
          {"keep_effects", options.keep_effects ? 1u : 0u},
          {"", options.fingerprint}};
}

void check_settings(Reader& from, const SampleOptions& options) {
  for (const auto& setting : settings(options)) {
    const std::uint64_t stored = from.number();
    if (stored == setting.second) continue;
    const std::string name = setting.first;
    if (name.empty()) refuse(options.checkpoint, "is of other data or another model than these.");
    refuse(options.checkpoint, "has " + name + " = " + std::to_string(stored) +
                                   ", and " + std::to_string(setting.second) + " is asked for.");
  }
}

std::vector<char> read_file(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) refuse(path, "is not a file.");
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse(path, "can't be read.");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string beside(const std::string& path) { return path + ".new"; }

// To open a pipe waits until somebody reads it, and a device is no place for a checkpoint.
void check_kind(const std::string& path) {
  std::error_code ignored;
  const auto kind = std::filesystem::status(beside(path), ignored).type();
  if (kind != std::filesystem::file_type::regular &&
      kind != std::filesystem::file_type::not_found && kind != std::filesystem::file_type::none)
    refuse(path, "can't be written: '" + beside(path) + "', its name while it is written, is there "
                 "and is not a file. Remove that.");
}

}  // namespace

bool file_exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

void check_writable(const std::string& path) {
  check_kind(path);
  const bool was_there = file_exists(beside(path));  // what a killed run left
  if (!std::ofstream(beside(path), std::ios::binary | std::ios::app))
    refuse(path, "can't be written: is its folder there, and may files be made in it?");
  std::error_code ignored;
  if (!was_there) std::filesystem::remove(beside(path), ignored);
}

void write_checkpoint(std::uint64_t seed, const std::vector<Vec>& states,
                      const std::vector<const ChainDraws*>& draws,
                      const SampleOptions& options) {
  check_kind(options.checkpoint);
  Writer to(beside(options.checkpoint));
  to.number(kMagic);
  for (const auto& setting : settings(options)) to.number(setting.second);
  to.number(seed);
  for (size_t k = 0; k < states.size(); ++k) {
    const ChainDraws& d = *draws[k];
    to.numbers(states[k].data(), states[k].size());
    to.number(static_cast<std::uint64_t>(d.kept));
    for (const auto part : kDrawn) {
      const Mat& m = d.*part;
      to.number(static_cast<std::uint64_t>(m.rows()));
      to.numbers(m.data(), m.rows() * d.kept);
    }
    for (const auto part : kSummed) to.numbers((d.*part).data(), (d.*part).size());
    to.number(static_cast<std::uint64_t>(d.seldom.rows()));
    to.numbers(d.seldom.data(), d.seldom.rows() * seldom_of(d.kept, options));
  }
  if (!to.finish()) refuse(options.checkpoint, "can't be written: is the disk full?");
  std::error_code error;
  std::filesystem::rename(beside(options.checkpoint), options.checkpoint, error);
  if (error) refuse(options.checkpoint, "can't be written: " + error.message() + ".");
}

Saved read_checkpoint(const SampleOptions& options) {
  Reader from(read_file(options.checkpoint), options.checkpoint);
  from.verify();
  check_settings(from, options);
  Saved out;
  out.seed = from.number();
  for (int k = 0; k < options.chains; ++k) {
    out.states.push_back(from.numbers());
    ChainDraws d;
    const std::uint64_t kept = from.number();
    if (kept > (std::uint64_t{1} << 40)) from.damaged();
    d.kept = static_cast<Index>(kept);
    for (const auto part : kDrawn) d.*part = from.columns(kept);
    for (const auto part : kSummed) d.*part = from.numbers();
    d.seldom = from.columns(static_cast<std::uint64_t>(seldom_of(d.kept, options)));
    out.draws.push_back(std::move(d));
  }
  if (!from.at_end()) from.damaged();
  return out;
}

}  // namespace bsvm
