#pragma once
#include <vector>

#include "interior_point.hpp"

namespace bsvm {

// The priors of a Problem, as what they make the coefficients of its Design pay.
class PointModel {
 public:
  PointModel(const Problem& problem, const Design& design);

  using Hyper = std::vector<Vec>;  // prior by prior
  Hyper start() const;
  Hyper best(const Hyper& hyper, ConstVecRef b) const;  // given b: the CME-step

  // The same numbers in one vector, in logarithms; and back.
  static Vec logs(const Hyper& hyper);
  static Hyper from_logs(ConstVecRef logs, Hyper shape);

  Penalties penalties(const Hyper& hyper) const;
  // The rows' hinges and minus the log density of b and hyper, up to a constant.
  double objective(const Hyper& hyper, ConstVecRef b) const;
  // The second of these alone.
  double prior_loss(const Hyper& hyper, ConstVecRef b) const;

 private:
  struct Part {
    const Prior* prior;
    std::vector<Index> at;  // its columns
  };

  Vec outside(const Part& part, ConstVecRef b) const;

  const Design& design_;
  std::vector<Part> parts_;
};

}  // namespace bsvm
