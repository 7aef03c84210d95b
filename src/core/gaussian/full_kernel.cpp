#include "full_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/error.hpp"
#include "bfgs.hpp"
#include "coefficients/free_parameters.hpp"
#include "linalg/cholesky.hpp"
#include "linalg/weighted_gram.hpp"
#include "model/gather.hpp"

namespace bsvm {

namespace {

constexpr Index kFewestRows = 100, kMostKernelRows = 5000;
constexpr double kColumnsPerRow = 0.45;
constexpr double kVague = 1e6;          // a prior variance: differences with it drown in rounding
constexpr double kGradientApart = 0.1;  // in theta, of derivatives of the gradient
constexpr double kEnough = 1e-6;        // nats, of a climb in theta
constexpr double kMatchedApart = 0.3;   // the same with moments matched: these are less exact
constexpr double kEnoughMatched = 0.02;
constexpr int kMostMatched = 15;

// As a warm start.
RowNewton::Known known_of(const KernelNewton::Point& at) {
  RowNewton::Known out;
  out.bound = at.bound;
  out.m = at.m;
  out.v = at.v;
  out.slope = at.alpha;
  out.weight = at.weight;
  return out;
}

}  // namespace

bool FullKernel::suits(const Problem& problem) {
  if (!problem.here() || problem.left_over || problem.effects() > 0 || problem.parameters() > 0 ||
      problem.latent->any() || problem.tilt.size() > 0)
    return false;
  for (const auto& block : problem.blocks)
    if (block->varies()) return false;
  for (const PriorSlot& slot : problem.priors) {
    if (!slot.prior->exchangeable()) return false;
    Vec theta, variance(1);
    const Index size = slot.prior->free_size(static_cast<Index>(slot.columns.size()));
    if (size > 1) return false;
    if (size == 1) continue;
    Vec hyper(slot.prior->hyper_size(1));
    slot.prior->precision(hyper, variance);
    if (!(variance[0] * kVague > 1)) return false;
  }
  return problem.n >= kFewestRows && problem.n <= kMostKernelRows &&
         static_cast<double>(problem.columns()) >= kColumnsPerRow * static_cast<double>(problem.n);
}

FullKernel::FullKernel(const Problem& problem, const Options& options, Host& host)
    : problem_(problem), options_(options), host_(host), side_(problem),
      design_(gather_design(problem)), scratch_(side_.start(Vec())), newton_(problem, host) {
  side_.fix_priors(scratch_, side_.free(scratch_));
  const Vec precision = side_.precision(scratch_);
  std::vector<double> scale;
  for (const PriorPart& part : side_.parts()) {
    scale.insert(scale.end(), part.free_size(), std::sqrt(2 * std::max(1.0, part.count())));
    Part own;
    const Index count = static_cast<Index>(part.slot.columns.size());
    own.before.resize(count);
    Mat columns(count, problem.n);
    for (Index j = 0; j < count; ++j) {
      own.before[j] = precision[part.slot.columns[j]];
      columns.row(j) = design_.row(part.slot.columns[j]) / std::sqrt(own.before[j]);
    }
    own.first = count > 0 ? part.slot.columns[0] : 0;
    own.k = lower_gram(columns, host).selfadjointView<Eigen::Lower>();
    parts_.push_back(std::move(own));
  }
  theta_scale_ = Eigen::Map<const Vec>(scale.data(), static_cast<Index>(scale.size()));
}

// (parts) s_b.
Vec FullKernel::scales(ConstVecRef theta) {
  side_.fix_priors(scratch_, theta);
  const Vec precision = side_.precision(scratch_);
  Vec out(static_cast<Index>(parts_.size()));
  for (size_t b = 0; b < parts_.size(); ++b)
    out[b] = parts_[b].before.size() > 0 ? parts_[b].before[0] / precision[parts_[b].first] : 0;
  return out;
}

void FullKernel::take(ConstVecRef theta) {
  const Vec s = scales(theta);
  k_.setZero(problem_.n, problem_.n);
  for (size_t b = 0; b < parts_.size(); ++b) k_ += s[b] * parts_[b].k;
  if (!k_.allFinite()) throw NumericalFailure("A variance is beyond what numbers hold.");
  newton_.given(k_);
}

FullKernel::Value FullKernel::look(ConstVecRef theta, const KernelNewton::Point* near,
                                   double tolerance) {
  Value out;
  out.theta = theta;
  take(theta);
  RowNewton::Known start;
  if (near) start = known_of(*near);
  out.q = newton_.best(near ? &start : nullptr, tolerance, options_.max_passes);
  progress_.passes = newton_.passes();
  out.bound = out.q.bound;
  out.gradient.setZero(theta.size());
  out.prior = log_prior(problem_, theta, out.gradient);
  out.gradient += rows_gradient(theta, out.q);
  record(out);
  return out;
}

// Of the bound, or where moments are matched of log p(y): both are at rest in all that q is made of.
Vec FullKernel::rows_gradient(ConstVecRef theta, const KernelNewton::Point& q) {
  const Vec alpha = q.alpha, w = q.weight;
  pull_.noalias() = w.asDiagonal() * q.covariance * w.asDiagonal();
  pull_.diagonal() -= w;
  Vec out = Vec::Zero(theta.size());
  for (Index h = 0; h < theta.size(); ++h) {
    const Vec by = kThetaDifference * Vec::Unit(theta.size(), h);
    const Vec change = (scales(theta + by) - scales(theta - by)) / (2 * kThetaDifference);
    for (size_t b = 0; b < parts_.size(); ++b)
      if (change[b] != 0)
        out[h] += 0.5 * change[b] * (parts_[b].k.cwiseProduct(pull_).sum() +
                                     alpha.dot(parts_[b].k * alpha));
  }
  return out;
}

// An interrupt after the first look leaves the best so far.
Node FullKernel::climb() {
  Value best = look(side_.free(side_.start(Vec())), nullptr, 0);
  progress_.end = Termination::converged;
  try {
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
    best = bfgs(best, of, FullMetric(best.theta.size()), converged);
    if (!problem_.likelihood->concave()) {
      const Value other = look(best.theta, nullptr, 0);
      if (other.objective() > best.objective()) best = other;
    }
    best = look(best.theta, &best.q, options_.tolerance);
    if (!converged || !best.q.converged) progress_.end = Termination::pass_limit;
    progress_.gradient =
        std::hypot(best.q.length, best.gradient.cwiseQuotient(theta_scale_).norm());
    top_ = best.q;
    Rest rest;
    take(best.theta);
    if (!rests(best.theta, newton_.sites(best.q), rest)) return unmatched(best);
    rest = climb_on(std::move(rest));
    Node out = node(rest);
    out.bound = best.objective();
    return out;
  } catch (const Interrupted&) {
    progress_.end = Termination::interrupted;
    return node(best.theta, best.q, false, best.objective());
  }
}

// The density with moments matched is highest at amplitudes that are larger than the bound's where
// classes hardly overlap.
FullKernel::Rest FullKernel::climb_on(Rest from) {
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
  const Index numbers = from.theta.size();
  return bfgs(std::move(from), of, FullMetric(numbers), converged);
}

// From sites at theta: where moments match, if they do.
bool FullKernel::rests(ConstVecRef theta, RowSites sites, Rest& out) {
  const bool done = newton_.match(sites, out.q, out.log_density);
  progress_.passes = newton_.passes();
  if (!done) return false;
  out.theta = theta;
  out.gradient = Vec::Zero(theta.size());
  out.log_density += log_prior(problem_, theta, out.gradient);
  out.gradient += rows_gradient(theta, out.q);
  sites.theta = theta;
  known_.push_back(std::move(sites));
  return true;
}

// From sites nearby; where moments don't match from there, from the bound's best.
Node FullKernel::at(ConstVecRef theta, const Node&) {
  Rest rest;
  take(theta);
  if (!known_.empty() && rests(theta, sites_near(known_, theta, true), rest)) return node(rest);
  const Value best = look(theta, &top_, 0);
  if (!rests(theta, newton_.sites(best.q), rest)) return unmatched(best);
  Node out = node(rest);
  out.bound = best.objective();
  return out;
}

// By differences of the gradient of what the top is of.
Mat FullKernel::curvature(const Node& top) {
  const Index h = top.theta.size();
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
  }
  return look(theta, &top_, 0).gradient;
}

