#pragma once
#include <vector>

#include "model/problem.hpp"

namespace bsvm {

// log p(b, theta) of all priors: b (d, inside) the dense columns and then, by term, level and
// effect, the effects that are not integrated out; theta (h) the free parameters, prior by prior.
class PriorDensity {
 public:
  // A prior and its coefficients, for each level those it ties; none where they are integrated out
  // and of a parameter of the likelihood or of a block.
  struct Part {
    const PriorSlot* slot;
    Index first, size;  // its free parameters
    std::vector<std::vector<Index>> at;
    bool integrated;
    Index seen;  // place of its free parameters among seen(), or -1
  };

  explicit PriorDensity(const Model& problem);

  Index coefficients() const { return unit_.size(); }
  Index free() const { return free_; }
  // The free parameters that rows see with effects integrated out, as IntegratedSource has them:
  // the integrated effects', then the likelihood's.
  Index seen() const { return own_ + parameters_; }
  Vec seen(ConstVecRef theta) const;
  void add_seen(ConstVecRef step, Vec& theta) const;
  Index parameter_first() const { return parameter_first_; }  // those of the likelihood and blocks
  const Vec& unit() const { return unit_; }  // (d) outside = inside times it
  const std::vector<Part>& parts() const { return parts_; }

  // Second moments of a part's coefficients on the outside scale; with their covariance (d, d) or
  // none of it.
  Moments moments(const Part& part, ConstVecRef b, const Mat& covariance) const;

  // Adds the part's prior precision at theta, times `share`, to a (d, d).
  void add_precision(const Part& part, ConstVecRef theta, double share, Mat& a) const;
  Mat precision(ConstVecRef theta) const;

  // Every constant included, of b on the outside scale.
  double log_density(ConstVecRef b, ConstVecRef theta) const;

 private:
  void add_part(const PriorSlot& slot, std::vector<std::vector<Index>> at, bool integrated);
  void add_effects(const Model& problem, const PriorSlot& slot);
  void add_levels(const PriorSlot& slot, Index first, Index levels, Index effects, Index within);

  Index columns_, free_ = 0, own_first_ = 0, own_ = 0;
  Index parameter_first_ = 0, parameters_ = 0;
  Vec unit_;
  std::vector<Part> parts_;
};

}  // namespace bsvm
