// Many columns with a penalty of power one: at the optimum most coefficients are zero, and the
// problem without their columns has the same optimum. So a working set of columns is solved by
// itself. Its multipliers a say which others are missing: b_j = 0 is optimal while
// |z_j| scale_j <= 1, z = A'a. The worst of the others join, and the gap over all columns
// (penalties.hpp) says when it is enough. Each round need not be solved better than the one before
// it was far from the whole.
#include "working_set.hpp"

#include <algorithm>
#include <cmath>

namespace bsvm {

namespace {

constexpr double kFarInside = 0.5;  // columns this far from mattering leave the set
constexpr int kMostRounds = 50;

class WorkingSet {
 public:
  WorkingSet(const Design& design, const Penalties& penalties, Index first)
      : penalties_(penalties), inside_(design.columns(), 0) {
    for (Index j = 0; j < design.columns(); ++j) inside_[j] = penalties.power[j] != 1;
    const Vec far = (design.kink.array() > 0).select(design.cost, 0.0);
    add(design.transposed(far), first, 0);
  }

  std::vector<Index> columns() const {
    std::vector<Index> out;
    for (size_t j = 0; j < inside_.size(); ++j)
      if (inside_[j]) out.push_back(static_cast<Index>(j));
    return out;
  }

  // Columns that have no coefficient and are far from it.
  void leave(const Vec& b, const Vec& z) {
    for (Index j = 0; j < z.size(); ++j)
      if (penalties_.power[j] == 1 && b[j] == 0 &&
          std::abs(z[j]) * penalties_.scale[j] < kFarInside)
        inside_[j] = 0;
  }

  // The columns with the largest |z_j| scale_j above `least`, `most` at most. How many were added.
  Index add(const Vec& z, Index most, double least) {
    const Vec size = z.cwiseAbs().cwiseProduct(penalties_.scale);
    std::vector<Index> out;
    for (Index j = 0; j < size.size(); ++j)
      if (!inside_[j] && size[j] > least) out.push_back(j);
    const Index number = std::min(most, static_cast<Index>(out.size()));
    std::partial_sort(out.begin(), out.begin() + number, out.end(),
                      [&](Index a, Index b) { return size[a] > size[b]; });
    for (Index k = 0; k < number; ++k) inside_[out[k]] = 1;
    return number;
  }

 private:
  const Penalties& penalties_;
  std::vector<char> inside_;
};

// Takes over what is better than before.
void improve(const Design& design, const Penalties& penalties, const Point& part,
             const std::vector<Index>& at, const Vec& z, Point& out) {
  double stretch;
  const double dual = dual_objective(design, penalties, part.multipliers, z, stretch);
  if (dual > out.dual) {
    out.dual = dual;
    out.multipliers = (stretch * part.multipliers).cwiseMin(design.cost);
  }
  if (part.objective < out.objective) {
    out.objective = part.objective;
    out.b = Vec::Zero(design.columns());
    for (size_t f = 0; f < at.size(); ++f) out.b[at[f]] = part.b[f];
  }
  out.gap = relative_gap(design, out.objective, out.dual);
  out.trace.push_back({out.objective, out.gap});
}

}  // namespace

Point minimise_in_parts(const Design& design, const Penalties& penalties,
                        const PointOptions& options, Host& host, Index most) {
  const Index first = most / 6;
  if (std::min(design.rows(), design.columns()) <= most ||
      (penalties.power.array() == 1).count() <= first)
    return minimise_convex(design, penalties, options, host);
  WorkingSet set(design, penalties, first);
  Point out;
  PointOptions own = options;
  for (int k = 0; k < kMostRounds; ++k) {
    const double before = out.gap;
    const std::vector<Index> at = set.columns();
    own.tolerance = std::max(options.tolerance / 2, 1e-2 * out.gap);
    const Point part = minimise_convex(design.select(at), penalties.select(at), own, host);
    out.end = part.end;
    if (part.end == Termination::interrupted) return out;
    const Vec z = design.transposed(part.multipliers);
    improve(design, penalties, part, at, z, out);
    if (out.gap <= options.tolerance) break;
    set.leave(out.b, z);
    const Index added = set.add(z, static_cast<Index>(at.size()), 1);
    if (added == 0 && out.gap > 0.5 * before) break;
  }
  out.end = out.gap <= std::max(options.tolerance, kGapAsked) ? Termination::converged
                                                              : Termination::stalled;
  return out;
}

}  // namespace bsvm
