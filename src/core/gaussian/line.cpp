#include "line.hpp"

#include <algorithm>
#include <cmath>
#include <deque>

#include "lattice.hpp"
#include "special/functions.hpp"

namespace bsvm {

namespace {

constexpr double kLineStep = 1.25;       // standard deviations: the sum over them is good to 1e-5
constexpr double kBent = 0.15;       // how far slopes may be from a parabola's
constexpr double kMostSide = 0.9;    // weight of the outer two of three nodes
constexpr double kLeastWeight = 0.003;  // of each of them
constexpr double kMostSd = 0.6;      // of theta: beyond, three nodes lose 9 % of the mean of s^2
constexpr size_t kMostSteps = 40;    // a side
constexpr double kLineDrop = 4.6;        // how far the log density falls until it counts no more,
constexpr double kSquareDrop = 2.5;  // and that times s^2, unless it fell
constexpr double kNowhere = 9;       // so far already
constexpr int kMostLineAttempts = 6, kMostMoves = 10;
constexpr double kHigher = 0.3;      // than the middle: then a side is the middle
constexpr double kWidening = 1.6;
constexpr double kLeftOut = 0.004;   // of the mass, at most
constexpr double kFloor = 6;         // below the left end: s is a four hundredth
constexpr double kAside = 3;         // standard deviations, where a Gaussian's mass ends
constexpr double kWeak = 4;          // of a top over the floor
constexpr int kLooksUp = 2;
constexpr double kApart = 1.5;
constexpr double kRough = 0.25;      // of the mass, which such sums may be off
constexpr int kMostRefined = 2;
constexpr double kFine = 0.05, kLowest = 60;  // of sums over a prior

// A parabola through the log densities at -a, 0 and a from the top: its slope at 0 and twice its
// bend.
struct Parabola {
  double slope, bend;
  Parabola(const Node& left, const Node& top, const Node& right, double a)
      : slope((right.log_density - left.log_density) / (2 * a)),
        bend((right.log_density + left.log_density - 2 * top.log_density) / (a * a)) {}
};

// Is the density nearly the parabola's, a Gaussian? Where nodes know the slope of their log density
// it must be the parabola's too.
bool is_parabola(const Parabola& through, const Node& left, const Node& right, double a) {
  if (left.pull.size() == 0 || right.pull.size() == 0 || !(through.bend < 0)) return false;
  const auto misses = [&](const Node& node, double at) {
    return std::abs(node.pull[0] - through.slope - through.bend * at) > -kBent * through.bend * a;
  };
  return !misses(left, -a) && !misses(right, a);
}

// The nodes at equal steps, from the left.
class Steps {
 public:
  Steps(Conditional& conditional, const Node& top, double sd, const LogPrior& prior)
      : conditional_(conditional), prior_(prior), start_(top),
        step_(std::min(kLineStep * sd, kLongestStep)) {
    nodes_ = {top};
  }

  void fill(Approximation& out) {
    settle_step();
    if (three_nodes(out)) return;
    walk_right();
    walk_left();
    if (prior_) {
      look_left();
      look_right();
    }
    for (int k = 0; k < kMostRefined && rough(); ++k) refine();
    give(out);
  }

 private:
  Node at(double theta, const Node& from) const {
    return visit(conditional_, Vec::Constant(1, theta), from);
  }
  double place(const Node& node) const { return node.theta[0]; }
  double best() const {
    double out = kNothing;
    for (const Node& node : nodes_) out = std::max(out, node.log_density);
    return out;
  }
  double total() const {
    double sum = 0;
    for (const Node& node : nodes_) sum += std::exp(node.log_density - start_.log_density);
    return step_ * sum;
  }

