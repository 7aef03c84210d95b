#include "radial.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "distances.hpp"

namespace bsvm {

Index variables_of(const Params& params) {
  const double found = params.positive("variables");
  if (found != std::floor(found) || found > 1e6)
    throw InvalidInput("variables", "'variables' of a kernel must be a whole number.");
  return static_cast<Index>(found);
}

double bounded_exp(double theta) { return std::exp(std::max(-200.0, std::min(200.0, theta))); }

Radial::Radial(const Params& params, Index shapes)
    : variables_(variables_of(params)), shapes_(shapes), ard_(params.flag("ard")) {}

Vec Radial::inverse_scales(ConstVecRef theta) const {
  Vec out(variables_);
  for (Index k = 0; k < variables_; ++k) out[k] = bounded_exp(-theta[ard_ ? k : 0]);
  return out;
}

void Radial::values(const Mat& x, const Mat& v, ConstVecRef theta, Mat& out) const {
  const Vec inverse = inverse_scales(theta), shape = theta.tail(shapes_);
  const Mat scaled = inverse.asDiagonal() * centred_at(v, v);
  const Distances distances(inverse.asDiagonal() * centred_at(v, x), scaled);
  const Index n = x.cols(), m = v.cols(), width = panel_width(n);
  out.resize(n, m);
  for (Index first = 0; first < m; first += width) {
    const Index count = std::min(width, m - first);
    double* panel = out.data() + first * n;
    distances.columns(first, count, panel);
    profile(shape, Eigen::Map<Arr>(panel, n * count));
  }
}

Vec Radial::pull(const Mat& x, const Mat& v, ConstVecRef theta, const Mat& weight) const {
  const Vec inverse = inverse_scales(theta), shape = theta.tail(shapes_);
  const Mat to = inverse.asDiagonal() * centred_at(v, v);
  const Mat from = inverse.asDiagonal() * centred_at(v, x);
  Vec of_scales = Vec::Zero(scales()), of_shapes = Vec::Zero(shapes_), rows = Vec::Zero(x.cols());
  each_slope(from, to, ard_ ? from : Mat(0, x.cols()), weight,
             [&](const Eigen::Ref<const Arr>& r2, Eigen::Ref<Arr> h) {
               times_slope(shape, r2, h, of_shapes);
             },
             [&](const SlopePanel& now) {
               if (!ard_) {
                 const Eigen::Map<const Arr> h(now.h.data(), now.r2.size());
                 of_scales[0] += (h * now.r2).sum();
                 return;
               }
               rows += now.h.rowwise().sum();
               for (Index j = 0; j < now.count; ++j) {
                 const auto at = to.col(now.first + j).array();
                 const double column = now.h.col(j).sum();
                 of_scales.array() += at * (column * at - 2 * now.sums.col(j).array());
               }
             });
  if (ard_) of_scales += matrix_product(from.cwiseAbs2(), rows);
  Vec out(size());
  out << -2 * of_scales, of_shapes;
  return out;
}

Mat Radial::input_pull(const Mat& x, const Mat& v, ConstVecRef theta, const Mat& weight) const {
  const Vec inverse = inverse_scales(theta), shape = theta.tail(shapes_);
  const Mat to = inverse.asDiagonal() * centred_at(v, v);
  const Mat from = inverse.asDiagonal() * centred_at(v, x);
  Vec unused(shapes_);
  Mat out(variables_, v.cols());
  unused.setZero();
  each_slope(from, to, from, weight,
             [&](const Eigen::Ref<const Arr>& r2, Eigen::Ref<Arr> h) {
               times_slope(shape, r2, h, unused);
             },
             [&](const SlopePanel& now) {
               for (Index j = 0; j < now.count; ++j)
                 out.col(now.first + j) =
                     2 * inverse.cwiseProduct(now.h.col(j).sum() * to.col(now.first + j) -
                                              now.sums.col(j));
             });
  return out;
}

}  // namespace bsvm
