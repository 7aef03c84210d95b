#pragma once
#include <functional>

#include "base/error.hpp"
#include "base/types.hpp"
#include "limited_memory.hpp"

namespace bsvm {

// What bfgs() is told of an objective over theta, whose values are costly and each start the next
// one. Value has theta, gradient and objective().
template <class Value>
struct Climb {
  std::function<Value(const Vec& theta, const Value& near)> look;  // may throw NumericalFailure
  std::function<Vec(const Value&)> uphill;  // the gradient, zero of what can't move
  std::function<Vec(const Vec&)> bounded;   // a theta within its limits
  Index numbers = 0;                        // how many can move
  double gain = 5e-3;                       // what is not worth another look
  int most = 60;                            // looks
};

// The inverse of minus the second derivatives, as far as it is known: in full, for some numbers,
class FullMetric {
 public:
  explicit FullMetric(Index numbers) : inverse_(Mat::Identity(numbers, numbers)) {}
  explicit FullMetric(Mat inverse) : inverse_(std::move(inverse)), fresh_(false) {}

  Vec direction(ConstVecRef gradient) const { return inverse_ * gradient; }

  // Of a step and by how much the gradient changed along it; false if nothing is to be learnt.
  bool learn(const Vec& by, const Vec& change) {
    constexpr double kLeastBend = 1e-10;
    const double bend = -by.dot(change);
    if (!(bend > kLeastBend * by.norm() * change.norm())) return false;
    const Mat identity = Mat::Identity(by.size(), by.size());
    if (fresh_) inverse_ = identity * (bend / change.squaredNorm());
    const Mat left = identity + by * change.transpose() / bend;
    inverse_ = Mat(left * inverse_ * left.transpose()) + by * by.transpose() / bend;
    fresh_ = false;
    return true;
  }

  void forget() { guess(1); }
  // Nothing is known yet; the first step is this multiple of the gradient.
  void guess(double scale) {
    inverse_ = scale * Mat::Identity(inverse_.rows(), inverse_.cols());
    fresh_ = true;
  }
  bool fresh() const { return fresh_; }

 private:
  Mat inverse_;
  bool fresh_ = true;
};

// or by the last steps, for many.
class LimitedMetric {
 public:
  Vec direction(ConstVecRef gradient) const { return memory_.direction(gradient); }
  bool learn(const Vec& by, const Vec& change) {
    memory_.learn(by, change);
    return !fresh();
  }
  void forget() { memory_.forget(); }
  bool fresh() const { return memory_.empty(); }

 private:
  LimitedMemory memory_;
};

// Climbs from `now` by BFGS; false in `converged` if looks ran out. A step that does not raise the
// objective is shortened, a first one at most `kLongestFirst` long in any number: gradients may be
// of size 50, and where they lead to the objective may be flat.
// `metric` may be what a climb nearby has learnt.
//  steps    it was learnt from; before there are as many as numbers a small gain says nothing
template <class Value, class Metric>
Value bfgs(Value now, const Climb<Value>& of, Metric&& metric, bool& converged) {
  constexpr double kLongestFirst = 1, kLongestLater = 2, kShorten = 0.3, kLeastShare = 1e-3;
  constexpr double kRise = 1e-3;        // of what a step promises, at least
  const Index h = now.theta.size();
  Index steps = metric.fresh() ? 0 : of.numbers;
  converged = true;
  for (int looks = 0; looks < of.most;) {
    const Vec gradient = of.uphill(now);
    const bool fresh = metric.fresh();
    Vec step = metric.direction(gradient);
    for (Index k = 0; k < h; ++k)
      if (gradient[k] == 0) step[k] = 0;
    const double most = h > 0 ? step.cwiseAbs().maxCoeff() : 0;
    const double longest = fresh ? kLongestFirst : kLongestLater;
    if (most > longest) step *= longest / most;
    const double slope = gradient.dot(step), before = now.objective();
    if (most == 0 || (steps >= of.numbers && slope < 2 * of.gain && most <= longest)) return now;
    bool moved = false;
    for (double share = 1; share > kLeastShare && looks < of.most && !moved; share *= kShorten) {
      ++looks;
      Value next;
      try {
        next = of.look(of.bounded(now.theta + share * step), now);
      } catch (const NumericalFailure&) {
        continue;
      }
      if (!(next.objective() >= before + kRise * share * slope)) continue;
      if (metric.learn(next.theta - now.theta, next.gradient - now.gradient)) ++steps;
      now = std::move(next);
      moved = true;
    }
    if (moved && (now.objective() - before > of.gain || steps < of.numbers)) continue;
    if (fresh || moved) return now;
    metric.forget();
    steps = 0;
  }
  converged = false;
  return now;
}

template <class Value>
Value bfgs(Value now, const Climb<Value>& of, bool& converged) {
  FullMetric metric(now.theta.size());
  return bfgs(std::move(now), of, std::move(metric), converged);
}

}  // namespace bsvm
