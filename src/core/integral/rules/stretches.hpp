#pragma once
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace bsvm {

// The log integrand at e, its slope, and minus its curvature where it is smooth.
struct Probe {
  double e, value, first, second;
};

// A stretch of e and a probe of it (not necessarily at its middle).
struct Stretch {
  double low, high;
  Probe at;
};

// Where a log integrand E is within kDeep of its maximum. It is concave, with e^2 / 2 to spare,
// but for upward jumps of its slope, of which jumps(low, high) tells the sum: so a tangent and the
// jumps bound it, and stretches are divided until the bound tells enough.
constexpr double kDeep = 26;  // exp(-26) of the whole is left out at either end

struct Bound {
  double up, down;     // slopes away from the probe, at most
  double most, where;  // of the bound
};

template <class Jumps>
Bound bound(const Stretch& stretch, Jumps jumps) {
  const Probe& at = stretch.at;
  Bound out;
  out.up = at.first + jumps(at.e, stretch.high);
  out.down = -at.first + jumps(stretch.low, at.e);
  const double right = std::clamp(out.up, 0.0, std::max(0.0, stretch.high - at.e));
  const double left = std::clamp(out.down, 0.0, std::max(0.0, at.e - stretch.low));
  const double above = right * (out.up - 0.5 * right), below = left * (out.down - 0.5 * left);
  out.most = at.value + std::max(above, below);
  out.where = above > below ? right : -left;
  return out;
}

// How far x^2 / 2 - slope x stays below room, x > 0.
inline double clearance(double slope, double room) {
  const double root = std::hypot(slope, std::sqrt(2 * room));
  return slope > 0 ? slope + root : 2 * room / std::max(root - slope, 1e-300);
}

// Clips stretches to where the bound is within kDeep of the best value seen, and sorts them.
template <class Jumps>
void clip(double best, Jumps jumps, std::vector<Stretch>& found) {
  size_t kept = 0;
  for (Stretch& each : found) {
    const Bound limit = bound(each, jumps);
    if (limit.most < best - kDeep) continue;
    const double room = std::max(each.at.value - (best - kDeep), 0.0);
    each.high = std::min(each.high, each.at.e + clearance(limit.up, room));
    each.low = std::max(each.low, each.at.e - clearance(limit.down, room));
    if (each.high > each.low) found[kept++] = each;
  }
  found.resize(kept);
  std::sort(found.begin(), found.end(),
            [](const Stretch& a, const Stretch& b) { return a.low < b.low; });
}

// Divides what is in `open`; `best` is the best probe so far, and then of all.
template <class Look, class Jumps>
void find_stretches(Look look, Jumps jumps, std::vector<Stretch>& open, Probe& best,
                    std::vector<Stretch>& found) {
  constexpr double tight = 10;       // the bound is good enough this close to what was seen
  constexpr int most_probes = 3000;  // more than any likelihood needs
  found.clear();
  for (const Stretch& each : open)
    if (each.at.value > best.value) best = each.at;
  for (int probes = 0; !open.empty();) {
    const Stretch now = open.back();
    open.pop_back();
    const Bound limit = bound(now, jumps);
    if (limit.most < best.value - kDeep) continue;
    if (limit.most - now.at.value <= tight || ++probes > most_probes) {
      found.push_back(now);
      continue;
    }
    Stretch near = now, far = now;
    far.at = look(now.at.e + 0.75 * limit.where);
    (limit.where > 0 ? near.high : near.low) = now.at.e + 0.5 * limit.where;
    (limit.where > 0 ? far.low : far.high) = now.at.e + 0.5 * limit.where;
    if (far.at.value > best.value) best = far.at;
    open.push_back(near);
    open.push_back(far);
  }
  clip(best.value, jumps, found);
}

}  // namespace bsvm
