// b_j ~ N(0, variance), variance fixed (000, Algorithm 1; the flat prior of
// unpenalised effects is a large variance).
#include "prior.hpp"
#include "special/functions.hpp"

#include <cmath>

namespace bsvm {
namespace {

class Normal : public Prior {
 public:
  explicit Normal(const Params& params) : variance_(params.positive("variance")) {}

  bool exchangeable() const override { return true; }
  Index hyper_size(Index) const override { return 0; }
  void start(const Moments&, VecRef) const override {}
  void update(const Moments&, double, VecRef) const override {}
  void draw(const Moments&, Draws&, VecRef) const override {}
  void precision(ConstVecRef, VecRef out) const override {
    out.setConstant(1 / variance_);
  }
  // Unseen coefficients keep their prior, so they add nothing.
  double value(const Moments& b, ConstVecRef) const override {
    return -0.5 * (b.seen() * (kLog2Pi + std::log(variance_)) +
                   b.square.sum() / variance_);
  }
  double log_scaled(const Moments& b, ConstVecRef, double t) const override {
    return b.seen() * std::log(t) - 0.5 * t * t * b.square.sum() / variance_;
  }
  void scale(VecRef, double) const override {}
  double log_joint(const Moments& b, ConstVecRef theta, VecRef) const override {
    return value(b, theta);
  }
  bool supports(Use) const override { return true; }
  Penalty penalty(ConstVecRef, Index m) const override {
    return {2, Vec::Constant(m, std::sqrt(2 * variance_))};
  }
  NamedNumbers report(ConstVecRef) const override {
    return {{"inverse_mean", 1 / variance_}, {"mean", variance_}};
  }
  NamedNumbers drawn(ConstVecRef) const override { return {}; }

 private:
  double variance_;
};

const Register<Prior, Normal> normal_entry("normal");

}  // namespace
}  // namespace bsvm
