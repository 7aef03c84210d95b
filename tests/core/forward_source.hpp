#pragma once
#include <memory>

#include "base/error.hpp"
#include "rows/row_source.hpp"

// Sources that pass everything on, to be derived from where a test wants to meddle.
namespace bsvm_test {

using namespace bsvm;

class Forward : public RowSource {
 public:
  explicit Forward(RowSource& to) : to_(to) {}
  Index extra() const override { return to_.extra(); }
  void ask(Use use) override { to_.ask(use); }
  void sums(const State& state, RowSums& out, Host& host) override { to_.sums(state, out, host); }
  Mat settle(const State& state, Settle how, double change) override {
    return to_.settle(state, how, change);
  }
  void keep() override { to_.keep(); }
  void back(const State& best) override { to_.back(best); }
  GroupPosterior groups() const override { return to_.groups(); }

 private:
  RowSource& to_;
};

// The same for a source of its own.
class Owned : public Forward {
 public:
  explicit Owned(std::unique_ptr<RowSource> source) : Forward(*source), own_(std::move(source)) {}

 private:
  std::unique_ptr<RowSource> own_;
};

// Will not have its moments matched, which leaves the optimum of the expected bound as it is.
class ExpectedOnly : public Owned {
 public:
  using Owned::Owned;
  void ask(Use use) override { refuses_ = use == Use::matched; }
  void sums(const State& state, RowSums& out, Host& host) override {
    if (refuses_) throw NumericalFailure("Not matched.");
    Owned::sums(state, out, host);
  }

 private:
  bool refuses_ = false;
};

}  // namespace bsvm_test
