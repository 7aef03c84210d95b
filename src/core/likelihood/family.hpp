#pragma once
#include <functional>

#include "likelihood.hpp"

namespace bsvm {

// A positive number of a likelihood: given, or inferred as the exponential of a free number.
class Number {
 public:
  // `zero`: may it be given as zero?
  Number(const Params& params, const std::string& name, bool zero = false);

  Index free() const { return given_ ? 0 : 1; }
  // Inferred it is the exponential of theta's number `at`, which is kept within +-kFarthestLog so
  // that products and squares of such numbers are numbers.
  double operator()(ConstVecRef theta, Index at) const;

  static constexpr double kFarthestLog = 150;

 private:
  bool given_;
  double value_ = 0;
};

// From theta, any finite numbers, to a likelihood without free numbers. Uses, latent scales and
// whether it is concave must not depend on theta.
using Member = std::function<std::unique_ptr<Likelihood>(ConstVecRef theta)>;

// A likelihood without knowing its numbers: what does not depend on them.
class Family : public Likelihood {
 public:
  Family(Index size, Member member);

  bool supports(Use use) const override;
  void check(const double* y, Index n) const override { example_->check(y, n); }
  Index free_size() const override { return size_; }
  std::unique_ptr<Likelihood> with(ConstVecRef theta) const override { return member_(theta); }
  bool concave() const override { return example_->concave(); }
  int scales() const override { return example_->scales(); }
  // What kind of integral its members have; only theirs are to be asked for values.
  std::unique_ptr<EffectIntegral> integral() const override { return example_->integral(); }
  void terms(Use, const Eigen::Ref<const Arr>&, const Eigen::Ref<const Arr>&,
             const Eigen::Ref<const Arr>&, RowTerms&) const override;

 private:
  Index size_;
  Member member_;
  std::unique_ptr<Likelihood> example_;
};

// With `size` free numbers: a family, which supports what its members support and is possible
// without knowing the member: a point estimate is not, nor is what is unknown of a row integrated
// out. Without any: the only member.
std::unique_ptr<Likelihood> make_family(Index size, Member member);

}  // namespace bsvm
