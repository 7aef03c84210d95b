#include "lattice.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/error.hpp"
#include "linalg/dense.hpp"

namespace bsvm {

namespace {

constexpr double kStep = 1.75;  // standard deviations: a sum over them is good to 0.4 % an axis
constexpr double kDrop = 7;     // how far the log density falls until it counts no more
constexpr size_t kMostNodes = 150;
constexpr int kMostAttempts = 5;
constexpr double kFastest = 8;  // a step's change in one attempt

using Place = std::vector<int>;

Place beside(Place place, Index axis, int by) {
  place[axis] += by;
  return place;
}

// One step nearer the top.
Place inwards(const Place& place, Index axis) {
  return beside(place, axis, place[axis] > 0 ? -1 : 1);
}

class Lattice {
 public:
  Lattice(Conditional& conditional, const FreeUnits& units, const Node& top, const Mat& curvature)
      : conditional_(conditional), units_(units), h_(top.theta.size()), best_(top.log_density),
        unbounded_(h_, false) {
    const SymmetricEigen eigen(curvature);
    axes_ = kStep * eigen.vectors * eigen.values.cwiseSqrt().cwiseInverse().asDiagonal();
    log_volume_ =
        static_cast<double>(h_) * std::log(kStep) - 0.5 * eigen.values.array().log().sum();
    keep(Place(h_, 0), top);
    for (Index axis = 0; axis < h_; ++axis) begin(axis);
  }

  void fill() {
    while (nodes_.size() < kMostNodes) {
      const Place* next = nullptr;
      double highest = best_ - kDrop;
      for (const Place& place : open_) {
        const double height = predict(place);
        if (height < highest || beyond(place)) continue;
        highest = height;
        next = &place;
      }
      if (!next) break;
      go(Place(*next));
    }
    for (const Place& place : open_)
      if (predict(place) > best_ - kDrop) note_open_end(place);
  }

  void give(Approximation& out) {
    out.weights.resize(static_cast<Index>(nodes_.size()));
    for (size_t k = 0; k < nodes_.size(); ++k)
      out.weights[static_cast<Index>(k)] = std::exp(nodes_[k].log_density - best_);
    out.evidence = best_ + std::log(out.weights.sum()) + log_volume_ +
                   units_.unit.array().log().sum();
    out.nodes = std::move(nodes_);
    out.unbounded = unbounded_;
  }

 private:
  // The first two nodes of an axis, and its step.
  void begin(Index axis) {
    const Node top = nodes_[0];
    Node sides[2];
    const double longest = kLongestStep / axes_.col(axis).cwiseAbs().maxCoeff();
    double step = std::min(1.0, longest);
    for (int attempt = 1;; ++attempt) {
      double fall = 0;
      for (int side : {0, 1}) {
        const Vec away = (side ? step : -step) * axes_.col(axis);
        sides[side] = visit(conditional_, top.theta + units_.unit.cwiseProduct(away), top);
        fall += top.log_density - sides[side].log_density;
      }
      if (attempt == kMostAttempts || !mend_step(fall, kStep, longest, step)) break;
    }
    axes_.col(axis) *= step;
    log_volume_ += std::log(step);
    for (int side : {0, 1}) keep(beside(Place(h_, 0), axis, side ? 1 : -1), sides[side]);
  }

  void keep(const Place& place, const Node& node) {
    at_[place] = nodes_.size();
    open_.erase(place);
    nodes_.push_back(node);
    best_ = std::max(best_, node.log_density);
    if (node.log_density == kNothing) return;
    for (Index axis = 0; axis < h_; ++axis)
      for (int by : {-1, 1}) {
        const Place next = beside(place, axis, by);
        if (at_.count(next) == 0) open_.insert(next);
      }
  }

  // In units.
  Vec from_top(const Place& place) const {
    Vec out = Vec::Zero(h_);
    for (Index axis = 0; axis < h_; ++axis) out += place[axis] * axes_.col(axis);
    return out;
  }

