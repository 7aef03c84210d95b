#include "family.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace bsvm {

namespace {

class Family : public Likelihood {
 public:
  Family(Index size, Member member)
      : size_(size), member_(std::move(member)), example_(member_(Vec::Zero(size))) {}

  bool supports(Use use) const override {
    return use != Use::point && use != Use::marginal && example_->supports(use);
  }
  void check(const double* y, Index n) const override { example_->check(y, n); }
  Index free_size() const override { return size_; }
  std::unique_ptr<Likelihood> with(ConstVecRef theta) const override { return member_(theta); }
  bool concave() const override { return example_->concave(); }
  int scales() const override { return example_->scales(); }
  // What kind of integral its members have; only theirs are to be asked for values.
  std::unique_ptr<EffectIntegral> integral() const override { return example_->integral(); }

  void terms(Use, const Eigen::Ref<const Arr>&, const Eigen::Ref<const Arr>&,
             const Eigen::Ref<const Arr>&, RowTerms&) const override {
    throw InvalidInput("likelihood", "The parameters of this likelihood must be known.");
  }

 private:
  Index size_;
  Member member_;
  std::unique_ptr<Likelihood> example_;
};

}  // namespace

Number::Number(const Params& params, const std::string& name, bool zero)
    : given_(params.given(name)) {
  if (given_) value_ = zero ? params.not_negative(name) : params.positive(name);
}

double Number::operator()(ConstVecRef theta, Index at) const {
  return given_ ? value_ : std::exp(std::clamp(theta[at], -kFarthestLog, kFarthestLog));
}

std::unique_ptr<Likelihood> make_family(Index size, Member member) {
  if (size == 0) return member(Vec());
  return std::make_unique<Family>(size, std::move(member));
}

}  // namespace bsvm
