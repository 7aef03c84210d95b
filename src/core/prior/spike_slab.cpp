// Spike and slab (002, section 4.2): g_j ~ Bernoulli(pi), and b_j = g_j v_j with
//
//   v_j ~ N(0, nu^2 sigma_j^2)
//
// with pi fixed, or pi ~ Beta(a, b): then pi | g ~ Beta(a + sum g, b + m - sum g), drawn as the
// ratio of two gamma variables, since the odds may be beyond what 1 - pi can tell.
#include <cmath>

#include "base/error.hpp"
#include "prior.hpp"

namespace bsvm {
namespace {

class SpikeSlab : public Prior {
 public:
  // shape_in, shape_out: a and b, zero where `log_odds` is fixed (else it is where pi starts).
  explicit SpikeSlab(const Params& params)
      : log_odds_(params.finite("log_odds")), shape_in_(params.finite("shape_in")),
        shape_out_(params.finite("shape_out")), nu_(params.positive("nu")),
        sigma_(params.positives("sigma")) {
    if (shape_in_ < 0)
      throw InvalidInput("shape_in", "'shape_in' of spike_slab must not be negative.");
    if (shape_out_ < 0 || (shape_out_ > 0) != (shape_in_ > 0))
      throw InvalidInput("shape_out", "'shape_out' of spike_slab must be positive, or zero with "
                                      "'shape_in': the odds are fixed.");
  }

  bool supports(Use use) const override { return use == Use::drawn; }
  bool exchangeable() const override { return false; }
  bool selects() const override { return true; }
  Index hyper_size(Index m) const override { return 1 + m; }  // log odds of pi, g

  void start(const Moments&, VecRef hyper) const override {
    hyper.setZero();
    hyper[0] = log_odds_;
  }

  void draw(const Moments&, Draws& random, VecRef hyper) const override {
    if (shape_in_ == 0) return;
    const auto g = hyper.tail(hyper.size() - 1);
    const double in = random.log_gamma_draw(shape_in_ + g.sum());
    hyper[0] = in - random.log_gamma_draw(shape_out_ + (1 - g.array()).sum());
  }

  double log_odds(ConstVecRef hyper) const override { return hyper[0]; }

  void precision(ConstVecRef, VecRef out) const override {
    out = (nu_ * scales(out.size())).cwiseAbs2().cwiseInverse();
  }

  // Of the coefficients that are in.
  double log_scaled(const Moments& b, ConstVecRef hyper, double t) const override {
    const auto g = hyper.tail(hyper.size() - 1);
    Vec slab(g.size());
    precision(hyper, slab);
    return g.sum() * std::log(t) - 0.5 * t * t * g.cwiseProduct(slab).dot(b.square);
  }
  void scale(VecRef, double) const override {}

  NamedNumbers report(ConstVecRef hyper) const override {
    return {{"pi", 1 / (1 + std::exp(-hyper[0]))}};
  }
  NamedNumbers drawn(ConstVecRef hyper) const override {
    return shape_in_ > 0 ? report(hyper) : NamedNumbers();
  }

 private:
  // sigma_j, one where none were given.
  Vec scales(Index m) const { return sigma_.size() == 0 ? Vec::Ones(m) : sigma_; }

  double log_odds_, shape_in_, shape_out_, nu_;
  Vec sigma_;  // (m) or empty
};

const Register<Prior, SpikeSlab> spike_slab_entry("spike_slab");

}  // namespace
}  // namespace bsvm