  // The middle moves to where the density is higher, and the step is mended until two of them fall
  // about as far as a Gaussian's.
  void settle_step() {
    Node middle = nodes_[0];
    Node left, right;
    for (int attempt = 1, moves = 0;;) {
      right = at(place(middle) + step_, middle);
      left = at(place(middle) - step_, middle);
      const Node& higher = right.log_density > left.log_density ? right : left;
      const double fall = 2 * middle.log_density - right.log_density - left.log_density;
      if (higher.log_density > middle.log_density + kHigher && moves < kMostMoves) {
        const double sd = step_ / std::sqrt(std::max(fall, 1e-8));
        middle = Node(higher);
        step_ = std::min({kLineStep * sd, kWidening * step_, kLongestStep});
        ++moves;
        continue;
      }
      if (attempt++ == kMostLineAttempts || !mend_step(fall, kLineStep, kLongestStep, step_)) break;
    }
    nodes_.clear();
    if (left.log_density > kNothing) nodes_.push_back(std::move(left));
    middle_ = nodes_.size();
    nodes_.push_back(std::move(middle));
    if (right.log_density > kNothing) nodes_.push_back(std::move(right));
  }

  // Three nodes with the Gaussian's mean and variance. False if they can't have them.
  bool three_nodes(Approximation& out) {
    if (nodes_.size() != 3) return false;
    const Node &left = nodes_[0], &middle = nodes_[1], &right = nodes_[2];
    const double a = step_;
    const Parabola through(left, middle, right, a);
    if (!is_parabola(through, left, right, a)) return false;
    const double variance = -1 / through.bend, mean = through.slope * variance;
    if (variance > kMostSd * kMostSd) return false;
    const double side = (variance + mean * mean) / (a * a), tilt = mean / a;
    if (!(side < kMostSide && side > std::abs(tilt) + kLeastWeight)) return false;
    const double log_mass =
        middle.log_density + 0.5 * (mean * through.slope + kLog2Pi + std::log(variance));
    const double end = place(middle) + mean - kAside * std::sqrt(variance);
    if (prior_ && left_of(end, kNothing, 0) > kLeftOut * std::exp(log_mass - start_.log_density))
      return false;
    out.weights = Eigen::Vector3d((side - tilt) / 2, 1 - side, (side + tilt) / 2);
    out.evidence = log_mass;
    out.nodes.assign(nodes_.begin(), nodes_.end());
    return true;
  }

  // The log density a step beyond either end less the best: on the parabola through the last three.
  double next_height(bool right) const {
    const size_t m = nodes_.size();
    const auto height = [&](size_t k) { return nodes_[right ? m - 1 - k : k].log_density; };
    if (m < 3 || (right ? m - 1 - middle_ : middle_) < 2) return height(0) - best();
    return 3 * height(0) - 3 * height(1) + height(2) - best();
  }

  bool go(bool right) {
    const Node& last = right ? nodes_.back() : nodes_.front();
    Node next = at(place(last) + (right ? step_ : -step_), last);
    if (next.log_density == kNothing) return false;
    if (last.state.layout.p == next.state.layout.p && next.slope.size() == 0)
      next.slope = (next.state.mean() - last.state.mean()) / (place(next) - place(last));
    if (right) {
      nodes_.push_back(std::move(next));
    } else {
      nodes_.push_front(std::move(next));
      ++middle_;
    }
    return true;
  }

  bool far() const { return place(nodes_.back()) + step_ - place(nodes_[middle_]) > kFarthest; }

  // `open_`: the density counts where it is too far to go on.
  void walk_right() {
    for (;;) {
      const double height = next_height(true);
      const bool counts = height > -kLineDrop;
      if (!counts && !(height > -kNowhere && square_counts(height))) return;
      if (nodes_.size() - middle_ > kMostSteps || far()) {
        open_ = counts;
        return;
      }
      if (!go(true)) return;
    }
  }

  bool square_counts(double height) const {
    double most = kNothing;
    for (const Node& node : nodes_) most = std::max(most, node.log_density + 2 * place(node));
    return best() + height + 2 * (place(nodes_.back()) + step_) > most - kSquareDrop;
  }

