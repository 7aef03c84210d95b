#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "chain/archive.hpp"
#include "model.hpp"

namespace bsvm {

// Hyper-parameters of the coefficients' priors, part by part.
class CoefficientPriors {
 public:
  CoefficientPriors(const FactorModel& model, Draws& random);  // `random`: for where they start

  size_t parts() const { return hyper_.size(); }
  const Vec& hyper(size_t part) const { return hyper_[part]; }
  Moments moments(size_t part, const Vec& b) const;
  Vec precision() const;  // of each coefficient
  void scale(size_t part, double t);
  void draw(const Vec& b, const DrawKey& now);

  NamedNumbers drawn() const;  // part_1.<name>, ...
  void visit(Archive& archive);

 private:
  const FactorModel& model_;
  std::vector<Vec> hyper_;
};

// The likelihood at its free numbers theta.
class LikelihoodNumbers {
 public:
  LikelihoodNumbers(const FactorModel& model, Draws& random);

  const Likelihood& likelihood() const { return own_ ? *own_ : *model_.likelihood; }
  // By slices of their prior and what the rows say of a likelihood.
  void draw(const std::function<double(const Likelihood&)>& log_likelihood, const DrawKey& now);

  NamedNumbers drawn() const;  // theta_1, ...
  void visit(Archive& archive);

 private:
  void set(const Vec& theta);

  const FactorModel& model_;
  Vec theta_;
  std::unique_ptr<Likelihood> own_;  // at theta, if there are any
};

}  // namespace bsvm
