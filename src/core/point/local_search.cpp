#include "local_search.hpp"

#include "working_set.hpp"

#include <algorithm>
#include <cmath>

namespace bsvm {

namespace {

// Columns that are not held at zero, and their penalties with tangents at b.
std::vector<Index> moving_columns(const Penalties& penalties, ConstVecRef b) {
  std::vector<Index> out;
  for (Index j = 0; j < b.size(); ++j)
    if (penalties.power[j] >= 1 || b[j] != 0) out.push_back(j);
  return out;
}

Vec pick(ConstVecRef b, const std::vector<Index>& at) {
  Vec out(at.size());
  for (size_t f = 0; f < at.size(); ++f) out[f] = b[at[f]];
  return out;
}

Vec spread(ConstVecRef part, const std::vector<Index>& at, Index size) {
  Vec out = Vec::Zero(size);
  for (size_t f = 0; f < at.size(); ++f) out[at[f]] = part[f];
  return out;
}

// One pass from out.b; true if it lowered the objective.
bool follow_tangents(const Design& design, const Penalties& penalties, const PointOptions& options,
                     Host& host, Point& out) {
  const std::vector<Index> at = moving_columns(penalties, out.b);
  const Design part = design.select(at);
  const Vec b = pick(out.b, at);
  const Penalties linear = penalties.select(at).tangents(b);
  const Point next = minimise_in_parts(part, linear, options, host);
  out.end = next.end;
  if (next.end == Termination::interrupted) return false;
  out.multipliers = next.multipliers;
  out.gap = relative_gap(part, primal_objective(part, linear, b), next.dual);
  const Vec found = spread(next.b, at, out.b.size());
  const double objective = primal_objective(design, penalties, found);
  const bool falls = objective < out.objective;
  if (falls) {
    out.b = found;
    out.objective = objective;
  }
  out.trace.push_back({out.objective, out.gap});
  return falls;
}

}  // namespace

Point minimise_local(const Design& design, const Penalties& penalties, ConstVecRef start,
                     const PointOptions& options, Host& host) {
  Point out;
  out.b = start;
  out.objective = primal_objective(design, penalties, start);
  out.multipliers = Vec::Zero(design.rows());
  bool falls = true;
  for (int k = 0; k < options.max_passes && falls && out.gap > options.tolerance; ++k)
    falls = follow_tangents(design, penalties, options, host, out);
  out.dual = out.objective - out.gap * gap_scale(design, out.objective);
  if (out.end == Termination::interrupted) return out;
  const bool held = out.gap <= std::max(options.tolerance, kGapAsked);
  out.end = held ? Termination::converged
            : falls ? Termination::pass_limit : Termination::stalled;
  return out;
}

}  // namespace bsvm
