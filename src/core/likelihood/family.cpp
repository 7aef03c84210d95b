#include "family.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace bsvm {

Family::Family(Index size, Member member)
    : size_(size), member_(std::move(member)), example_(member_(Vec::Zero(size))) {}

bool Family::supports(Use use) const {
  return use != Use::point && use != Use::marginal && example_->supports(use);
}

void Family::terms(Use, const Eigen::Ref<const Arr>&, const Eigen::Ref<const Arr>&,
                   const Eigen::Ref<const Arr>&, RowTerms&) const {
  throw InvalidInput("likelihood", "The parameters of this likelihood must be known.");
}

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
