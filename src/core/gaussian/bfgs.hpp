#pragma once
#include <functional>

#include "base/error.hpp"
#include "base/types.hpp"

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
  Mat* metric = nullptr;  // from a climb nearby, to start with and to be replaced; or empty
};

// Climbs from `now` by BFGS; false in `converged` if looks ran out. A step that does not raise the
// objective is shortened, a first one at most `kLongestFirst` long in any number: gradients may be
// of size 50, and where they lead to the objective may be flat.
//  metric   the inverse of minus the second derivatives, as far as it is known
//  fresh    is it still the identity?
//  steps    it was learnt from; before there are as many as numbers a small gain says nothing
template <class Value>
Value bfgs(Value now, const Climb<Value>& of, bool& converged) {
  constexpr double kLongestFirst = 1, kLongestLater = 2, kShorten = 0.3, kLeastShare = 1e-3;
  constexpr double kRise = 1e-3;        // of what a step promises, at least
  constexpr double kLeastBend = 1e-10;  // of a step and its change of gradient, to be learnt from
  const Index h = now.theta.size();
  const bool known = of.metric && of.metric->rows() == h;
  Mat own = Mat::Identity(h, h), &metric = of.metric ? *of.metric : own;
  if (!known) metric = own;
  bool fresh = !known;
  Index steps = known ? of.numbers : 0;
  converged = true;
  for (int looks = 0; looks < of.most;) {
    const Vec gradient = of.uphill(now);
    Vec step = metric * gradient;
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
      const Vec by = next.theta - now.theta, change = now.gradient - next.gradient;
      const double bend = by.dot(change);
      if (bend > kLeastBend * by.norm() * change.norm()) {
        if (fresh) metric *= bend / change.squaredNorm();
        const Mat left = Mat::Identity(h, h) - by * change.transpose() / bend;
        metric = Mat(left * metric * left.transpose()) + by * by.transpose() / bend;
        fresh = false;
        ++steps;
      }
      now = std::move(next);
      moved = true;
    }
    if (moved && (now.objective() - before > of.gain || steps < of.numbers)) continue;
    if (fresh || moved) return now;
    metric.setIdentity();
    fresh = true;
    steps = 0;
  }
  converged = false;
  return now;
}

}  // namespace bsvm