Node FullKernel::node(const Rest& rest) {
  Node out = node(rest.theta, rest.q, true, rest.log_density);
  out.pull = rest.gradient;
  return out;
}

Node FullKernel::unmatched(const Value& best) {
  Node out = node(best.theta, best.q, false, best.objective());
  out.pull = best.gradient;
  return out;
}

// The coefficients' own moments: mean D^{-1} C alpha, precision D + C'WC.
Node FullKernel::node(ConstVecRef theta, const KernelNewton::Point& q, bool matched,
                      double log_density) {
  Node out;
  out.theta = theta;
  out.bound = out.log_density = log_density;
  out.matched = matched;
  out.state = side_.start(Vec());
  side_.fix_priors(out.state, theta);
  const Vec precision = side_.precision(out.state);
  const Index p = design_.rows(), n = design_.cols();
  Mat total = Mat::Zero(p, p);
  WeightedGram squares;
  squares.add(design_.data(), p, n, q.weight.data(), total.data(), p);
  total.diagonal() += precision;
  if (!cholesky(total, host_)) refuse_precision();
  out.state.inverse_factor() = inverse_lower(total, host_);
  out.state.mean() = (design_ * q.alpha.matrix()).cwiseQuotient(precision);
  out.state.begun() = 1;
  return out;
}

void FullKernel::record(const Value& at) {
  progress_.trace.push_back({at.objective(), at.gradient.norm(), 1, 1});
  std::ostringstream text;
  text.precision(12);
  text << "pass " << progress_.passes << ": bound " << at.objective();
  host_.progress(text.str());
}

}  // namespace bsvm