  bool beyond(const Place& place) const {
    const Vec from = from_top(place);
    for (Index k = 0; k < h_; ++k)
      if (units_.logarithm[k] && from[k] > kFarthest) return true;
    return false;
  }

  // Where it is too far to go on although the density counts there.
  void note_open_end(const Place& place) {
    const Vec from = from_top(place);
    for (Index k = 0; k < h_; ++k)
      if (units_.logarithm[k] && from[k] > kFarthest) unbounded_[k] = true;
  }

  void go(const Place& place) {
    const Vec theta = nodes_[0].theta + units_.unit.cwiseProduct(from_top(place));
    keep(place, visit(conditional_, theta, nodes_[nearest(place)]));
  }

  // Null also where nothing could be computed.
  const Node* find(const Place& place) const {
    const auto found = at_.find(place);
    if (found == at_.end() || nodes_[found->second].log_density == kNothing) return nullptr;
    return &nodes_[found->second];
  }

  // The highest node a step away.
  size_t nearest(const Place& place) const {
    size_t out = 0;
    double height = kNothing;
    for (Index axis = 0; axis < h_; ++axis)
      for (int by : {-1, 1}) {
        const auto found = at_.find(beside(place, axis, by));
        if (found == at_.end() || nodes_[found->second].log_density <= height) continue;
        out = found->second;
        height = nodes_[out].log_density;
      }
    return out;
  }

  // Log density where nobody was: on a plane's corners without a mixed difference, on an axis on
  // the parabola through the last three; the most of what these say.
  double predict(const Place& place) const {
    double out = kNothing;
    for (Index i = 0; i < h_; ++i)
      for (Index j = 0; j < i; ++j) {
        if (place[i] == 0 || place[j] == 0) continue;
        const Node *a = find(inwards(place, i)), *b = find(inwards(place, j)),
                   *both = find(inwards(inwards(place, i), j));
        if (a && b && both)
          out = std::max(out, a->log_density + b->log_density - both->log_density);
      }
    if (out > kNothing) return out;
    for (Index i = 0; i < h_; ++i) {
      if (place[i] == 0) continue;
      const Place one = inwards(place, i);
      const int by = one[i] - place[i];
      const Node *first = find(one), *second = find(beside(one, i, by)),
                 *third = find(beside(one, i, 2 * by));
      if (first && second && third)
        out = std::max(out, 3 * first->log_density - 3 * second->log_density +
                                third->log_density);
    }
    return out > kNothing ? out : nodes_[nearest(place)].log_density;
  }

  Conditional& conditional_;
  const FreeUnits& units_;
  Index h_;
  double best_;
  Mat axes_;  // (h, h) a step along each, in units
  double log_volume_ = 0;    // of a step along all of them
  std::vector<bool> unbounded_;
  std::vector<Node> nodes_;
  std::map<Place, size_t> at_;
  std::set<Place> open_;
};

}  // namespace

Node visit(Conditional& conditional, const Vec& theta, const Node& from) {
  Node out;
  try {
    out = conditional.at(theta, from);
  } catch (const NumericalFailure&) {
    out.log_density = kNothing;
  }
  // Matching moments raises the evidence by about as much everywhere.
  if (!out.matched && from.matched) out.log_density += from.log_density - from.bound;
  if (!std::isfinite(out.log_density)) out.log_density = kNothing;
  return out;
}

bool mend_step(double fall, double by, double longest, double& step) {
  if (fall > 0.4 * by * by && fall < 2 * by * by) return false;
  const double before = step;
  step *= std::clamp(by / std::sqrt(std::max(fall, 1e-8)), 1 / kFastest, kFastest);
  step = std::min(step, longest);
  return step != before;
}

void lattice(Conditional& conditional, const FreeUnits& units, const Node& top,
             const Mat& curvature, Approximation& out) {
  Lattice lattice(conditional, units, top, curvature);
  lattice.fill();
  lattice.give(out);
}

}  // namespace bsvm
