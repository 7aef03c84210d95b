#include "limited_memory.hpp"

#include <algorithm>
#include <vector>

namespace bsvm {

namespace {
constexpr Index kMemory = 15;               // pairs,
constexpr Index kMostNumbers = Index{1} << 19;  // and numbers in all of them, if more than
constexpr Index kLeast = 3;                 // these
}

Vec LimitedMemory::direction(ConstVecRef gradient) const {
  Vec out = gradient;
  if (pairs_.empty()) return out;
  std::vector<double> share;
  for (const Pair& pair : pairs_) {
    share.push_back(pair.inverse * pair.step.dot(out));
    out -= share.back() * pair.fall;
  }
  out *= 1 / (pairs_[0].inverse * pairs_[0].fall.squaredNorm());
  for (size_t k = pairs_.size(); k-- > 0;)
    out += pairs_[k].step * (share[k] - pairs_[k].inverse * pairs_[k].fall.dot(out));
  return out;
}

void LimitedMemory::rewrite(const Change& step, const Change& gradient) {
  for (Pair& pair : pairs_) {
    pair.step = step(pair.step);
    pair.fall = gradient(pair.fall);
  }
}

void LimitedMemory::cut(Index number) {
  const std::deque<Pair> before = std::move(pairs_);
  pairs_.clear();
  for (size_t k = before.size(); k-- > 0;) {
    Pair pair = before[k];
    pair.step.tail(number).setZero();
    pair.fall.tail(number).setZero();
    learn(pair.step, -pair.fall);
  }
}

void LimitedMemory::learn(ConstVecRef step, ConstVecRef change) {
  const double product = -step.dot(change);
  if (!(product > 1e-8 * step.norm() * change.norm())) return;
  pairs_.push_front({step, -change, 1 / product});
  const Index most = std::clamp(kMostNumbers / (2 * step.size() + 1), kLeast, kMemory);
  if (static_cast<Index>(pairs_.size()) > most) pairs_.pop_back();
}

}  // namespace bsvm
