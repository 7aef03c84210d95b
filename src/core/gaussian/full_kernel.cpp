#include "full_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/error.hpp"
#include "coefficients/free_parameters.hpp"
#include "linalg/cholesky.hpp"
#include "linalg/weighted_gram.hpp"
#include "model/gather.hpp"

namespace bsvm {

namespace {

constexpr Index kFewestRows = 100, kMostKernelRows = 5000;
constexpr double kColumnsPerRow = 0.45;
constexpr double kVague = 1e6;          // a prior variance: differences with it drown in rounding
constexpr double kNumberApart = 3e-5;   // in a parameter of the design, of differences of K

// Do parameters move one of these columns?
bool moves_any(const Problem& problem, const std::vector<Index>& columns) {
  Index first = 0;
  for (const auto& block : problem.blocks) {
    const Index end = first + block->columns();
    if (block->varies() && std::any_of(columns.begin(), columns.end(),
                                       [&](Index j) { return j >= first && j < end; }))
      return true;
    first = end;
  }
  return false;
}

// What KernelNewton needs of a Problem.
Problem rows_of(const Problem& problem) {
  Problem out;
  static_cast<Rows&>(out) = problem;
  out.n = problem.n;
  return out;
}

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
  const Index numbers = design_numbers(problem);
  if (!problem.here() || problem.left_over || problem.effects() > 0 ||
      (problem.parameters() > 0 && numbers == 0) || problem.likelihood->coefficients() > 0 ||
      problem.latent->any() || problem.tilt.size() > 0)
    return false;
  if (varies(problem) && numbers == 0) return false;  // with more than parameters
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
    : problem_(problem), rows_(rows_of(problem)), options_(options), host_(host), side_(problem),
      scratch_(side_.start(Vec())),
      newton_(problem.likelihood->free_size() > 0 ? rows_ : problem, host) {
  side_.fix_priors(scratch_, side_.free(scratch_));
  design_.resize(problem.columns(), problem.n);
  look_at_design(scratch_);
  const Vec precision = side_.precision(scratch_);
  for (const PriorPart& part : side_.parts()) {
    Part own;
    const Index count = static_cast<Index>(part.slot.columns.size());
    own.before.resize(count);
    own.columns = part.slot.columns;
    for (Index j = 0; j < count; ++j) own.before[j] = precision[own.columns[j]];
    own.moves = moves_any(problem, own.columns);
    own.k = covariance(own);
    parts_.push_back(std::move(own));
  }
}

// And the parts' covariances, at the State's parameters.
void FullKernel::look_at_design(const State& state) {
  numbers_ = state.parameters().tail(design_numbers(problem_));
  gather_design(problem_, all_rows(problem_).data(), problem_.n, state, design_);
  for (Part& part : parts_)
    if (part.moves) part.k = covariance(part);
}

Mat FullKernel::covariance(const Part& part) const {
  Mat columns(part.before.size(), problem_.n);
  for (Index j = 0; j < columns.rows(); ++j)
    columns.row(j) = design_.row(part.columns[j]) / std::sqrt(part.before[j]);
  return lower_gram(columns, host_).selfadjointView<Eigen::Lower>();
}

// (parts) s_b.
Vec FullKernel::scales(ConstVecRef theta) {
  side_.fix_priors(scratch_, theta);
  const Vec precision = side_.precision(scratch_);
  Vec out(static_cast<Index>(parts_.size()));
  for (size_t b = 0; b < parts_.size(); ++b)
    out[b] = parts_[b].before.size() > 0 ? parts_[b].before[0] / precision[parts_[b].columns[0]] : 0;
  return out;
}

void FullKernel::take(ConstVecRef theta) {
  const Vec s = scales(theta);
  if (scratch_.parameters().tail(numbers_.size()) != numbers_) look_at_design(scratch_);
  const Index own = scratch_.parameters().size() - numbers_.size();
  if (own > 0) rows_.likelihood = problem_.likelihood->with(scratch_.parameters().head(own));
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
  out.gradient += rows_gradient(theta, out.q, false);
  record(out);
  return out;
}

// Of the bound, or where moments are matched of log p(y): both are at rest in all that q is made of.
Vec FullKernel::rows_gradient(ConstVecRef theta, const KernelNewton::Point& q, bool matched) {
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
  add_parameters_gradient(theta, q, matched, out);
  return out;
}

// The rows' terms where q stays; where moments are matched, what else is known of each row does.
double FullKernel::rows_value(ConstVecRef numbers, const KernelNewton::Point& q, bool matched) const {
  using View = Eigen::Map<const Arr>;
  const Index n = problem_.n;
  const View y(problem_.y, n);
  const auto likelihood = problem_.likelihood->with(numbers);
  RowTerms terms;
  terms.resize(n);
  if (!matched) likelihood->terms(Use::expected, y, q.m, q.v, terms);
  for (Index i = 0; matched && i < n; ++i) {
    const double k = problem_.weight ? problem_.weight[i] : 1;
    const double c = q.v[i] / (1 - q.weight[i] / k * q.v[i]);
    terms.value[i] = likelihood->averaged(y[i], q.m[i] - c * q.alpha[i] / k, c, 1).value;
  }
  return problem_.weight ? (View(problem_.weight, n) * terms.value).sum() : terms.value.sum();
}

// Of the likelihood's parameters, and of those that columns depend on with K at both sides of each.
void FullKernel::add_parameters_gradient(ConstVecRef theta, const KernelNewton::Point& q,
                                         bool matched, Vec& gradient) {
  if (side_.parameters() == 0) return;
  const Index first = side_.parameter_first(), own = side_.parameters() - numbers_.size();
  for (Index k = 0; k < own; ++k) {
    const Vec by = kNumberApart * Vec::Unit(own, k), at = theta.segment(first, own);
    gradient[first + k] += (rows_value(at + by, q, matched) - rows_value(at - by, q, matched)) /
                           (2 * kNumberApart);
  }
  if (numbers_.size() == 0) return;
  const Vec s = scales(theta), alpha = q.alpha;
  const Mat here = design_;
  State state = scratch_;
  for (Index k = own; k < side_.parameters(); ++k) {
    double change = 0;
    for (const double by : {kNumberApart, -kNumberApart}) {
      state.parameters() = scratch_.parameters();
      state.parameters()[k] += by;
      gather_design(problem_, all_rows(problem_).data(), problem_.n, state, design_);
      for (size_t b = 0; b < parts_.size(); ++b) {
        if (!parts_[b].moves) continue;
        const Mat apart = covariance(parts_[b]) - parts_[b].k;
        change += s[b] / by * (apart.cwiseProduct(pull_).sum() + alpha.dot(apart * alpha));
      }
    }
    gradient[first + k] += 0.25 * change;
  }
  design_ = here;
}

// From sites at theta: where moments match, if they do.
bool FullKernel::rests(ConstVecRef theta, RowSites sites, Rest& out) {
  const bool done = newton_.match(sites, out.q, out.log_density);
  progress_.passes = newton_.passes();
  if (!done) return false;
  out.theta = theta;
  out.gradient = Vec::Zero(theta.size());
  out.log_density += log_prior(problem_, theta, out.gradient);
  out.gradient += rows_gradient(theta, out.q, true);
  sites.theta = theta;
  known_.push_back(std::move(sites));
  say("log density", out.log_density);
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
  if (out.state.parameters().tail(numbers_.size()) != numbers_) look_at_design(out.state);
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
  say("bound", at.objective());
}

void FullKernel::say(const char* what, double value) {
  std::ostringstream text;
  text.precision(12);
  text << "iteration " << progress_.passes << ": " << what << " " << value;
  host_.progress(text.str());
}

}  // namespace bsvm
