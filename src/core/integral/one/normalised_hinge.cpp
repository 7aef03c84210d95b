#include "normalised_hinge.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hinge_integral.hpp"
#include "linalg/small.hpp"
#include "special/functions.hpp"

namespace bsvm {

namespace {

constexpr Index kSmall = 48;     // rows that are looked at all together

// log p(y | f) of one row, and its slope in f.
double row_log_p(double y, double f) {
  const double h = 2 * (std::abs(f) + std::min(std::abs(f), 1.0));
  return (y * f > 0 ? 0 : -h) - std::log1p(std::exp(-h));
}
double row_slope(double y, double f) {
  const double h = 2 * (std::abs(f) + std::min(std::abs(f), 1.0)), small = std::exp(-h);
  return y * (std::abs(f) < 1 ? 4 : 2) * (y * f > 0 ? small : 1) / (1 + small);
}

}  // namespace

void NormalisedHinge::take(const EffectRows& rows, double s) {
  given_ = &rows;
  weighted_ = rows.weight != nullptr;
  rows_.clear();
  index_.clear();
  flat_.clear();
  for (Index i = 0; i < rows.r; ++i) {
    const double slope = rows.z[i] * s;
    if (!std::isfinite(rows.o[i]) || !std::isfinite(slope)) beyond_numbers();
    if (std::abs(slope) < kFlat || (weighted_ && rows.weight[i] == 0)) {
      flat_.push_back(i);
      continue;
    }
    rows_.push_back({rows.y[i], rows.o[i], slope, weighted_ ? rows.weight[i] : 1});
    index_.push_back(i);
  }
}

void NormalisedHinge::run(const EffectRows& rows, double s, Depth depth, Moment moment) {
  take(rows, s);
  depth_ = depth;
  moment_of_ = moment;
  const Index r = static_cast<Index>(rows_.size()), d = rows.d;
  const bool small = r <= kSmall;
  by_rows_ = small && r <= 2 * d;
  for (double& each : sum_) each = 0;
  for (auto* each : {&gamma_, &xi_, &kappa_}) each->assign(r, 0);
  bins_.assign(cuts_.size() + 1, 0);
  if (bends()) product_.setZero(by_rows_ ? r : d, by_rows_ ? r : d);
  search_.find(rows_, weighted_, small);
  centre_ = search_.best().e;
  reference_ = search_.best().value;
  all_.resize(r);
  std::iota(all_.begin(), all_.end(), 0);
  if (small) run_small();
  else run_large();
  if (!(sum_[0] > 0 && std::isfinite(sum_[0]))) beyond_numbers();
}

void NormalisedHinge::run_small() {
  const Leaf leaf{rows_, all_, nullptr};
  for (const Stretch& each : search_.found()) add_stretch(leaf, each.low, each.high, &each.at);
  flush(leaf);
  if (depth_ == Depth::curvature)
    add_kinks(leaf, search_.found().front().low, search_.found().back().high);
}

// Stretches that adjoin are one.
void NormalisedHinge::run_large() {
  const std::vector<Stretch>& found = search_.found();
  for (size_t k = 0; k < found.size();) {
    const double low = found[k].low;
    double high = found[k].high;
    for (++k; k < found.size() && found[k].low <= high; ++k) high = found[k].high;
    descend(0, low, high, nullptr, rows_, all_);
  }
}

// ---- what comes of the sums

void NormalisedHinge::add_rows(const EffectRows& rows, VecRef gradient) const {
  for (size_t k = 0; k < rows_.size(); ++k)
    add_multiple(gradient.data(), rows.c + index_[k] * rows.d, gamma_[k] / sum_[0], rows.d);
  for (Index i : flat_) {
    const double weight = rows.weight ? rows.weight[i] : 1;
    add_multiple(gradient.data(), rows.c + i * rows.d, weight * row_slope(rows.y[i], rows.o[i]),
                 rows.d);
  }
}

void NormalisedHinge::add_scale(const EffectRows& rows, double psi, EffectSums& out) const {
  const double a = 2 * centre_, scale = 1 / sum_[0];
  const double second = a * a * sum_[2] + 2 * a * sum_[3] + sum_[4];
  const Index d = rows.d;
  out.hessian(d, d) = second * scale - psi * psi - 2 * (centre_ * centre_ + psi);
  for (size_t k = 0; k < rows_.size(); ++k) {
    const double factor = (xi_[k] - gamma_[k] * psi) * scale;
    const double* c = rows.c + index_[k] * d;
    for (Index j = 0; j < d; ++j) out.hessian(d, j) += factor * c[j];
  }
}

// d2/db db' of the header, with dl/db = sum_i l_i' c_i. Sums over the nodes, times `scale` means:
//   kappa_      (r)               of l_i'' and the kinks' jumps; flat rows have theirs at o_i
//   gamma_      (r)               of l_i'
//   product_    (r, r) or (d, d)  of l_i' l_j', or without `by_rows_` of dl/db dl/db'; less the
//                                 product of means the covariance
//   own_slope_  (r) or (d)        those means
//   at_nodes_   (d, r)            the rows' c, between which a covariance by rows stands
void NormalisedHinge::add_curvature(const EffectRows& rows, MatRef out) {
  const Index d = rows.d, r = static_cast<Index>(rows_.size());
  const double scale = 1 / sum_[0];
  outer_.start(d);
  for (Index k = 0; k < r; ++k) outer_.add(rows.c + index_[k] * d, kappa_[k] * scale, out);
  for (Index i : flat_) {
    const double weight = rows.weight ? rows.weight[i] : 1, slope = row_slope(rows.y[i], rows.o[i]);
    const double bend = std::abs(rows.o[i]) < 1 ? 4 : 2;
    outer_.add(rows.c + i * d, -weight * std::abs(slope) * (bend - std::abs(slope)), out);
  }
  outer_.finish(out);
  own_slope_.setZero(by_rows_ ? r : d);
  if (by_rows_) {
    for (Index k = 0; k < r; ++k) own_slope_[k] = gamma_[k] * scale;
  } else {
    for (Index k = 0; k < r; ++k)
      add_multiple(own_slope_.data(), rows.c + index_[k] * d, gamma_[k] * scale, d);
  }
  product_ *= scale;
  product_.selfadjointView<Eigen::Lower>().rankUpdate(own_slope_, -1);
  if (!by_rows_) {
    out.triangularView<Eigen::Lower>() += product_;
    return;
  }
  at_nodes_.resize(d, r);
  for (Index k = 0; k < r; ++k)
    std::copy(rows.c + index_[k] * d, rows.c + (index_[k] + 1) * d, at_nodes_.col(k).data());
  scaled_.noalias() = at_nodes_ * product_.selfadjointView<Eigen::Lower>();
  for (Index k = 0; k < r; ++k)
    for (Index j = 0; j < d; ++j)
      for (Index i = j; i < d; ++i) out(i, j) += scaled_(i, k) * at_nodes_(j, k);
}

void NormalisedHinge::integrate(const EffectRows& rows, double s, Depth depth, EffectSums& out) {
  cuts_.clear();
  run(rows, s, depth, Moment::square);
  out.value = reference_ + std::log(sum_[0]) - 0.5 * kLog2Pi;
  for (Index i : flat_)
    out.value += (rows.weight ? rows.weight[i] : 1) * row_log_p(rows.y[i], rows.o[i]);
  if (depth == Depth::value) return;
  const double psi = (2 * centre_ * sum_[1] + sum_[2]) / sum_[0];
  out.gradient.setZero(rows.d + 1);
  add_rows(rows, out.gradient);
  out.gradient[rows.d] = centre_ * centre_ - 1 + psi;
  if (depth == Depth::gradient) return;
  out.hessian.setZero(rows.d + 1, rows.d + 1);
  add_curvature(rows, out.hessian.topLeftCorner(rows.d, rows.d));
  add_scale(rows, psi, out);
}

void NormalisedHinge::law(const EffectRows& rows, double s, EffectLaw& out) {
  cuts_.clear();
  run(rows, s, Depth::gradient, Moment::mean);
  const double mean = sum_[1] / sum_[0];
  out.mean = s * (centre_ + mean);
  out.variance = s * s * (sum_[2] / sum_[0] - mean * mean);
  out.slope.setZero(rows.d);
  for (size_t k = 0; k < rows_.size(); ++k)
    add_multiple(out.slope.data(), rows.c + index_[k] * rows.d,
                 s * (xi_[k] - gamma_[k] * mean) / sum_[0], rows.d);
}

void NormalisedHinge::distribution(const EffectRows& rows, double s, ConstVecRef at, VecRef out) {
  cuts_.assign(at.data(), at.data() + at.size());
  for (double& each : cuts_) each /= s;
  std::sort(cuts_.begin(), cuts_.end());
  run(rows, s, Depth::value, Moment::square);
  double below = 0;
  for (size_t k = 0; k < cuts_.size(); ++k) below = bins_[k] += below;
  for (Index k = 0; k < at.size(); ++k) {
    const auto bin = std::lower_bound(cuts_.begin(), cuts_.end(), at[k] / s) - cuts_.begin();
    out[k] = std::min(1.0, bins_[bin] / sum_[0]);
  }
}

RowKink NormalisedHinge::row_kink(int k, double y) const {
  static const double below = 2 / (1 + std::exp(-4.0)), above = -2 / (1 + std::exp(4.0));
  return k == 0 ? RowKink{-y, below} : RowKink{y, above};
}

void NormalisedHinge::terms(const LineRow* rows, Index r, const double* x, Index points,
                            double* log_p, double* slope, double* bend) const {
  // One row's logarithms are quicker without the product that saves them where there are several.
  const bool weighted =
      r == 1 || std::any_of(rows, rows + r, [](const LineRow& row) { return row.w != 1; });
  hinge_kernels().terms(rows, r, weighted, x, points, log_p, nullptr, slope, nullptr, nullptr);
  for (Index i = 0; bend && i < r; ++i)
    for (Index p = 0; p < points; ++p) {
      const double own = std::abs(slope[i * points + p]);
      const double most = std::abs(rows[i].o + rows[i].z * x[p]) < 1 ? 4 : 2;
      bend[i * points + p] = own > 0 ? -own * (most - own / rows[i].w) : 0;
    }
}

std::unique_ptr<EffectIntegral> normalised_hinge_integral() {
  return std::make_unique<NormalisedHinge>();
}

}  // namespace bsvm