  void walk_left() {
    while (next_height(false) > -kLineDrop && middle_ < kMostSteps)
      if (!go(false)) return;
  }

  // Do every other node and those between them disagree on the mass?
  bool rough() const {
    double sums[2] = {0, 0};
    for (size_t k = 0; k < nodes_.size(); ++k)
      sums[k % 2] += std::exp(nodes_[k].log_density - best());
    return std::abs(sums[0] - sums[1]) > kRough * (sums[0] + sums[1]) && nodes_.size() > 3;
  }

  // Nodes between the nodes.
  void refine() {
    step_ /= 2;
    std::deque<Node> finer;
    for (size_t k = 0; k < nodes_.size(); ++k) {
      finer.push_back(nodes_[k]);
      if (k + 1 == nodes_.size()) break;
      finer.push_back(at(place(nodes_[k]) + step_, nodes_[k]));
    }
    middle_ *= 2;
    nodes_ = std::move(finer);
  }

  // ---- what lies far away

  // log p(y | theta).
  double evidence(const Node& node) const { return node.log_density - prior_(node.theta); }

  // At most how much mass lies left of `end`, in units of the start's density: the evidence falls
  // towards the floor's half as fast as from node to node before, or it rises there.
  double left_of(double end, double from, double slope) {
    if (floor_ == kNothing) {
      const Node low = at(end - kFloor, nodes_.front());
      if (low.log_density == kNothing) return 0;
      floor_ = evidence(low);
    }
    double sum = 0;
    for (double theta = end - kFine / 2; theta > end - kLowest; theta -= kFine) {
      const double height = std::max(floor_, from - 0.5 * std::max(slope, 0.0) * (end - theta));
      const double now =
          std::exp(prior_(Vec::Constant(1, theta)) + height - start_.log_density);
      sum += kFine * now;
      if (!(now > 1e-6 * sum) && sum > 0) break;
    }
    return std::isfinite(sum) ? sum : 0;
  }

  void look_left() {
    while (middle_ < kMostSteps) {
      const Node& end = nodes_.front();
      const double here = evidence(end);
      const double slope = nodes_.size() > 1 ? (evidence(nodes_[1]) - here) / step_ : 0;
      if (!(left_of(place(end) - step_ / 2, here, slope) > kLeftOut * total())) return;
      if (!go(false)) return;
    }
  }

  // A top that the data hardly prefer to nothing may hide a higher one.
  void look_right() {
    if (open_ || floor_ == kNothing) return;
    if (!(evidence(nodes_[middle_]) < floor_ + kWeak)) return;
    for (int k = 1; k <= kLooksUp; ++k) {
      const Node& end = nodes_.back();
      const Node look = at(place(end) + k * kApart, end);
      if (!(look.log_density > best() - kLineDrop)) continue;
      while (place(nodes_.back()) < place(look) && nodes_.size() - middle_ <= kMostSteps)
        if (!go(true)) return;
      walk_right();
      return;
    }
  }

  void give(Approximation& out) {
    out.unbounded = {open_};
    const double most = best();
    out.weights.resize(static_cast<Index>(nodes_.size()));
    for (size_t k = 0; k < nodes_.size(); ++k)
      out.weights[static_cast<Index>(k)] = std::exp(nodes_[k].log_density - most);
    out.evidence = most + std::log(step_ * out.weights.sum());
    out.nodes.assign(nodes_.begin(), nodes_.end());
  }

  Conditional& conditional_;
  const LogPrior& prior_;
  const Node& start_;
  double step_;
  std::deque<Node> nodes_;
  size_t middle_ = 0;
  bool open_ = false;
  double floor_ = kNothing;  // the evidence where s is nothing
};

}  // namespace

void line(Conditional& conditional, const Node& top, double sd, const LogPrior& prior,
          Approximation& out) {
  Steps(conditional, top, sd, prior).fill(out);
}

}  // namespace bsvm
