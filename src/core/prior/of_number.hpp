#pragma once
#include <cmath>

#include "base/error.hpp"
#include "prior.hpp"

namespace bsvm {

// A prior of a positive number of the likelihood, given by its density as a function of theta, the
// number's logarithm. As all parameters are (R/parameters.R), the number is kept as the root of a
// variance: one over its square is hyper[0] / hyper[1].
class OfNumber : public Prior {
 public:
  bool exchangeable() const override { return true; }
  bool of_number() const override { return true; }
  Index hyper_size(Index) const override { return 2; }

  void start(const Moments&, VecRef hyper) const override { hyper.setOnes(); }
  void precision(ConstVecRef hyper, VecRef out) const override {
    out.setConstant(hyper[0] / hyper[1]);
  }
  void scale(VecRef hyper, double t) const override { hyper[1] *= t * t; }

  Index free_size(Index) const override { return 1; }
  void fix(ConstVecRef theta, VecRef hyper) const override { hyper << 1, std::exp(2 * theta[0]); }
  void free(ConstVecRef hyper, VecRef theta) const override {
    theta[0] = 0.5 * (std::log(hyper[1]) - std::log(hyper[0]));
  }

  double log_joint(const Moments& b, ConstVecRef theta, VecRef gradient) const override {
    if (b.count > 0)
      throw InvalidInput("prior", "This prior is of a parameter, not of coefficients.");
    return log_density(theta[0], gradient[0]);
  }

  NamedNumbers report(ConstVecRef hyper) const override {
    return {{"inverse_mean", hyper[0] / hyper[1]}, {"mean", hyper[1] / hyper[0]}};
  }
  NamedNumbers drawn(ConstVecRef hyper) const override {
    return {{"variance", hyper[1] / hyper[0]}};
  }

 private:
  virtual double log_density(double theta, double& slope) const = 0;
};

}  // namespace bsvm
