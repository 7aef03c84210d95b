#include "learner.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/error.hpp"

namespace bsvm {

namespace {

constexpr double kLongest = 1;         // of a first step, in any number: gradients may be of size 50
constexpr double kLongestLater = 2;
constexpr double kShorter = 0.3, kLeastShare = 1e-3;
constexpr double kRise = 1e-3;         // of what a step promises, at least
constexpr double kGain = 5e-3;         // nats that are not worth another look
constexpr double kLeastBend = 1e-10;   // of a step and its change of gradient, to be learnt from
constexpr int kMostLooks = 60;
const double kOtherStart = std::log(0.25);
constexpr double kFactorStep = 0.35;   // in the logarithm of a common factor
constexpr int kMostFactors = 6;        // to one side

}  // namespace

Learner::Learner(AdditiveModel model, Host& host) : model_(std::move(model), host), host_(host) {}

// The numbers that have a prior; the length scales among them?
std::vector<bool> Learner::free(bool lengths) const {
  std::vector<bool> out;
  for (const FreeNumber& number : model_.numbers())
    out.push_back(number.prior && (lengths || !number.length));
  return out;
}

bool Learner::has_lengths() const { return free(true) != free(false); }

Vec Learner::bounded(ConstVecRef theta) const {
  Vec out = theta;
  for (Index k = 0; k < out.size(); ++k)
    out[k] = std::clamp(out[k], model_.numbers()[k].low, model_.numbers()[k].high);
  return out;
}

// The gradient of what can move: not of a number that is at its limit and would go beyond.
Vec Learner::uphill(const Value& at, const std::vector<bool>& free) const {
  Vec out = at.gradient;
  for (Index k = 0; k < out.size(); ++k) {
    const FreeNumber& number = model_.numbers()[k];
    const bool stuck = (out[k] > 0 && at.theta[k] >= number.high) ||
                       (out[k] < 0 && at.theta[k] <= number.low);
    if (!free[k] || stuck) out[k] = 0;
  }
  return out;
}

Learner::Value Learner::look(ConstVecRef theta, const Value* near) {
  ++evaluations_;
  const Value out = model_.at(theta, near, 0);
  record(out);
  return out;
}

void Learner::record(const Value& at) {
  std::ostringstream text;
  text.precision(6);
  text << "kernel " << evaluations_ << ": bound " << at.bound;
  host_.progress(text.str());
}

// BFGS. A step that does not raise the objective is shortened; after one that cannot, the metric is
// forgotten once.
//   metric   the inverse of minus the second derivatives, as far as it is known
//   fresh    is it still the identity?
Learner::Value Learner::climb(Value now, const std::vector<bool>& free) {
  const Index h = now.theta.size();
  Mat metric = Mat::Identity(h, h);
  bool fresh = true;
  converged_ = false;
  const int last = evaluations_ + kMostLooks;
  while (evaluations_ < last) {
    const Vec gradient = uphill(now, free);
    Vec step = metric * gradient;
    for (Index k = 0; k < h; ++k)
      if (gradient[k] == 0) step[k] = 0;
    const double most = step.cwiseAbs().maxCoeff(), longest = fresh ? kLongest : kLongestLater;
    if (most > longest) step *= longest / most;
    const double slope = gradient.dot(step);
    if (!fresh && slope < 2 * kGain && most <= longest) {
      converged_ = true;
      break;
    }
    bool moved = false;
    const double before = now.objective();
    for (double share = 1; share > kLeastShare && evaluations_ < last; share *= kShorter) {
      Value next;
      try {
        next = look(bounded(now.theta + share * step), &now);
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
      }
      now = std::move(next);
      moved = true;
      break;
    }
    if (moved && now.objective() - before > kGain) continue;
    if (fresh || moved) {
      converged_ = true;
      break;
    }
    metric.setIdentity();
    fresh = true;
  }
  return now;
}

// From both starts; the second one only if there are length scales to learn.
Learner::Value Learner::first_climb() {
  const Vec start = bounded(model_.start());
  const std::vector<bool> all = free(true);
  Value best = climb(look(start, nullptr), all);
  if (!has_lengths()) return best;
  Vec other = start;
  for (Index k = 0; k < other.size(); ++k)
    if (all[k] && model_.numbers()[k].length) other[k] += kOtherStart;
  const bool converged = converged_;
  Value second = climb(look(bounded(other), nullptr), all);
  if (second.objective() > best.objective()) return second;
  converged_ = converged;
  return best;
}

// All length scales times a factor, everything else at its best.
Learner::Value Learner::scaled(const Value& from, double log_factor) {
  const std::vector<bool> all = free(true);
  Vec theta = from.theta;
  for (Index k = 0; k < theta.size(); ++k)
    if (all[k] && model_.numbers()[k].length) theta[k] += log_factor;
  return climb(look(bounded(theta), &from), free(false));
}

// Shorter while the score rises, else longer.
void Learner::choose_factor(Learned& out) {
  double best = model_.leave_one_out(out.value);
  out.factors = {{0, out.value.objective(), best}};
  const Value top = out.value;
  for (const double direction : {-1.0, 1.0}) {
    Value here = top;
    for (int k = 1; k <= kMostFactors; ++k) {
      try {
        here = scaled(here, direction * kFactorStep);
      } catch (const NumericalFailure&) {
        break;
      }
      const double score = model_.leave_one_out(here);
      out.factors.push_back({direction * k * kFactorStep, here.objective(), score});
      if (!(score > best)) break;
      best = score;
      out.value = here;
      out.log_factor = direction * k * kFactorStep;
    }
    if (out.log_factor != 0) break;
  }
  std::sort(out.factors.begin(), out.factors.end(),
            [](const LookedAt& a, const LookedAt& b) { return a.log_factor < b.log_factor; });
}

// The factor is chosen with the inducing inputs that the fit will have: with few of them smoother
// functions predict better.
Learned Learner::run() {
  Learned out;
  out.value = first_climb();
  out.converged = converged_;
  if (has_lengths() && model_.approximate())
    out.value = climb(look(out.value.theta, nullptr), free(false));
  if (has_lengths()) choose_factor(out);
  else out.factors = {{0, out.value.objective(), model_.leave_one_out(out.value)}};
  out.evaluations = evaluations_;
  out.passes = model_.passes();
  return out;
}

}  // namespace bsvm
