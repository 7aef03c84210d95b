#include "window_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "effect_integral.hpp"
#include "special/functions.hpp"

namespace bsvm {

namespace {

constexpr double kMostValue = 1e15;  // of a log integrand: beyond, rounding is as large as its unit
constexpr double kJump = 1.9640275800758168839;  // 2 / (1 + exp(-4)): of the slope at y f = -1

}  // namespace

Probe WindowSearch::probe(const LineRow* rows, Index r, bool weighted, double e) {
  const double x[4] = {e, e, e, e};
  double value[4] = {}, first[4] = {}, second[4] = {};
  hinge_kernels().terms(rows, r, weighted, x, 4, value, nullptr, nullptr, first, second);
  return {e, value[0] - 0.5 * e * e, first[0] - e, second[0] + 1};
}

// One stretch between each two kinks, all probed in one go.
void WindowSearch::start_at_kinks(const std::vector<LineRow>& rows, bool weighted) {
  kinks_.assign(1, reach_);
  for (const LineRow& row : rows)
    for (double f : {-1.0, 1.0}) {
      const double at = kink(row, f);
      if (std::abs(at) < reach_) kinks_.push_back(at);
    }
  std::sort(kinks_.begin(), kinks_.end());
  double low = -reach_;
  for (double high : kinks_) {
    if (!(high > low)) continue;
    double at = 0.5 * (low + high);  // but near the others, or where the prior is largest
    if (low == -reach_) at = std::max(at, std::min(0.0, high - 0.5));
    if (high == reach_) at = std::min(at, std::max(0.0, low + 0.5));
    open_.push_back({low, high, {at, 0, 0, 0}});
    low = high;
  }
  const size_t count = (open_.size() + 3) / 4 * 4;
  points_.assign(count, 0);
  for (size_t k = 0; k < open_.size(); ++k) points_[k] = open_[k].at.e;
  for (auto* each : {&value_, &first_, &second_}) each->assign(count, 0);
  hinge_kernels().terms(rows.data(), static_cast<Index>(rows.size()), weighted, points_.data(),
                        static_cast<Index>(count), value_.data(), nullptr, nullptr, first_.data(),
                        second_.data());
  for (size_t k = 0; k < open_.size(); ++k) {
    const double e = points_[k];
    open_[k].at = {e, value_[k] - 0.5 * e * e, first_[k] - e, second_[k] + 1};
  }
}

void WindowSearch::sort_jumps(const std::vector<LineRow>& rows) {
  jumps_.clear();
  for (const LineRow& row : rows) {
    const double at = kink(row, -row.y);
    if (std::isfinite(at)) jumps_.push_back({at, kJump * row.w * std::abs(row.z)});
  }
  std::sort(jumps_.begin(), jumps_.end());
  for (size_t k = 1; k < jumps_.size(); ++k) jumps_[k].second += jumps_[k - 1].second;
}

// Of the slope within [low, high], at most.
double WindowSearch::jumps(double low, double high) const {
  if (at_kinks_) return 0;
  const auto from = std::lower_bound(jumps_.begin(), jumps_.end(), std::make_pair(low, -1.0));
  const auto to = std::upper_bound(from, jumps_.end(), std::make_pair(high, kInfinite));
  if (from == to) return 0;
  return (to - 1)->second - (from == jumps_.begin() ? 0 : (from - 1)->second);
}

// How far out e^2 / 2 alone is too much, since log p <= 0, and at e = 0 it is at least this.
double WindowSearch::reach(const std::vector<LineRow>& rows) {
  double least = 0;
  for (const LineRow& row : rows)
    least -= row.w * (2 * std::max(0.0, 1 - row.y * row.o) + 0.7);
  return std::sqrt(2 * (kDeep - least));
}

void WindowSearch::find(const std::vector<LineRow>& rows, bool weighted, bool at_kinks) {
  at_kinks_ = at_kinks;
  open_.clear();
  reach_ = reach(rows);
  if (!std::isfinite(reach_)) beyond_numbers();
  if (at_kinks) {
    start_at_kinks(rows, weighted);
  } else {
    sort_jumps(rows);
    open_.push_back({-reach_, reach_,
                     probe(rows.data(), static_cast<Index>(rows.size()), weighted, 0)});
  }
  best_ = open_[0].at;
  find_stretches(
      [&](double e) { return probe(rows.data(), static_cast<Index>(rows.size()), weighted, e); },
      [&](double low, double high) { return jumps(low, high); }, open_, best_, found_);
  if (found_.empty() || !(std::abs(best_.value) < kMostValue)) beyond_numbers();
}

}  // namespace bsvm
