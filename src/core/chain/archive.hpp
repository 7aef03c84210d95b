#pragma once
#include <vector>

#include "base/error.hpp"
#include "base/types.hpp"
#include "special/whole.hpp"

namespace bsvm {

// All a chain needs to go on, in one vector: the chain names its parts once, and they are written
// to it or read from it, in that order.
class Archive {
 public:
  Archive() = default;                                           // to write
  explicit Archive(ConstVecRef saved) : saved_(saved), reads_(true) {}  // to read, finite numbers

  // Numbers that are written and read where they are.
  void part(VecRef part) {
    if (reads_) part = take(part.size());
    else put(part);
  }
  // Numbers that `restore` takes back, as many as there are now.
  template <class Restore>
  void part(ConstVecRef now, Restore restore) {
    if (reads_) restore(take(now.size()));
    else put(now);
  }
  // A whole number from zero.
  void count(Index& number, Index most) {
    if (reads_) number = whole_within(take(1)[0], 0, most);
    else put(Vec::Constant(1, static_cast<double>(number)));
  }

  bool reads() const { return reads_; }
  Vec written() const {
    return Eigen::Map<const Vec>(out_.data(), static_cast<Index>(out_.size()));
  }

 private:
  void put(ConstVecRef part) { out_.insert(out_.end(), part.data(), part.data() + part.size()); }
  Vec take(Index size) {
    at_ += size;
    return saved_.segment(at_ - size, size);
  }

  Vec saved_;
  Index at_ = 0;
  bool reads_ = false;
  std::vector<double> out_;
};

}  // namespace bsvm
