// exp(-2 sum_d sin^2(pi (x_d - v_d) / period_d) / l_d^2). theta: log l, one or with `ard` d of
// them, then d log periods.
//
// With a = 2 pi / period it is the squared exponential exp(-r2 / 2) of points on circles,
// C = cos(a x) / l and S = sin(a x) / l: r2 = sum_d (C_x - C_v)^2 + (S_x - S_v)^2. Slopes of r2 are
//
//   in v_d        -2 a D_d,   D_d = S_x C_v - C_x S_v,
//   in log l_d    -2 {(C_x - C_v)^2 + (S_x - S_v)^2},
//   in log p_d    -2 a (x_d - v_d) D_d,
//
// and each is summed over i from sums of H = weight o dk/dr2 times C_x, S_x, x C_x, x S_x.
#include <algorithm>
#include <cmath>

#include "base/registry.hpp"
#include "distances.hpp"
#include "radial.hpp"

namespace bsvm {
namespace {

constexpr double kTwoPi = 6.283185307179586477;

class Periodic : public Kernel {
 public:
  explicit Periodic(const Params& params)
      : variables_(variables_of(params)), ard_(params.flag("ard")) {}

  Index variables() const override { return variables_; }
  Index size() const override { return scales() + variables_; }

  void values(const Mat& x, const Mat& v, ConstVecRef theta, Mat& out) const override {
    const Mat to = circles(centred_at(v, v), theta);
    const Distances distances(circles(centred_at(v, x), theta), to);
    const Index n = x.cols(), m = v.cols(), width = panel_width(n);
    out.resize(n, m);
    for (Index first = 0; first < m; first += width) {
      const Index count = std::min(width, m - first);
      Eigen::Map<Arr> panel(out.data() + first * n, n * count);
      distances.columns(first, count, panel.data());
      panel = (-0.5 * panel).exp();
    }
  }

  Vec pull(const Mat& x, const Mat& v, ConstVecRef theta, const Mat& weight) const override {
    const Index d = variables_;
    const Vec a = frequencies(theta);
    const Mat shifted = centred_at(v, v), to = circles(shifted, theta);
    const Mat there = centred_at(v, x), from = circles(there, theta);
    Mat left(4 * d, x.cols());
    left << from, from.topRows(d).cwiseProduct(there), from.bottomRows(d).cwiseProduct(there);
    Vec of_circles = Vec::Zero(2 * d), of_periods = Vec::Zero(d), rows = Vec::Zero(x.cols());
    each_slope(from, to, left, weight, slope, [&](const SlopePanel& now) {
      rows += now.h.rowwise().sum();
      for (Index j = 0; j < now.count; ++j) {
        const auto at = to.col(now.first + j).array();
        const auto sums = now.sums.col(j).array();
        const double column = now.h.col(j).sum();
        of_circles.array() += at * (column * at - 2 * sums.head(2 * d));
        const auto apart = [&](const auto& cosines, const auto& sines) {
          return sines * at.head(d) - cosines * at.tail(d);
        };
        of_periods.array() += apart(sums.segment(2 * d, d), sums.tail(d)) -
                              shifted.col(now.first + j).array() *
                                  apart(sums.head(d), sums.segment(d, d));
      }
    });
    of_circles += matrix_product(from.cwiseAbs2(), rows);
    const Vec of_scales = of_circles.head(d) + of_circles.tail(d);
    Vec out(size());
    out.tail(d) = -2 * a.cwiseProduct(of_periods);
    if (ard_) out.head(d) = -2 * of_scales;
    else out[0] = -2 * of_scales.sum();
    return out;
  }

  Mat input_pull(const Mat& x, const Mat& v, ConstVecRef theta,
                 const Mat& weight) const override {
    const Index d = variables_;
    const Vec a = frequencies(theta);
    const Mat to = circles(centred_at(v, v), theta), from = circles(centred_at(v, x), theta);
    Mat out(d, v.cols());
    each_slope(from, to, from, weight, slope, [&](const SlopePanel& now) {
      for (Index j = 0; j < now.count; ++j) {
        const auto at = to.col(now.first + j).array();
        const auto sums = now.sums.col(j).array();
        out.col(now.first + j) =
            -2 * a.array() * (sums.tail(d) * at.head(d) - sums.head(d) * at.tail(d));
      }
    });
    return out;
  }

 private:
  static void slope(const Eigen::Ref<const Arr>& r2, Eigen::Ref<Arr> weight) {
    weight *= -0.5 * (-0.5 * r2).exp();
  }

  Index scales() const { return ard_ ? variables_ : 1; }

  Vec frequencies(ConstVecRef theta) const {
    Vec out(variables_);
    for (Index k = 0; k < variables_; ++k) out[k] = kTwoPi * bounded_exp(-theta[scales() + k]);
    return out;
  }

  // (2 d, n): cosines, then sines.
  Mat circles(const Mat& x, ConstVecRef theta) const {
    const Index d = variables_;
    const Vec a = frequencies(theta);
    Mat out(2 * d, x.cols());
    for (Index i = 0; i < x.cols(); ++i)
      for (Index k = 0; k < d; ++k) {
        const double angle = a[k] * x(k, i), inverse = bounded_exp(-theta[ard_ ? k : 0]);
        out(k, i) = std::cos(angle) * inverse;
        out(d + k, i) = std::sin(angle) * inverse;
      }
    return out;
  }

  Index variables_;
  bool ard_;
};

const Register<Kernel, Periodic> periodic_entry("periodic");

}  // namespace
}  // namespace bsvm
