// A variance for each coefficient (004, section 3; automatic relevance determination):
//
//   b_j ~ N(0, s2_j),  s2_j ~ inverse-gamma(A, B),
//
// so that b_j is Student's t with 2A degrees of freedom and scale (B/A)^{1/2}. Under q
//
//   q(s2_j) = IG(A_q, B_j),  A_q = A + 1/2,  B_j = B + E b_j^2 / 2.
//
// A draw has A_q = 1 and B_j = s2_j.
#include <cmath>
#include <limits>

#include "prior.hpp"
#include "special/functions.hpp"

namespace bsvm {
namespace {

class Relevance : public Prior {
 public:
  explicit Relevance(const Params& params)
      : shape_(params.positive("shape")), scale_(params.positive("scale")),
        start_(params.given("start") ? params.positive("start") : 1) {}

  bool supports(Use use) const override { return use == Use::augmented || use == Use::drawn; }
  bool exchangeable() const override { return false; }
  Index hyper_size(Index m) const override { return 1 + m; }  // A_q, B_j

  void start(const Moments&, VecRef hyper) const override {
    hyper.setConstant((shape_ + 0.5) / start_);
    hyper[0] = shape_ + 0.5;
  }

  void update(const Moments& b, double reach, VecRef hyper) const override {
    const Vec before = hyper;
    hyper[0] = shape_ + 0.5;
    hyper.tail(b.square.size()) = (scale_ + b.square.array() / 2).matrix();
    reach_further(before, reach, hyper);
  }

  void draw(const Moments& b, Draws& random, VecRef hyper) const override {
    hyper[0] = 1;
    for (Index j = 0; j < b.square.size(); ++j)
      hyper[1 + j] = draw_variance(shape_ + 0.5, scale_ + b.square[j] / 2, random);
  }

  void precision(ConstVecRef hyper, VecRef out) const override {
    out = hyper[0] * hyper.tail(out.size()).cwiseInverse();
  }

  double value(const Moments& b, ConstVecRef hyper) const override {
    const double shape = hyper[0], constant = shape_ * std::log(scale_) - log_gamma(shape_);
    double out = 0;
    for (Index j = 0; j < b.square.size(); ++j) {
      const double scale = hyper[1 + j], inverse = shape / scale;
      const double log_inverse = digamma(shape) - std::log(scale);
      const double prior = constant + (shape_ + 1) * log_inverse - scale_ * inverse;
      const double q = shape * std::log(scale) - log_gamma(shape) + (shape + 1) * log_inverse -
                       shape;
      out += 0.5 * (log_inverse - kLog2Pi - inverse * b.square[j]) + prior - q;
    }
    return out;
  }

  // p(t b_j | t^2 s2_j) and the Jacobian of b_j cancel.
  double log_scaled(const Moments&, ConstVecRef hyper, double t) const override {
    const auto scale = hyper.tail(hyper.size() - 1);
    const double most = t * t * scale.maxCoeff() / hyper[0];
    const double least = t * t * scale.minCoeff() / hyper[0];
    if (!possible_variance(most) || !possible_variance(least))
      return -std::numeric_limits<double>::infinity();
    return -2 * shape_ * static_cast<double>(scale.size()) * std::log(t) -
           scale_ * hyper[0] * scale.cwiseInverse().sum() / (t * t);
  }

  void scale(VecRef hyper, double t) const override { hyper.tail(hyper.size() - 1) *= t * t; }

  NamedNumbers report(ConstVecRef hyper) const override { return drawn(hyper); }

  // The geometric mean.
  NamedNumbers drawn(ConstVecRef hyper) const override {
    const double mean_log = hyper.tail(hyper.size() - 1).array().log().mean();
    return {{"typical_variance", std::exp(mean_log - std::log(hyper[0]))}};
  }

 private:
  double shape_, scale_, start_;  // precisions to start from
};

const Register<Prior, Relevance> relevance_entry("relevance");

}  // namespace
}  // namespace bsvm
