#include "learner.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/error.hpp"

namespace bsvm {

namespace {

const double kOtherStart = std::log(0.25);
constexpr double kFactorStep = 0.35;   // in the logarithm of a common factor
constexpr double kScoreTolerance = 1e-6;  // on the bound where a score is taken
constexpr double kLeastScore = 0.1;    // of the score, that is worth another factor
constexpr int kMostFactors = 6;        // to one side

// How many numbers the rows tell of, about: the second derivative of the bound in the logarithm of a
// variance is half of them at most.
double known_numbers(const Additive::Value& at) {
  return (at.rows.weight * at.rows.v).max(0.0).sum();
}

}  // namespace

Learner::Learner(AdditiveModel model, Host& host)
    : model_(std::move(model), host), host_(host),
      metric_(static_cast<Index>(model_.numbers().size())) {}

// The numbers that have a prior; the length scales among them?
std::vector<bool> Learner::free(bool lengths) const {
  std::vector<bool> out;
  for (const FreeNumber& number : model_.numbers())
    out.push_back(number.prior && (lengths || !number.length));
  return out;
}

bool Learner::has_lengths() const { return free(true) != free(false); }

Vec Learner::bounded(const Vec& theta) const { return bsvm::bounded(model_.numbers(), theta); }

Vec Learner::uphill(const Value& at, const std::vector<bool>& free) const {
  Vec out = bsvm::uphill(model_.numbers(), at.theta, at.gradient);
  for (Index k = 0; k < out.size(); ++k)
    if (!free[k]) out[k] = 0;
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

// `metric`: perhaps of a climb of the same numbers nearby.
Learner::Value Learner::climb_from(Value from, const std::vector<bool>& free,
                                   FullMetric& metric) {
  model_.look_for(free);
  Climb<Value> of;
  of.look = [&](const Vec& theta, const Value& near) { return look(theta, &near); };
  of.uphill = [&](const Value& at) { return uphill(at, free); };
  of.bounded = [&](const Vec& theta) { return bounded(theta); };
  of.numbers = std::count(free.begin(), free.end(), true);
  return bfgs(std::move(from), of, metric, converged_);
}

// The second one only if there are length scales to learn.
Learner::Value Learner::from(int starts) {
  FullMetric metric = metric_;
  const Value best = climb_from(look(bounded(model_.start()), nullptr), free(true), metric);
  if (starts < 2 || !has_lengths()) return best;
  const std::vector<bool> all = free(true);
  Vec other = model_.start();
  for (Index k = 0; k < other.size(); ++k)
    if (all[k] && model_.numbers()[k].length) other[k] += kOtherStart;
  const bool converged = converged_;
  metric.forget();
  const Value second = climb_from(look(bounded(other), nullptr), all, metric);
  if (second.objective() > best.objective()) return second;
  converged_ = converged;
  return best;
}

// The score is of first order in what q lacks of the best, the bound of second.
double Learner::score(Value& at) {
  if (!model_.matches()) at = model_.at(at.theta, &at, kScoreTolerance);
  return model_.leave_one_out(at);
}

// All length scales times a factor, everything else at its best.
Learner::Value Learner::scaled(const Value& from, double log_factor) {
  const std::vector<bool> all = free(true);
  Vec theta = from.theta;
  for (Index k = 0; k < theta.size(); ++k)
    if (all[k] && model_.numbers()[k].length) theta[k] += log_factor;
  return climb_from(look(bounded(theta), &from), free(false), metric_);
}

// Shorter while the score rises, else longer.
void Learner::choose_factor(Learned& out) {
  double best = score(out.value);
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
      const double found = score(here);
      out.factors.push_back({direction * k * kFactorStep, here.objective(), found});
      if (!(found > best + kLeastScore)) break;
      best = found;
      out.value = here;
      out.log_factor = direction * k * kFactorStep;
    }
    if (out.log_factor != 0) break;
  }
  std::sort(out.factors.begin(), out.factors.end(),
            [](const LookedAt& a, const LookedAt& b) { return a.log_factor < b.log_factor; });
}

// From here on as the fit will have it, if moments match. Scores are for its amplitudes: where classes
// hardly overlap the bound's are too small, and the score prefers functions that are too smooth.
void Learner::match(Value& at) {
  if (!model_.match()) return;
  try {
    at = climb_from(look(at.theta, &at), free(false), metric_);
  } catch (const NumericalFailure&) {
    model_.use_bound();
  }
}

Learned Learner::climb(int starts) {
  Learned out;
  out.value = from(starts);
  return finished(std::move(out));
}

// The factor is chosen with the inducing inputs that the fit will have: with few of them smoother
// functions predict better.
Learned Learner::choose(int starts) {
  Learned out;
  if (starts > 0) out.value = from(starts);
  if (model_.approximate() || starts == 0) {
    const Vec start = starts > 0 ? out.value.theta : bounded(model_.start());
    out.value = look(start, nullptr);
    metric_.guess(1 / (1 + 2 * known_numbers(out.value)));
    out.value = climb_from(out.value, free(false), metric_);
  }
  if (has_lengths()) {
    match(out.value);
    choose_factor(out);
  }
  return finished(std::move(out));
}

Learned Learner::finished(Learned out) {
  if (out.factors.empty())
    out.factors = {{0, out.value.objective(), score(out.value)}};
  out.converged = converged_;
  out.matched = model_.matches();
  out.evaluations = evaluations_;
  out.passes = model_.passes();
  return out;
}

}  // namespace bsvm
