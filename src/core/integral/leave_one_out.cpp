#include "leave_one_out.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "integral/rules/legendre.hpp"
#include "special/functions.hpp"

namespace bsvm {

namespace {

constexpr double kDrop = 18;       // in logarithms, below which an integrand does not count
constexpr Index kLook = 32;        // points of a line, while its range is looked for
constexpr Index kLookLines = 24;
constexpr Index kFewLines = 16, kMostLines = 512;  // of two effects, less one
constexpr double kTolerance = 1e-3;  // of a logarithm, where lines are doubled
constexpr int kMostRounds = 60;
constexpr double kZoom = 0.4;      // of a range, below which it pays to look again
constexpr Index kPanels = 16, kLinePanels = 8;  // at least, of one effect and of two
constexpr Index kManyPanels = 32;
constexpr size_t kMostCuts = 128;  // beyond, kinks are too small to matter
constexpr int kDirections = 32;

// Both signs, and weights in logarithms.
constexpr Index kNodes = 8;
struct Rule {
  double x[kNodes], log_weight[kNodes];
  Rule() {
    const Legendre& half = kLegendre[3];
    for (Index j = 0; j < kNodes; ++j) {
      x[j] = (j % 2 ? 1 : -1) * half.x[j / 2];
      log_weight[j] = std::log(half.w[j / 2]);
    }
  }
};

}  // namespace

void LeaveOneOut::take(const EffectRows& rows) {
  rows_.resize(rows.r);
  for (Index i = 0; i < rows.r; ++i)
    rows_[i] = {rows.y[i], rows.o[i], 0, rows.weight ? rows.weight[i] : 1};
  offset_ = Eigen::Map<const Vec>(rows.o, rows.r);
}

// The integrands' logarithms at x_, a multiple of four points: mass_.
void LeaveOneOut::look(Index points) {
  const Index r = static_cast<Index>(rows_.size());
  log_p_.setZero(points, r + 1);
  for (Index i = 0; i < r; ++i) {
    law_.terms(&rows_[i], 1, x_.data(), points, log_p_.col(i).data(), nullptr, nullptr);
    log_p_.col(r) += log_p_.col(i);
  }
  log_p_.col(r).array() -= 0.5 * x_.head(points).array().square();
  mass_.resize(points, r + 1);
  for (Index i = 0; i < r; ++i) mass_.col(i) = log_p_.col(r) - log_p_.col(i);
  mass_.col(r) = log_p_.col(r);
}

// Moves a range to where points count; false where that changes little.
bool LeaveOneOut::zoom(const std::vector<char>& counts, double step, Range& range) const {
  const Index last = static_cast<Index>(counts.size()) - 1;
  Index first = 0, end = last;
  while (first < last && !counts[first]) ++first;
  while (end > first && !counts[end]) --end;
  const double width = range.high - range.low;
  const Range before = range;
  range.low = first == 0 ? before.low - 0.5 * width
                         : before.low + step * static_cast<double>(first - 1);
  range.high = end == last ? before.high + 0.5 * width
                           : before.low + step * static_cast<double>(end + 1);
  return first == 0 || end == last || range.high - range.low < kZoom * width;
}

LeaveOneOut::Range LeaveOneOut::find_range(Range range) {
  counts_.resize(kLook);
  for (int round = 0; round < kMostRounds; ++round) {
    x_ = Vec::LinSpaced(kLook, range.low, range.high);
    look(kLook);
    const auto highest = mass_.colwise().maxCoeff().eval();
    for (Index k = 0; k < kLook; ++k)
      counts_[k] = (mass_.row(k) - highest).maxCoeff() > -kDrop;
    if (!zoom(counts_, x_[1] - x_[0], range)) break;
  }
  return range;
}

// Panels between kinks, and none too long.
void LeaveOneOut::place_nodes(Range range, Index least) {
  cuts_.clear();
  for (const LineRow& row : rows_)
    for (int k = 0; k < law_.row_kinks(); ++k) {
      const double at = (law_.row_kink(k, row.y).place - row.o) / row.z;
      if (at > range.low && at < range.high) cuts_.push_back(at);
    }
  const bool many = cuts_.size() > kMostCuts;
  if (many) cuts_.clear();
  const Index panels = many ? kManyPanels : least;
  const double length = (range.high - range.low) / static_cast<double>(panels);
  for (Index k = 0; k <= panels; ++k)
    cuts_.push_back(range.low + length * static_cast<double>(k));
  std::sort(cuts_.begin(), cuts_.end());
  static const Rule rule;
  const Index count = static_cast<Index>(cuts_.size()) - 1;
  x_.resize(count * kNodes);
  log_weight_.resize(count * kNodes);
  for (Index k = 0; k < count; ++k) {
    const double centre = 0.5 * (cuts_[k] + cuts_[k + 1]), half = 0.5 * (cuts_[k + 1] - cuts_[k]);
    const double log_half = half > 0 ? std::log(half) : kNothing;
    for (Index j = 0; j < kNodes; ++j) {
      x_[k * kNodes + j] = centre + half * rule.x[j];
      log_weight_[k * kNodes + j] = log_half + rule.log_weight[j];
    }
  }
}

// Logs of the line's integrals: line_.
void LeaveOneOut::sum_line(Range range, Index panels) {
  place_nodes(range, panels);
  look(x_.size());
  line_.resize(mass_.cols());
  for (Index i = 0; i < mass_.cols(); ++i) {
    auto own = mass_.col(i);
    own += log_weight_;
    const double highest = own.maxCoeff();
    own.array() -= highest;
    hinge_kernels().exponentials(own.data(), own.size());
    line_[i] = highest + std::log(own.sum()) - 0.5 * kLog2Pi;
  }
}

const Vec& LeaveOneOut::integrate(const EffectRows& rows, double s) {
  take(rows);
  for (Index i = 0; i < rows.r; ++i) rows_[i].z = s * rows.z[i];
  sum_line(find_range({-8, 8}), kPanels);
  return line_;
}

// ---- two effects

// Lines cut the kinks of the rows as far from along them as can be.
void LeaveOneOut::find_direction(const PairRows& of, const PairScale& scale) {
  const Index r = of.rows.r;
  Eigen::Matrix2Xd loading(2, r);
  for (Index i = 0; i < r; ++i)
    loading.col(i) << scale.f00 * of.rows.z[i] + scale.f10 * of.second[i],
        scale.f11 * of.second[i];
  double best = -1;
  for (int k = 0; k < kDirections; ++k) {
    const double angle = std::acos(-1.0) * k / kDirections;
    const Eigen::Vector2d along(std::cos(angle), std::sin(angle));
    double least = 1;
    for (Index i = 0; i < r; ++i) {
      const double size = loading.col(i).norm();
      if (size > 1e-8) least = std::min(least, std::abs(loading.col(i).dot(along)) / size);
    }
    if (!(least > best)) continue;
    best = least;
    along_ = loading.transpose() * along;
    across_ = loading.transpose() * Eigen::Vector2d(-along[1], along[0]);
  }
}

void LeaveOneOut::set_line(double t) {
  for (size_t i = 0; i < rows_.size(); ++i) {
    rows_[i].o = offset_[i] + across_[i] * t;
    rows_[i].z = along_[i];
  }
}

// Where integrands count in the plane.
void LeaveOneOut::find_box(Range& across, Range& along) {
  const Index size = static_cast<Index>(rows_.size()) + 1;
  std::vector<Mat> all(kLookLines);
  for (int round = 0; round < kMostRounds; ++round) {
    const Vec t = Vec::LinSpaced(kLookLines, across.low, across.high);
    x_ = Vec::LinSpaced(kLook, along.low, along.high);
    Eigen::RowVectorXd highest = Eigen::RowVectorXd::Constant(size, kNothing);
    for (Index k = 0; k < kLookLines; ++k) {
      set_line(t[k]);
      look(kLook);
      all[k] = mass_.array() - 0.5 * t[k] * t[k];
      highest = highest.cwiseMax(all[k].colwise().maxCoeff());
    }
    std::vector<char> lines(kLookLines, 0), points(kLook, 0);
    for (Index k = 0; k < kLookLines; ++k)
      for (Index j = 0; j < kLook; ++j)
        if ((all[k].row(j) - highest).maxCoeff() > -kDrop) lines[k] = points[j] = 1;
    const bool moved = zoom(lines, t[1] - t[0], across), too = zoom(points, x_[1] - x_[0], along);
    if (!moved && !too) return;
  }
}

// Lines first, first + by, .. of those that are step apart, each with its prior.
void LeaveOneOut::add_lines(Index first, Index by, double low, double step, Range along) {
  for (Index k = first; k < lines_.cols(); k += by) {
    const double t = low + step * static_cast<double>(k);
    set_line(t);
    sum_line(find_range(along), kLinePanels);  // from the start: another line has other modes
    lines_.col(k) = line_.array() - 0.5 * t * t;
  }
}

// An even sum, doubled until that changes nothing.
const Vec& LeaveOneOut::integrate(const PairRows& of, const PairScale& scale) {
  take(of.rows);
  find_direction(of, scale);
  Range across{-8, 8}, along{-8, 8};
  find_box(across, along);
  Vec before;
  for (Index count = kFewLines; count <= kMostLines; count *= 2) {
    const double step = (across.high - across.low) / static_cast<double>(count);
    const Mat known = lines_;
    lines_.resize(of.rows.r + 1, count + 1);
    if (count == kFewLines) {
      add_lines(0, 1, across.low, step, along);
    } else {
      for (Index k = 0; k < known.cols(); ++k) lines_.col(2 * k) = known.col(k);
      add_lines(1, 2, across.low, step, along);
    }
    const Vec highest = lines_.rowwise().maxCoeff();
    total_ = highest.array() + (lines_.colwise() - highest).array().exp().rowwise().sum().log() +
             std::log(step) - 0.5 * kLog2Pi;
    if (count > kFewLines && (total_ - before).cwiseAbs().maxCoeff() < kTolerance) break;
    before = total_;
  }
  return total_;
}

}  // namespace bsvm
