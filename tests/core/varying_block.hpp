#pragma once
#include <memory>
#include <utility>

#include "fitting.hpp"

// Blocks that depend on the State.
namespace bsvm_test {

// A block times a number: `by`, or where that is zero one of the State's.
class Turned : public Block {
 public:
  Turned(std::shared_ptr<const Block> own, double by) : own_(std::move(own)), by_(by) {}
  Index columns() const override { return own_->columns(); }
  bool varies() const override { return by_ == 0; }
  const Vec& unit() const override { return own_->unit(); }
  void fill(const int* rows, Index r, const State& state,
            Eigen::Ref<Mat, 0, Eigen::OuterStride<>> out) const override {
    own_->fill(rows, r, state, out);
    out *= factor(state);
  }

 private:
  double factor(const State& state) const { return by_ == 0 ? 1 + state.mean()[0] : by_; }
  std::shared_ptr<const Block> own_;
  double by_;
};

inline Problem turned(const Data& data, double by) {
  Problem out = usual_problem(data);
  for (auto& block : out.blocks)
    block.reset(new Turned(std::shared_ptr<const Block>(std::move(block)), by));
  return out;
}

}  // namespace bsvm_test
