// A NormalisedHinge with many rows: those without a kink on a stretch of e, and smooth enough,
// become one polynomial there; the others are looked at on its parts.
#include <algorithm>
#include <cmath>

#include "linalg/small.hpp"
#include "normalised_hinge.hpp"

namespace bsvm {

namespace {

constexpr size_t kFew = 12;         // rows that are left to the panels
constexpr size_t kDeepest = 120;
constexpr Index kTogether = 64;     // rows whose slopes are held at a time
constexpr double kLinear = 20;      // |f| beyond which log p is linear to 1e-17
// Half a stretch, in f, that sixteen nodes hold to 1e-14 within the margin, and beyond it.
constexpr double kNear = 0.2, kFar = 1;

// Is the row's log p a polynomial on [low, high], as far as numbers go?
bool is_smooth(const LineRow& row, double low, double high) {
  for (double f : {-1.0, 1.0}) {
    const double at = kink(row, f);
    if (at > low && at < high) return false;
  }
  const double f = std::abs(row.o + row.z * 0.5 * (low + high));
  const double reach = std::abs(row.z) * 0.5 * (high - low);
  return reach <= (f < 1 ? kNear : kFar) || f - reach > kLinear;
}

}  // namespace

void NormalisedHinge::start_level(double low, double high, const Level* parent, Level& out) {
  out.low = low;
  out.high = high;
  for (auto* each : {&out.value, &out.first, &out.second, &out.mass, &out.moment})
    each->assign(kChebyshev, 0);
  out.slope.setZero(given_->d, kChebyshev);
  out.x.resize(kChebyshev);
  const double centre = 0.5 * (low + high), half = 0.5 * (high - low);
  for (Index j = 0; j < kChebyshev; ++j) {
    out.x[j] = centre + half * chebyshev().x[j];
    if (!parent) continue;
    double basis[kChebyshev];
    chebyshev().basis((out.x[j] - 0.5 * (parent->low + parent->high)) /
                          (0.5 * (parent->high - parent->low)), basis);
    for (Index k = 0; k < kChebyshev; ++k) {
      out.value[j] += basis[k] * parent->value[k];
      out.first[j] += basis[k] * parent->first[k];
      out.second[j] += basis[k] * parent->second[k];
      out.slope.col(j) += basis[k] * parent->slope.col(k);
    }
  }
}

void NormalisedHinge::sort_rows(const std::vector<LineRow>& rows, const std::vector<Index>& index,
                                Level& out) {
  for (auto* each : {&out.smooth, &out.active}) each->clear();
  for (auto* each : {&out.smooth_row, &out.active_row}) each->clear();
  for (size_t k = 0; k < rows.size(); ++k) {
    const bool smooth = is_smooth(rows[k], out.low, out.high);
    (smooth ? out.smooth : out.active).push_back(rows[k]);
    (smooth ? out.smooth_row : out.active_row).push_back(index[k]);
  }
}

void NormalisedHinge::add_smooth(Level& level) {
  const Index r = static_cast<Index>(level.smooth.size()), d = given_->d;
  slope_.resize(std::max<size_t>(slope_.size(), kTogether * kChebyshev));
  const bool slopes = bends();
  for (Index first = 0; first < r; first += kTogether) {
    const Index count = std::min(kTogether, r - first);
    hinge_kernels().terms(level.smooth.data() + first, count, weighted_, level.x.data(),
                          kChebyshev, level.value.data(), nullptr,
                          slopes ? slope_.data() : nullptr,
                          level.first.data(), level.second.data());
    for (Index k = 0; slopes && k < count; ++k)
      for (Index j = 0; j < kChebyshev; ++j)
        add_multiple(level.slope.col(j).data(),
                     given_->c + index_[level.smooth_row[first + k]] * d,
                     slope_[k * kChebyshev + j], d);
  }
}

// The integral of a polynomial is a sum over the nodes: so the smooth rows get their moments.
void NormalisedHinge::take_moments(const Level& level) {
  const Index r = static_cast<Index>(level.smooth.size());
  double unused[kChebyshev] = {};
  for (Index first = 0; first < r; first += kTogether) {
    const Index count = std::min(kTogether, r - first);
    const LineRow* rows = level.smooth.data() + first;
    hinge_kernels().terms(rows, count, weighted_, level.x.data(), kChebyshev, unused,
                          nullptr, slope_.data(), nullptr, nullptr);
    for (auto* each : {&first_, &mixed_, &second_}) each->assign(count, 0);
    hinge_kernels().moments(rows, count, level.x.data(), kChebyshev, slope_.data(),
                            level.mass.data(), level.moment.data(), first_.data(),
                            mixed_.data(), second_.data());
    for (Index k = 0; k < count; ++k) {
      const Index row = level.smooth_row[first + k];
      gamma_[row] += first_[k];
      xi_[row] += mixed_[k];
      kappa_[row] += second_[k];
    }
  }
}

// The median of the kinks, so that ties do not stay together; else the middle.
double NormalisedHinge::split_point(const Level& level) {
  std::vector<double> kinks;
  for (const LineRow& row : level.active)
    for (double f : {-1.0, 1.0}) {
      const double at = kink(row, f);
      if (at > level.low && at < level.high) kinks.push_back(at);
    }
  if (kinks.empty()) return 0.5 * (level.low + level.high);
  const auto middle = kinks.begin() + static_cast<Index>(kinks.size() / 2);
  std::nth_element(kinks.begin(), middle, kinks.end());
  return *middle;
}

void NormalisedHinge::run_leaf(Level& level) {
  const Leaf leaf{level.active, level.active_row, &level};
  std::vector<double> ends{level.high};
  for (const LineRow& row : level.active)
    for (double f : {-1.0, 1.0}) {
      const double at = kink(row, f);
      if (at > level.low && at < level.high) ends.push_back(at);
    }
  std::sort(ends.begin(), ends.end());
  double low = level.low;
  for (double high : ends) {
    if (high > low) add_stretch(leaf, low, high, nullptr);
    low = high;
  }
  flush(leaf);
  if (depth_ == Depth::curvature) add_kinks(leaf, level.low, level.high);
}

void NormalisedHinge::descend(size_t depth, double low, double high, const Level* parent,
                              const std::vector<LineRow>& rows, const std::vector<Index>& index) {
  while (levels_.size() <= depth) levels_.push_back(std::make_unique<Level>());
  Level& level = *levels_[depth];
  start_level(low, high, parent, level);
  sort_rows(rows, index, level);
  add_smooth(level);
  if (level.active.size() <= kFew || depth == kDeepest) {
    run_leaf(level);
  } else {
    const double at = split_point(level);
    descend(depth + 1, low, at, &level, level.active, level.active_row);
    pass_up(*levels_[depth + 1], level);
    descend(depth + 1, at, high, &level, level.active, level.active_row);
    pass_up(*levels_[depth + 1], level);
    if (depth_ == Depth::curvature) add_tied_kinks(level, at);
  }
  if (depth_ != Depth::value) take_moments(level);
}

// What integrates the parent's polynomial on a part of its stretch.
void NormalisedHinge::pass_up(const Level& part, Level& parent) {
  for (Index j = 0; j < kChebyshev; ++j) {
    double basis[kChebyshev];
    chebyshev().basis((part.x[j] - 0.5 * (parent.low + parent.high)) /
                          (0.5 * (parent.high - parent.low)), basis);
    for (Index k = 0; k < kChebyshev; ++k) {
      parent.mass[k] += basis[k] * part.mass[j];
      parent.moment[k] += basis[k] * part.moment[j];
    }
  }
}

// Kinks where a stretch was split are inside neither part.
void NormalisedHinge::add_tied_kinks(Level& level, double at) {
  const double density =
      std::exp(probe({level.active, level.active_row, &level}, at).value - reference_);
  for (size_t k = 0; k < level.active.size(); ++k)
    for (double f : {-1.0, 1.0})
      if (kink(level.active[k], f) == at)
        add_jump(level.active[k], level.active_row[k], f, density);
}

}  // namespace bsvm
