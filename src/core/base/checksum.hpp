#pragma once
#include <cstdint>
#include <cstring>

namespace bsvm {

// Of bytes, to notice what a disk or a killed run did to a file; no defence against intent.
class Checksum {
 public:
  void add(const void* x, std::size_t size) {
    const unsigned char* at = static_cast<const unsigned char*>(x);
    for (; size >= 8; size -= 8, at += 8) {
      std::uint64_t word;
      std::memcpy(&word, at, sizeof word);
      add(word);
    }
    for (; size > 0; --size, ++at) add(std::uint64_t{*at});
  }
  void add(std::uint64_t word) {
    hash_ = (hash_ ^ word) * 0x9e3779b97f4a7c15;
    hash_ ^= hash_ >> 29;
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0x243f6a8885a308d3;
};

// Of a long array: four strands through its quarters, which a processor adds at once.
inline std::uint64_t checksum_of(const void* x, std::size_t size) {
  const std::size_t quarter = size / 32;  // words
  const unsigned char* at = static_cast<const unsigned char*>(x);
  Checksum strands[4], out;
  for (std::size_t k = 0; k < quarter; ++k)
    for (std::size_t s = 0; s < 4; ++s) {
      std::uint64_t word;
      std::memcpy(&word, at + 8 * (k + s * quarter), sizeof word);
      strands[s].add(word);
    }
  for (const Checksum& strand : strands) out.add(strand.value());
  out.add(at + 32 * quarter, size - 32 * quarter);
  return out.value();
}

}  // namespace bsvm
