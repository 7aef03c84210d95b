#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "base/types.hpp"

namespace bsvm {

// The weighted median of numbers that come in parts, again and again: numbers are ordered as 64-bit
// words are, and each of four passes finds 16 bits of the median's word, by the weight of numbers that
// have the bits found so far and each of 2^16 next ones. So no number is kept.
class MedianSearch {
 public:
  MedianSearch() : weight_(std::size_t{1} << kBits, 0.0L) {}

  // One pass is some calls of add() and one of end_pass(). x (n): no NaN; weight (n), above zero, or
  // null: all one. Every pass must have the same numbers.
  void add(const double* x, Index n, const double* weight);
  void end_pass();
  bool found() const { return bits_ == 64; }

  // The first number with which half of the weight is reached, and the next larger one where it is
  // exactly half (to 1e-14 of all), else the same.
  double lower() const { return number_of(prefix_); }
  double upper() const { return upper_; }

 private:
  static constexpr int kBits = 16;
  static std::uint64_t word_of(double x);
  static double number_of(std::uint64_t word);

  std::vector<long double> weight_;  // by the next bits
  int bits_ = 0;                     // found so far, the first ones of the word
  std::uint64_t prefix_ = 0;         // these bits
  long double below_ = 0;            // the weight of smaller prefixes
  long double all_ = 0;
  std::uint64_t beyond_ = std::numeric_limits<std::uint64_t>::max();  // the least of larger prefixes
  double upper_ = 0;
};

}  // namespace bsvm
