#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/progress.hpp"
#include "special/functions.hpp"
#include "starts.hpp"
#include "variational.hpp"

namespace bsvm {

namespace {

constexpr int kLeastSteps = 5;
constexpr double kSlowest = 0.995;  // a change that falls by less is taken to fall so
constexpr double kOfProcess = 50;   // times the tolerance: scores and loadings crawl together
constexpr int kMostAlone = 500;     // steps of a classifier without feedback

Use use_of(const FactorModel& model, bool augmented) {
  const Likelihood& likelihood = *model.likelihood;
  if (augmented && likelihood.supports(Use::augmented)) return Use::augmented;
  if (likelihood.supports(Use::expected)) return Use::expected;
  if (likelihood.supports(Use::augmented)) return Use::augmented;
  throw InvalidInput("likelihood", "This likelihood has no variational bound.");
}

void check_priors(const FactorModel& model) {
  if (!model.linear() && model.process.exact)
    throw InvalidInput("points", "Variational Bayes needs inducing points.");
  for (const CoefficientPart& part : model.parts)
    if (!part.prior->supports(Use::augmented))
      throw InvalidInput("prior", "This prior of coefficients has no variational update.");
  for (const auto& prior : model.loadings.priors)
    if (!prior->supports(Use::augmented))
      throw InvalidInput("loadings", "This prior of loadings has no variational update.");
}

// The response of labelled rows in units of its standard deviation, zero for others.
Vec response_score(const SharedFactors& shared) {
  Vec out = Vec::Zero(shared.model.n());
  double mean = 0, square = 0;
  const double r = static_cast<double>(shared.labelled.size());
  for (const Index n : shared.labelled) mean += shared.model.y[n] / r;
  for (const Index n : shared.labelled) square += std::pow(shared.model.y[n] - mean, 2) / r;
  if (!(square > 0)) return out;
  for (const Index n : shared.labelled) out[n] = (shared.model.y[n] - mean) / std::sqrt(square);
  return out;
}

Mat start_of(const SharedFactors& shared, int start, std::uint64_t seed) {
  Mat out = shared.start;
  if (start == 1 && shared.model.feedback && shared.model.linear() && out.cols() > 0)
    out.col(out.cols() - 1) = response_score(shared);
  if (start > 1) out = scores_of_chain(out, start, {seed, static_cast<std::uint32_t>(start), 0});
  return out;
}

// What changes that fall by the same factor will still add up to.
struct Remaining {
  double last = kInfinite, left = kInfinite;
  void add(double change) {
    const double ratio = last > 0 && std::isfinite(last) ? change / last : 1;
    const double by = std::clamp(ratio, 0.0, kSlowest);
    left = change * by / (1 - by);
    last = change;
  }
};

// Linear predictors given the response, with their standard deviations.
PredictorMoments predictors(const FactorPosterior& at) {
  return at.classifier().links(at.scores());
}

double moved(const PredictorMoments& from, const PredictorMoments& to) {
  if (to.mean.size() == 0) return 0;
  return ((to.mean - from.mean).abs() / (0.01 + to.variance.sqrt())).maxCoeff();
}

struct Run {
  std::unique_ptr<FactorPosterior> posterior;
  std::vector<double> trace;
  std::string termination;
};

// Steps until nothing is gained. A step is never cut: it is short.
void run_steps(const VariationalOptions& options, double tolerance, int start, Run& out,
               Host& host) {
  Host quiet;
  FactorPosterior& now = *out.posterior;
  out.trace.clear();
  double before = now.bound();
  PredictorMoments links = predictors(now);
  Remaining gain, motion;
  for (int k = 0; k < options.most; ++k) {
    if (host.interrupted()) {
      out.termination = "interrupted";
      return;
    }
    now.step(options.threads, quiet);
    const double bound = now.bound();
    if (!std::isfinite(bound)) refuse_numbers();
    out.trace.push_back(bound);
    const PredictorMoments then = predictors(now);
    gain.add(std::max(0.0, bound - before));
    motion.add(moved(links, then));
    before = bound;
    links = then;
    tell(host, "start " + std::to_string(start + 1) + ", bound " + std::to_string(bound), -1);
    if (k + 1 >= kLeastSteps && gain.left < tolerance && motion.left < tolerance) {
      out.termination = "converged";
      return;
    }
  }
  out.termination = "limit";
}

Run run_from(const SharedFactors& shared, Use use, const VariationalOptions& options, int start,
             Host& host) {
  Host quiet;
  Run out;
  out.posterior = std::make_unique<FactorPosterior>(
      shared, use, start_of(shared, start, options.seed), options.threads, quiet);
  run_steps(options, options.tolerance, start, out, host);
  if (shared.model.linear() || !shared.model.feedback || out.termination == "interrupted")
    return out;
  out.posterior->join();
  run_steps(options, kOfProcess * options.tolerance, start, out, host);
  return out;
}

// A classifier without feedback, once scores are known.
void run_alone(VariationalFit& fit, const VariationalOptions& options) {
  Remaining gain;
  double before = fit.posterior->classifier_bound();
  for (int k = 0; k < kMostAlone; ++k) {
    fit.posterior->update_classifier();
    fit.classifier_bound = fit.posterior->classifier_bound();
    gain.add(std::max(0.0, fit.classifier_bound - before));
    before = fit.classifier_bound;
    if (k + 1 >= kLeastSteps && gain.left < options.tolerance) return;
  }
  fit.converged = false;
}

}  // namespace

VariationalFit fit_variational(const SharedFactors& shared, const VariationalOptions& options,
                               Host& host) {
  check_priors(shared.model);
  VariationalFit out;
  out.use = use_of(shared.model, options.augmented);
  out.bound = kNothing;
  std::vector<double> bounds;
  for (int start = 0; start < std::max(1, options.starts); ++start) {
    Run run = run_from(shared, out.use, options, start, host);
    const bool interrupted = run.termination == "interrupted";
    if (interrupted && (run.trace.empty() || out.posterior)) {
      if (!out.posterior) throw Interrupted();
      out.termination = run.termination;
      break;
    }
    bounds.push_back(run.trace.back());
    if (!(bounds.back() > out.bound)) continue;
    out.bound = bounds.back();
    out.posterior = std::move(run.posterior);
    out.trace = std::move(run.trace);
    out.termination = run.termination;
    if (interrupted) break;
  }
  out.bounds = Eigen::Map<const Vec>(bounds.data(), static_cast<Index>(bounds.size()));
  out.converged = out.termination == "converged";
  if (!shared.model.feedback) run_alone(out, options);
  return out;
}

}  // namespace bsvm
