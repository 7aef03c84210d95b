// How FullKernel finds the top of a density over its hyper-parameters.
#include "base/error.hpp"
#include "bfgs.hpp"
#include "full_kernel.hpp"
#include "linalg/dense.hpp"

namespace bsvm {

namespace {

constexpr double kGradientApart = 0.1;  // in theta, of derivatives of the gradient
constexpr double kEnough = 1e-6;        // nats, of a climb in theta
constexpr double kMatchedApart = 0.3;   // the same with moments matched: these are less exact
constexpr double kEnoughMatched = 0.02;
constexpr int kMostMatched = 15;

}  // namespace

// From the first look on by the density with moments matched; where they don't match, by the bound. An
// interrupt after the first look leaves the best so far.
Node FullKernel::climb() {
  Value best = look(side_.free(side_.start(Vec())), nullptr, 0);
  top_ = best.q;
  progress_.end = Termination::converged;
  Rest rest;
  bool matched = false;
  try {
    matched = matches(best, rest);
    if (!matched) {
      climb_bound(best);
      top_ = best.q;
      matched = matches(best, rest);
    }
    if (matched) return top(rest, best);
    keep(best);
    return unmatched(best);
  } catch (const Interrupted&) {
    progress_.end = Termination::interrupted;
    return matched ? node(rest) : node(best.theta, best.q, false, best.objective());
  }
}

bool FullKernel::matches(const Value& at, Rest& out) {
  take(at.theta);
  return rests(at.theta, newton_.sites(at.q), out);
}

void FullKernel::climb_bound(Value& best) {
  Climb<Value> of;
  of.look = [&](const Vec& theta, const Value& near) {
    Value next = look(theta, &near.q, 0);
    if (next.objective() > best.objective()) best = next;
    return next;
  };
  of.uphill = [](const Value& at) { return at.gradient; };
  of.bounded = [](const Vec& theta) { return theta; };
  of.numbers = best.theta.size();
  of.gain = kEnough;
  bool converged = true;
  best = bfgs(best, of, converged);
  if (!problem_.likelihood->concave()) {
    const Value other = look(best.theta, nullptr, 0);
    if (other.objective() > best.objective()) best = other;
  }
  best = look(best.theta, &best.q, options_.tolerance);
  if (!converged) progress_.end = Termination::pass_limit;
}

// The node where the density with moments matched is highest, from near there, with the bound there,
// which is found from `near`.
Node FullKernel::top(Rest& rest, Value& near) {
  if (!is_top(rest)) rest = climb_on(rest);
  Node out = node(rest);
  if (near.theta != rest.theta) near = look(rest.theta, &near.q, 0);
  keep(near);
  out.bound = near.objective();
  return out;
}

// Where the bound is at rest in q, for looks at other theta where moments don't match and for the report.
void FullKernel::keep(const Value& at) {
  top_ = at.q;
  if (!at.q.converged) progress_.end = Termination::pass_limit;
  progress_.gradient = at.q.length;
}

// Would a step to the top gain nothing that counts? Then its second derivatives are those asked for
// later. Where moments match at one side alone these are none.
bool FullKernel::is_top(const Rest& rest) {
  Node at;
  at.theta = rest.theta;
  at.matched = true;
  unmatched_near_ = false;
  const Mat curved = curvature(at);
  if (unmatched_near_) return false;
  curvature_ = curved;
  curved_at_ = at.theta;
  const Factor root(curvature_);
  return root.positive() && 0.5 * rest.gradient.dot(root.solve(rest.gradient)) < kEnoughMatched;
}

// With the second derivatives that is_top() has found, if it has.
FullKernel::Rest FullKernel::climb_on(const Rest& from) {
  Climb<Rest> of;
  of.look = [&](const Vec& theta, const Rest&) {
    Rest out;
    take(theta);
    if (!rests(theta, sites_near(known_, theta, true), out))
      throw NumericalFailure("Moments do not match.");
    return out;
  };
  of.uphill = [](const Rest& at) { return at.gradient; };
  of.bounded = [](const Vec& theta) { return theta; };
  of.numbers = from.theta.size();
  of.gain = kEnoughMatched;
  of.most = kMostMatched;
  bool converged = true;
  FullMetric metric(of.numbers);
  if (curved_at_.size() > 0) {
    const Factor root(curvature_);
    if (root.positive()) metric = FullMetric(root.inverse());
  }
  return bfgs(from, of, std::move(metric), converged);
}

// By differences of the gradient of what the top is of. Of a single number they need not be those at the
// top itself: they are but the first step along a line.
Mat FullKernel::curvature(const Node& top) {
  const Index h = top.theta.size();
  if (top.matched && curved_at_.size() == h &&
      (top.theta - curved_at_).norm() <= (h == 1 ? kMatchedApart : 0))
    return curvature_;
  Mat out(h, h);
  for (Index k = 0; k < h; ++k) {
    const Vec by = (top.matched ? kMatchedApart : kGradientApart) * Vec::Unit(h, k);
    out.col(k) = (gradient_near(top, -by) - gradient_near(top, by)) / (2 * by[k]);
  }
  return 0.5 * (out + out.transpose());
}

Vec FullKernel::gradient_near(const Node& top, const Vec& by) {
  const Vec theta = top.theta + by;
  Rest rest;
  if (top.matched) {
    take(theta);
    if (rests(theta, sites_near(known_, theta, true), rest)) return rest.gradient;
    unmatched_near_ = true;
  }
  return look(theta, &top_, 0).gradient;
}

}  // namespace bsvm
