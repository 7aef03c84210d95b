#include "pair_grid.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "linalg/eigen_modules.hpp"
#include "special/functions.hpp"
#include "special/whole.hpp"

namespace bsvm {

namespace {

constexpr Index kPoints = 48, kFewPoints = 32;  // an axis; few where many rows smooth one another
constexpr Index kManyRows = 100;
constexpr Index kCoarse = 40;       // while a grid is looked for
constexpr double kReach = 10;       // standard deviations
constexpr double kDeepestMass = 14;     // how far the log mass may fall within the grid
constexpr int kMostGridRounds = 20;
constexpr double kWidth = 2;        // of a soft kink on either side, in steps of the grid
constexpr double kSteepest = 8;    // of log p, over the width of a soft kink
constexpr double kRescaled = 0.3;   // in logarithms, after which a group's grid is made anew
constexpr double kFarMass = 50;         // of a log mass from where numbers are at ease
constexpr double kMoved = 0.7;      // standard deviations from where the grid was made

// A kernel on [-1, 1] without a second moment, and its first and second integral.
double kernel(double u) { return 0.46875 * (3 + u * u * (7 * u * u - 10)); }
double kernel_step(double u) {
  return 0.5 + 0.46875 * u * (3 + u * u * (1.4 * u * u - 10.0 / 3));
}
double kernel_ramp(double u) {
  const double q = u * u;
  return 0.078125 + 0.5 * u + 0.46875 * q * (1.5 + q * (7.0 / 30 * q - 10.0 / 12));
}

// What (e_0, e_1) are multiplied by in a row's f.
Eigen::Vector2d loading(const PairRows& of, Index row, const PairScale& scale) {
  const double z0 = of.rows.z[row], z1 = of.second[row];
  return {scale.f00 * z0 + scale.f10 * z1, scale.f11 * z1};
}

}  // namespace

void PairGrid::take(const PairRows& of, const PairScale& scale) {
  of_ = &of;
  scale_ = scale;
  const EffectRows& rows = of.rows;
  const Index r = rows.r;
  pair_columns(of, scale, columns_);
  loading_.resize(2, r);
  rows_.resize(r);
  for (Index i = 0; i < r; ++i) {
    loading_.col(i) = loading(of, i, scale);
    if (!std::isfinite(rows.o[i]) || !loading_.col(i).allFinite()) beyond_numbers();
    rows_[i] = {rows.y[i], 0, 0, rows.weight ? rows.weight[i] : 1};
  }
}

// ---- where the grid is

// Sums over the frame's nodes, made anew if there is none or the mass has moved. False if none will
// do.
bool PairGrid::fit(Want want, Frame& frame) {
  if (frame.points > 0 && same_scale(frame)) {
    if (frame.exact) return false;
    run(frame, want, true);
    if (fits(frame)) return true;
  }
  make(frame);
  if (!frame.exact) run(frame, want, true);
  return !frame.exact;
}

// Widths of soft kinks go with the scale.
bool PairGrid::same_scale(const Frame& frame) const {
  const PairScale& before = frame.scale;
  return std::abs(std::log(scale_.f00 / before.f00)) < kRescaled &&
         std::abs(std::log(scale_.f11 / before.f11)) < kRescaled &&
         std::abs(scale_.f10 - before.f10) < kRescaled * std::hypot(before.f10, before.f11);
}

bool PairGrid::fits(const Frame& frame) const {
  if (!(total_ > 1e-200 && total_ < 1e200)) return false;
  for (Index a = 0; a < 2; ++a) {
    const double mean = first_[a] / total_, variance = second_[a] / total_ - mean * mean;
    const double before = frame.variance[a];
    if (!(std::abs(mean - frame.mean[a]) < kMoved * std::sqrt(before))) return false;
    if (!(variance > 0.5 * before && variance < 2 * before)) return false;
  }
  return true;
}

// About the mass, in coordinates in which it has unit covariance, as far as it counts.
void PairGrid::make(Frame& frame) {
  if (frame.exact) frame = Frame();
  frame.exact = !find_mass(frame);
  cut_to_mass(frame);
  find_widths(frame);
  for (Index i = 0; i < of_->rows.r; ++i)
    if (!(2 * rows_[i].w * soft_[i] < kSteepest)) frame.exact = true;
  if (frame.exact) return;
  run(frame, Want::moments, true);
  for (Index a = 0; a < 2; ++a) {
    frame.mean[a] = first_[a] / total_;
    frame.variance[a] = std::max(second_[a] / total_ - frame.mean[a] * frame.mean[a],
                                 frame.step[a] * frame.step[a] / 6);
  }
}

// From a coarse grid about the last one's mass, or over the whole prior, to one about the mass.
// Round by round, until they hardly move:
//   mean, root     of the mass seen, and of its covariance: the next centre and axes
//   shift, change  these in the present coordinates: zero and one where they stay
bool PairGrid::find_mass(Frame& frame) {
  bool known = frame.points > 0;
  frame.scale = scale_;
  frame.points = kCoarse;
  for (int round = 0; round < kMostGridRounds; ++round) {
    frame.low.setConstant(-kReach);
    frame.step.setConstant(2 * kReach / static_cast<double>(kCoarse - 1));
    run(frame, Want::moments, false);
    if (std::abs(highest_) > kFarMass) {
      frame.reference += highest_;
      run(frame, Want::moments, false);
    }
    const Eigen::Vector2d mean = mean_ / total_;
    Eigen::Matrix2d covariance = square_ / total_ - mean * mean.transpose();
    const double cell = frame.step[0] * frame.step[0] / 6;  // below this it is not resolved
    covariance += cell * frame.axes * frame.axes.transpose();
    const Eigen::LLT<Eigen::Matrix2d> factor(covariance);
    if (factor.info() != Eigen::Success || !mean.allFinite()) return false;
    const Eigen::Matrix2d root = factor.matrixL();
    const Eigen::Matrix2d change = frame.axes.triangularView<Eigen::Lower>().solve(root);
    const Eigen::Vector2d shift =
        frame.axes.triangularView<Eigen::Lower>().solve(mean - frame.centre);
    if (known && !(shift.norm() < kReach / 2)) {  // it is somewhere else
      frame.centre.setZero();
      frame.axes.setIdentity();
      known = false;
      continue;
    }
    if (shift.norm() < 0.3 && (change.diagonal().array() > 0.7).all() &&
        (change.diagonal().array() < 1.4).all() && std::abs(change(1, 0)) < 0.4)
      return true;
    frame.centre = mean;
    frame.axes = root;
  }
  return false;
}

// From the coarse grid's profiles of the log mass.
void PairGrid::cut_to_mass(Frame& frame) const {
  const Index points = of_->rows.r < kManyRows ? kPoints : kFewPoints;
  for (Index a = 0; a < 2; ++a) {
    const std::vector<double>& profile = highest_at_[a];
    Index first = 0, last = kCoarse - 1;
    while (first + 1 < last && profile[first + 1] < highest_ - kDeepestMass) ++first;
    while (last - 1 > first && profile[last - 1] < highest_ - kDeepestMass) --last;
    const double low = frame.low[a] + frame.step[a] * static_cast<double>(first),
                 high = frame.low[a] + frame.step[a] * static_cast<double>(last);
    frame.low[a] = low;
    frame.step[a] = (high - low) / static_cast<double>(points - 1);
  }
  frame.points = points;
}

// By the scale the frame was made at.
void PairGrid::find_widths(const Frame& frame) {
  const Index r = of_->rows.r;
  soft_.resize(r);
  const Eigen::Matrix2d steps = frame.axes * frame.step.asDiagonal();
  for (Index i = 0; i < r; ++i)
    soft_[i] = kWidth * (steps.transpose() * loading(*of_, i, frame.scale)).norm();
}

// ---- sums over the nodes

// Line by line of the grid:
//   x_                    (n)           t_0 along the line
//   log_p_, mass_         (n)           log of the integrand, less `reference`; the integrand
//   slope_, bend_         (n, r)        dlog p/df and d2log p/df2 of each row, softened
//   weights_              (n, 6)        mass times 1, e_0, e_1, e_0^2, e_0 e_1, e_1^2
//   moved_                (n, d + 3)    dlog p/d(b, log f00, f10, log f11)
// and summed over the lines: total_, first_ and second_ (of t and t^2), mean_ and square_ (of e),
// row_slopes_ = slope_'weights_, row_bends_ = bend_'weights_, product_ = moved_'mass moved_ and
// mixed_ = moved_'mass e.
void PairGrid::run(const Frame& frame, Want want, bool soft) {
  const Index n = frame.points, r = of_->rows.r, size = of_->rows.d + 3;
  total_ = 0;
  highest_ = kNothing;
  first_.setZero();
  second_.setZero();
  mean_.setZero();
  square_.setZero();
  for (auto& profile : highest_at_) profile.assign(n, kNothing);
  x_ = Vec::LinSpaced(n, 0, static_cast<double>(n - 1)) * frame.step[0];
  x_.array() += frame.low[0];
  if (want != Want::moments) row_slopes_.setZero(r, 3);
  if (want == Want::products) {
    row_bends_.setZero(r, 6);
    product_.setZero(size, size);
    mixed_.setZero(size, 2);
  }
  slope_.resize(n, r);
  bend_.resize(n, r);
  if (soft) find_widths(frame);
  for (Index line = 0; line < n; ++line) {
    set_line(frame, line);
    log_p_.setZero(n);
    law_.terms(rows_.data(), r, x_.data(), n, log_p_.data(),
                want == Want::moments ? nullptr : slope_.data(),
                want == Want::products ? bend_.data() : nullptr);
    if (soft) soften(frame);
    add_masses(frame, line);
    if (want != Want::moments) add_slopes();
    if (want == Want::products) add_products();
  }
}

void PairGrid::set_line(const Frame& frame, Index line) {
  const double t = frame.low[1] + frame.step[1] * static_cast<double>(line);
  const Eigen::Vector2d origin = frame.centre + t * frame.axes.col(1), along = frame.axes.col(0);
  for (size_t i = 0; i < rows_.size(); ++i) {
    rows_[i].o = of_->rows.o[i] + loading_.col(i).dot(origin);
    rows_[i].z = loading_.col(i).dot(along);
  }
  e0_ = origin[0] + along[0] * x_.array();
  e1_ = origin[1] + along[1] * x_.array();
}

// Near kinks, what softening changes; of slope_ and bend_ also where nobody asked for them.
void PairGrid::soften(const Frame& frame) {
  const Index n = frame.points;
  for (size_t i = 0; i < rows_.size(); ++i) {
    const LineRow& row = rows_[i];
    const double width = soft_[i];
    if (!(width > 0)) continue;
    for (int j = 0; j < law_.row_kinks(); ++j) {
      const RowKink kink = law_.row_kink(j, row.y);
      const double start = row.o + row.z * x_[0] - kink.place, by = row.z * frame.step[0];
      Index first = 0, last = n - 1;  // where start + k by is within the width
      if (std::abs(by) > 1e-12 * width) {
        const double one = (-width - start) / by, other = (width - start) / by;
        const double low = std::min(one, other), high = std::max(one, other);
        if (!(high >= 0 && low <= static_cast<double>(n - 1))) continue;
        first = whole_within(std::ceil(low), 0, n - 1);
        last = whole_within(std::floor(high), 0, n - 1);
      }
      for (Index k = first; k <= last; ++k) {
        const double v = start + by * static_cast<double>(k), u = v / width;
        if (!(std::abs(u) < 1)) continue;
        const double size = row.w * kink.jump;
        log_p_[k] += size * (width * kernel_ramp(u) - std::max(v, 0.0));
        slope_(k, i) += size * (kernel_step(u) - (v > 0 ? 1 : 0));
        bend_(k, i) += size * kernel(u) / width;
      }
    }
  }
}

void PairGrid::add_masses(const Frame& frame, Index line) {
  const Index n = frame.points;
  log_p_.array() -= 0.5 * (e0_.array().square() + e1_.array().square()) + frame.reference;
  for (Index k = 0; k < n; ++k) highest_at_[0][k] = std::max(highest_at_[0][k], log_p_[k]);
  highest_at_[1][line] = log_p_.maxCoeff();
  highest_ = std::max(highest_, highest_at_[1][line]);
  mass_ = log_p_;
  if (highest_at_[1][line] < 600) {
    hinge_kernels().exponentials(mass_.data(), n);
  } else {
    mass_.setConstant(std::numeric_limits<double>::infinity());  // the reference is of no use
  }
  const double t = frame.low[1] + frame.step[1] * static_cast<double>(line), sum = mass_.sum();
  total_ += sum;
  first_ += Eigen::Vector2d(mass_.dot(x_), t * sum);
  second_ += Eigen::Vector2d((mass_.array() * x_.array().square()).sum(), t * t * sum);
  weights_.resize(n, 6);
  weights_.col(0) = mass_;
  weights_.col(1) = mass_.cwiseProduct(e0_);
  weights_.col(2) = mass_.cwiseProduct(e1_);
  weights_.col(3) = weights_.col(1).cwiseProduct(e0_);
  weights_.col(4) = weights_.col(1).cwiseProduct(e1_);
  weights_.col(5) = weights_.col(2).cwiseProduct(e1_);
  const Eigen::Matrix<double, 1, 6> sums = weights_.colwise().sum();
  mean_ += Eigen::Vector2d(sums[1], sums[2]);
  square_ += (Eigen::Matrix2d() << sums[3], sums[4], sums[4], sums[5]).finished();
}

void PairGrid::add_slopes() {
  row_slopes_.noalias() += slope_.transpose() * weights_.leftCols(3);
}

void PairGrid::add_products() {
  const Index d = of_->rows.d;
  row_bends_.noalias() += bend_.transpose() * weights_;
  moved_.resize(slope_.rows(), d + 3);
  moved_.leftCols(d + 2).noalias() = slope_ * columns_.transpose();
  moved_.col(d + 2) = scale_.f11 * moved_.col(d + 1).cwiseProduct(e1_);
  moved_.col(d + 1) = moved_.col(d + 1).cwiseProduct(e0_).eval();
  moved_.col(d) = moved_.col(d).cwiseProduct(e0_).eval();
  product_.noalias() += moved_.transpose() * mass_.asDiagonal() * moved_;
  mixed_.noalias() += moved_.transpose() * weights_.middleCols(1, 2);
}

// ---- what comes of them

double PairGrid::log_total(const Frame& frame) const {
  return frame.reference + std::log(total_) - kLog2Pi +
         std::log(frame.axes.diagonal().prod() * frame.step.prod());
}

void PairGrid::integrate(const PairRows& of, const PairScale& scale, Depth depth, Frame& frame,
                         EffectSums& out) {
  take(of, scale);
  const Want want = depth == Depth::value      ? Want::moments
                    : depth == Depth::gradient ? Want::slopes
                                               : Want::products;
  if (!fit(want, frame)) return exact_.integrate(of, scale, depth, out);
  out.value = log_total(frame);
  if (depth == Depth::value) return;
  const Index d = of.rows.d;
  row_slopes_ /= total_;
  out.gradient.resize(d + 3);
  out.gradient.head(d) = columns_.topRows(d) * row_slopes_.col(0);
  out.gradient[d] = columns_.row(d).dot(row_slopes_.col(1));
  out.gradient[d + 1] = columns_.row(d + 1).dot(row_slopes_.col(1));
  out.gradient[d + 2] = scale_.f11 * columns_.row(d + 1).dot(row_slopes_.col(2));
  if (depth != Depth::gradient) add_curvature(out);
}

// Cov(dl) + E d2l, where a row's f moves with (b, log f00, f10, log f11) by
// x = (c, f00 z_0 e_0, z_1 e_0, f11 z_1 e_1).
void PairGrid::add_curvature(EffectSums& out) const {
  const Index d = of_->rows.d;
  Mat& hessian = out.hessian;
  hessian = product_ / total_ - out.gradient * out.gradient.transpose();
  const Mat bends = row_bends_ / total_;
  const auto top = columns_.topRows(d);
  const Mat z0 = columns_.row(d), z1 = columns_.row(d + 1), s1 = scale_.f11 * z1;
  hessian.topLeftCorner(d, d).noalias() += top * bends.col(0).asDiagonal() * top.transpose();
  hessian.block(d, 0, 1, d) += z0 * bends.col(1).asDiagonal() * top.transpose();
  hessian.block(d + 1, 0, 1, d) += z1 * bends.col(1).asDiagonal() * top.transpose();
  hessian.block(d + 2, 0, 1, d) += s1 * bends.col(2).asDiagonal() * top.transpose();
  const auto pair = [&](const Mat& a, const Mat& b, Index moment) {
    return (a.array() * b.array() * bends.col(moment).transpose().array()).sum();
  };
  hessian(d, d) += pair(z0, z0, 3) + out.gradient[d];
  hessian(d + 1, d) += pair(z1, z0, 3);
  hessian(d + 1, d + 1) += pair(z1, z1, 3);
  hessian(d + 2, d) += pair(s1, z0, 4);
  hessian(d + 2, d + 1) += pair(s1, z1, 4);
  hessian(d + 2, d + 2) += pair(s1, s1, 5) + out.gradient[d + 2];
}

void PairGrid::law(const PairRows& of, const PairScale& scale, Frame& frame, PairLaw& out) {
  take(of, scale);
  if (!fit(Want::products, frame)) return exact_.law(of, scale, out);
  const Index d = of.rows.d;
  Eigen::Matrix2d root;
  root << scale.f00, 0, scale.f10, scale.f11;
  const Eigen::Vector2d mean = mean_ / total_;
  out.mean = root * mean;
  out.covariance = root * (square_ / total_ - mean * mean.transpose()) * root.transpose();
  const Vec slope = columns_.topRows(d) * (row_slopes_.col(0) / total_);
  out.slope = (mixed_.topRows(d) / total_ - slope * mean.transpose()) * root.transpose();
}

}  // namespace bsvm
