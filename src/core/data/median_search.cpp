#include "median_search.hpp"

#include <algorithm>
#include <cstring>

namespace bsvm {

namespace {

constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
constexpr long double kHalf = 1e-14L;  // of all weight: what sums of weights may be off

}  // namespace

// Negative numbers, whose words fall as they rise, have all bits turned, others the first.
std::uint64_t MedianSearch::word_of(double x) {
  x += 0.0;  // -0 is 0
  std::uint64_t word;
  std::memcpy(&word, &x, sizeof word);
  return word & kSign ? ~word : word | kSign;
}

double MedianSearch::number_of(std::uint64_t word) {
  word = word & kSign ? word & ~kSign : ~word;
  double x;
  std::memcpy(&x, &word, sizeof x);
  return x;
}

void MedianSearch::add(const double* x, Index n, const double* weight) {
  const int rest = 64 - bits_, next = rest - kBits;
  for (Index i = 0; i < n; ++i) {
    const std::uint64_t word = word_of(x[i]);
    const std::uint64_t prefix = bits_ > 0 ? word >> rest : 0;
    if (prefix == prefix_)
      weight_[(word >> next) & ((std::uint64_t{1} << kBits) - 1)] += weight ? weight[i] : 1;
    else if (prefix > prefix_)
      beyond_ = std::min(beyond_, word);
  }
}

void MedianSearch::end_pass() {
  if (bits_ == 0)
    for (long double w : weight_) all_ += w;
  std::size_t at = 0, last = 0;  // sums in another order may miss the half by rounding
  for (std::size_t k = 0; k < weight_.size(); ++k)
    if (weight_[k] > 0) last = k;
  while (at < last && below_ + weight_[at] < (0.5L - kHalf) * all_) below_ += weight_[at++];
  prefix_ = prefix_ << kBits | at;
  bits_ += kBits;
  if (found()) {
    const bool exact = below_ + weight_[at] <= (0.5L + kHalf) * all_;
    upper_ = lower();
    if (exact && at < last) {
      while (weight_[++at] == 0) {}
      upper_ = number_of((prefix_ >> kBits) << kBits | at);
    } else if (exact && beyond_ < std::numeric_limits<std::uint64_t>::max()) {
      upper_ = number_of(beyond_);
    }
  }
  std::fill(weight_.begin(), weight_.end(), 0.0L);
  if (!found()) beyond_ = std::numeric_limits<std::uint64_t>::max();
}

}  // namespace bsvm
