#include "checkpoint.hpp"

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "../error.hpp"

namespace bsvm {

namespace {

constexpr std::uint64_t kMagic = 0x31766b636d767362;  // "bsvmckv1", this machine's byte order

std::uint64_t checksum(const std::vector<char>& bytes, size_t size) {
  std::uint64_t hash = 0xcbf29ce484222325;  // Fowler, Noll & Vo, 1a
  for (size_t k = 0; k < size; ++k)
    hash = (hash ^ static_cast<unsigned char>(bytes[k])) * 0x100000001b3;
  return hash;
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw InvalidInput("checkpoint", "The checkpoint '" + path + "' " + why);
}

class Writer {
 public:
  void number(std::uint64_t x) { bytes(&x, sizeof x); }
  void numbers(const double* x, Index size) {
    number(static_cast<std::uint64_t>(size));
    bytes(x, static_cast<size_t>(size) * sizeof(double));
  }
  void numbers(const Vec& x) { numbers(x.data(), x.size()); }
  void columns(const Mat& m, Index kept) {
    number(static_cast<std::uint64_t>(m.rows()));
    numbers(m.data(), m.rows() * std::min(kept, m.cols()));
  }
  std::vector<char> out;

 private:
  void bytes(const void* x, size_t size) {
    const char* first = static_cast<const char*>(x);
    out.insert(out.end(), first, first + size);
  }
};

class Reader {
 public:
  Reader(const std::vector<char>& in, size_t size, const std::string& path)
      : in_(in), size_(size), path_(path) {}
  std::uint64_t number() {
    std::uint64_t x;
    bytes(&x, sizeof x);
    return x;
  }
  Vec numbers() {
    const std::uint64_t size = number();
    if (size > (size_ - at_) / sizeof(double)) refuse(path_, "is damaged.");
    Vec out(static_cast<Index>(size));
    bytes(out.data(), size * sizeof(double));
    return out;
  }
  Mat columns() {
    const Index rows = static_cast<Index>(number());
    const Vec all = numbers();
    if (rows == 0) return Mat(0, 0);
    return Eigen::Map<const Mat>(all.data(), rows, all.size() / rows);
  }

 private:
  void bytes(void* to, size_t size) {
    if (size > size_ - at_) refuse(path_, "is damaged.");
    if (size > 0) std::memcpy(to, in_.data() + at_, size);
    at_ += size;
  }
  const std::vector<char>& in_;
  size_t size_, at_ = 0;
  const std::string& path_;
};

// What must be the same for a chain to go on.
std::vector<std::uint64_t> settings(const SampleOptions& options) {
  return {options.fingerprint, static_cast<std::uint64_t>(options.burnin),
          static_cast<std::uint64_t>(options.thin),
          static_cast<std::uint64_t>(options.chains), options.keep_effects ? 1u : 0u};
}

std::vector<char> read_file(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) refuse(path, "is not a file.");
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse(path, "can't be read.");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

bool file_exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

void check_writable(const std::string& path) {
  const std::string beside = path + ".new";
  if (!std::ofstream(beside, std::ios::binary | std::ios::app))
    refuse(path, "can't be written: is its folder there, and may files be made in it?");
  std::error_code ignored;
  std::filesystem::remove(beside, ignored);
}

void write_checkpoint(const Saved& saved, const SampleOptions& options) {
  Writer to;
  to.number(kMagic);
  for (std::uint64_t x : settings(options)) to.number(x);
  to.number(saved.seed);
  for (size_t k = 0; k < saved.states.size(); ++k) {
    const ChainDraws& d = saved.draws[k];
    to.numbers(saved.states[k]);
    to.number(static_cast<std::uint64_t>(d.kept));
    for (const Mat* m : {&d.coefficients, &d.hyper, &d.effects}) to.columns(*m, d.kept);
    for (const Vec* v : {&d.mean, &d.effect_mean, &d.effect_center, &d.effect_square})
      to.numbers(*v);
  }
  to.number(checksum(to.out, to.out.size()));
  const std::string beside = options.checkpoint + ".new";
  {
    std::ofstream file(beside, std::ios::binary | std::ios::trunc);
    file.write(to.out.data(), static_cast<std::streamsize>(to.out.size()));
    file.flush();
    if (!file) refuse(options.checkpoint, "can't be written.");
  }
  std::error_code error;
  std::filesystem::rename(beside, options.checkpoint, error);
  if (error) refuse(options.checkpoint, "can't be written: " + error.message() + ".");
}

Saved read_checkpoint(const SampleOptions& options) {
  const std::string& path = options.checkpoint;
  const std::vector<char> bytes = read_file(path);
  const size_t end = bytes.size() < 16 ? 0 : bytes.size() - 8;
  Reader from(bytes, bytes.size(), path);
  if (end == 0 || from.number() != kMagic)
    refuse(path, "is not one, or was written by another version.");
  std::uint64_t stored;
  std::memcpy(&stored, bytes.data() + end, sizeof stored);
  if (stored != checksum(bytes, end)) refuse(path, "is damaged: its checksum is wrong.");
  for (std::uint64_t x : settings(options))
    if (from.number() != x)
      refuse(path, "is of other data, another model, or other settings of the sampler than these.");
  Saved out;
  out.seed = from.number();
  for (int k = 0; k < options.chains; ++k) {
    out.states.push_back(from.numbers());
    ChainDraws d;
    d.kept = static_cast<Index>(from.number());
    for (Mat* m : {&d.coefficients, &d.hyper, &d.effects}) *m = from.columns();
    for (Vec* v : {&d.mean, &d.effect_mean, &d.effect_center, &d.effect_square})
      *v = from.numbers();
    out.draws.push_back(std::move(d));
  }
  return out;
}

}  // namespace bsvm
