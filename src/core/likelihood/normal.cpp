// y ~ N(f, sd^2); `sd` is given, or log sd inferred. Expectations under f ~ N(m, v) are
//
//   E log p = -log(2 pi sd^2) / 2 - ((y - m)^2 + v) / (2 sd^2),
//
// and p^w, with w the row's weight, is a normal density of variance sd^2 / w times a constant, so
// that f given y is normal, with v sd^2 / (sd^2 + w v) for its variance.
#include <cmath>

#include "base/error.hpp"
#include "scaled_rows.hpp"
#include "linalg/kernels.hpp"
#include "special/functions.hpp"

namespace bsvm {
namespace {

// No latent scale: the density is normal in f as it is, and every bound of it exact.
class Normal : public Likelihood {
 public:
  explicit Normal(double sd) : square_(sd * sd), log_c_(-std::log(sd) - 0.5 * kLog2Pi) {}

  bool supports(Use use) const override { return use != Use::marginal; }
  double most_offset() const override { return kUnitsOfOffset * std::sqrt(square_); }
  int scales() const override { return 0; }

  void terms(Use use, const Eigen::Ref<const Arr>& y, const Eigen::Ref<const Arr>& m,
             const Eigen::Ref<const Arr>& v, RowTerms& out) const override {
    if (!supports(use) || use == Use::value || use == Use::drawn)
      throw InvalidInput("likelihood", "The normal likelihood has no such terms.");
    out.slope = (y - m) / square_;
    out.value = log_c_ - 0.5 * out.slope * (y - m);
    out.curvature.setConstant(1 / square_);
    out.weight = out.curvature;
    if (use == Use::point) out.weight.setZero();
    else out.value -= 0.5 / square_ * v;
  }

  void draw(const Eigen::Ref<const Arr>& y, const Eigen::Ref<const Arr>& f,
            const Eigen::Ref<const Arr>& weight, const RowDraws&, RowTerms& out) const override {
    out.slope = weight * (y - f) / square_;
    out.value = weight * log_c_ - 0.5 * out.slope * (y - f);
    out.weight = out.curvature = weight / square_;
  }

  double over(const LineRows& rows, double s, double t) const override {
    const double weight = rows.weight ? Eigen::Map<const Arr>(rows.weight, rows.r).sum()
                                      : static_cast<double>(rows.r);
    return weight * log_c_ - 0.5 * kernels().residual_squares(rows, s, t) / square_;
  }

  Tilted averaged(double y, double mean, double v, double weight) const override {
    const double off = y - mean, slope = weight * off / (square_ + weight * v);
    return {weight * log_c_ - 0.5 * std::log1p(weight * v / square_) - 0.5 * slope * off, slope,
            weight / (square_ + weight * v)};
  }

  double draw_averaged(double y, double mean, double v, double weight,
                       Draws& random) const override {
    const double share = v / (square_ + weight * v);
    return mean + weight * share * (y - mean) + std::sqrt(share * square_) * random.normal();
  }

 private:
  double square_, log_c_;
};

std::unique_ptr<Likelihood> make_normal(const Params& params) {
  const Number sd(params, "sd");
  return make_scaled_family(params, sd.free(),
                     [=](ConstVecRef theta) { return std::make_unique<Normal>(sd(theta, 0)); });
}

const RegisterMaker<Likelihood> normal_entry("normal", make_normal);

}  // namespace
}  // namespace bsvm
