#include "integrated.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "base/error.hpp"
#include "coefficients/free_parameters.hpp"
#include "linalg/dense.hpp"
#include "special/functions.hpp"
#include "special/whole.hpp"

namespace bsvm {

namespace {

constexpr double kNodeDecrement = 0.005;  // on half the squared Newton decrement
constexpr double kLongestTheta = 1.5;     // of a step in theta
constexpr int kMostHalvings = 40;
constexpr double kLongestJump = 1.5;      // in theta's units, from where averages find their way
constexpr Index kMostJumps = 20;

}  // namespace

Integrated::Integrated(const Problem& problem, Centre centre, int threads, const Options& options,
                       Host& host)
    : problem_(problem), centre_(centre), source_(problem, threads, Precision::quick),
      options_(options), host_(host), prior_(problem), d_(prior_.coefficients()),
      h_(prior_.free()), seen_(prior_.seen()), sums_(d_ + seen_) {}

// ---- the density

Vec Integrated::point(ConstVecRef b, ConstVecRef theta) const {
  Vec out(d_ + seen_);
  out << b, prior_.seen(theta);
  return out;
}

Integrated::Look Integrated::look(ConstVecRef b, ConstVecRef theta) {
  ++progress_.passes;
  source_.sums(point(b, theta), Depth::curvature, sums_, host_);
  Look out;
  out.b = b;
  out.theta = theta;
  out.rows = sums_.value();
  out.row_gradient = sums_.linear();
  out.row_curvature = sums_.curvature().selfadjointView<Eigen::Lower>();
  add_priors(out);
  return out;
}

void Integrated::add_priors(Look& look) const {
  look.value = look.rows;
  look.gradient = look.row_gradient;
  look.curvature = look.row_curvature;
  const Mat prior = prior_.precision(look.theta);
  for (const Part& part : prior_.parts()) {
    const Moments own = prior_.moments(part, look.b, Mat());
    const Vec theta = look.theta.segment(part.first, part.size);
    Vec gradient(part.size);
    look.value += part.slot->prior->log_joint(own, theta, gradient);
    if (part.seen < 0) continue;
    const Index at = d_ + part.seen;
    look.gradient.segment(at, part.size) += gradient;
    look.curvature.block(at, at, part.size, part.size) -=
        joint_hessian(*part.slot->prior, own, theta);
  }
  look.gradient.head(d_) -= prior * look.b;
  look.curvature.topLeftCorner(d_, d_) += prior;
}

// ---- climbing

// Newton's step in b, and what of theta the rows see where `with_theta`, and what it promises:
// half the squared decrement.
Vec Integrated::newton_step(const Look& now, bool with_theta, double& gain) const {
  const Index size = with_theta ? d_ + seen_ : d_;
  Vec step = Vec::Zero(d_ + seen_);
  step.head(size) = positive_factor(now.curvature.topLeftCorner(size, size))
                        .solve(now.gradient.head(size));
  gain = 0.5 * step.dot(now.gradient);
  const Vec unit = prior_.seen(free_units(problem_, now.theta).unit);
  const double length = seen_ > 0 ? step.tail(seen_).cwiseQuotient(unit).cwiseAbs().maxCoeff() : 0;
  if (length > kLongestTheta) step *= kLongestTheta / length;
  return step;
}

// Along the step, halved until the density rises. False where it does not. A step too long for
// numbers is halved like one that falls.
bool Integrated::rise(Vec step, Look& now) {
  for (int halved = 0; halved < kMostHalvings; ++halved, step /= 2) {
    Vec theta = now.theta;
    prior_.add_seen(step.tail(seen_), theta);
    Look next;
    try {
      next = look(now.b + step.head(d_), theta);
    } catch (const NumericalFailure&) {
      continue;
    }
    record(next.value);
    if (!(next.value >= now.value - source_.noise() - 1e-12 * (1 + std::abs(now.value)))) continue;
    now = std::move(next);
    return true;
  }
  return false;
}

// Hyper-parameters of what is not integrated go to where they are best given b's moments.
double Integrated::follow(Look& now) const {
  const Mat covariance = positive_factor(now.curvature.topLeftCorner(d_, d_)).inverse();
  double moved = 0;
  for (const Part& part : prior_.parts()) {
    if (part.seen >= 0 || part.size == 0) continue;
    auto theta = now.theta.segment(part.first, part.size);
    const Vec best =
        maximise_joint(*part.slot->prior, prior_.moments(part, now.b, covariance), theta);
    moved = std::max(moved, (best - theta).cwiseAbs().maxCoeff());
    theta = best;
  }
  add_priors(now);
  return moved;
}

// An interrupt on the way up leaves the best look so far.
Node Integrated::climb() {
  Vec b = Vec::Zero(d_);
  if (options_.start.size() > 0)
    b.head(options_.start.size()) =
        options_.start.cwiseQuotient(prior_.unit().head(options_.start.size()));
  Look now = look(b, Vec::Zero(h_));
  try {
    climb_from(now);
  } catch (const Interrupted&) {
    progress_.end = Termination::interrupted;
  }
  top_ = now;
  Node out = node(now);
  if (centre_ == Centre::mode || progress_.end == Termination::interrupted) return out;
  try {
    learn(out);
  } catch (const Interrupted&) {
    progress_.end = Termination::interrupted;
  }
  return out;
}

void Integrated::climb_from(Look& now) {
  progress_.end = Termination::pass_limit;
  const int limit = progress_.passes + options_.max_passes;
  while (progress_.passes < limit) {
    const double moved = follow(now);
    double gain = 0;
    const Vec step = newton_step(now, true, gain);
    progress_.gradient = std::sqrt(2 * gain);
    const double reach = options_.tolerance + source_.noise() + 1e-14 * std::abs(now.value);
    if (gain <= reach && moved < 1e-4) {
      progress_.end = Termination::converged;
      break;
    }
    if (!rise(step, now)) {
      progress_.end = Termination::stalled;
      break;
    }
  }
}

// Where little is left to gain the last step is taken unseen: what it gains is known to third
// order.
Node Integrated::at(ConstVecRef theta, const Node& from) {
  share_.climbing(false);
  if (own_average_) {
    Node out = from;
    const Vec way = theta - from.theta;
    const Vec far = way.cwiseQuotient(free_units(problem_, theta).unit);
    const Index jumps = whole_within(std::ceil(far.lpNorm<Eigen::Infinity>() / kLongestJump), 1,
                                     kMostJumps);
    for (Index jump = 1; jump <= jumps; ++jump) {
      const double share = static_cast<double>(jump) / static_cast<double>(jumps);
      out.theta = jump == jumps ? Vec(theta) : Vec(from.theta + share * way);
      averaged(out);
    }
    return out;
  }
  Vec b = from.state.mean();
  if (from.slope.size() > 0) b += from.slope * (theta - from.theta);
  Look now = look(b, theta);
  const int limit = progress_.passes + options_.max_passes;
  while (progress_.passes < limit) {
    double gain = 0;
    const Vec step = newton_step(now, false, gain);
    if (gain <= kNodeDecrement) {
      now.b += step.head(d_);
      now.value += gain;
      break;
    }
    if (!rise(step, now)) break;
  }
  return node(now);
}

Node Integrated::node(const Look& look) const {
  Node out;
  out.theta = look.theta;
  const Factor factor = positive_factor(look.curvature.topLeftCorner(d_, d_));
  out.log_density = look.value + 0.5 * (static_cast<double>(d_) * kLog2Pi - factor.logdet()) +
                    prior_.unit().array().log().sum();
  out.state = State(Layout{d_, 0, 0});
  out.state.begun() = 1;
  out.state.mean() = look.b;
  out.state.inverse_factor() = solved_lower(factor.lower(), Mat::Identity(d_, d_));
  out.slope = -factor.solve(bent_by_theta(look));
  return out;
}

void Integrated::finish(std::vector<Node>& nodes) {
  Host nobody;  // after an interrupt too, the nodes there are have their groups
  for (Node& node : nodes) {
    if (shift_.size() > 0) {
      node.state.mean() += shift_;
      node.state.inverse_factor() = changed_factor(node.state.inverse_factor());
    }
    node.groups = outside(source_.law(point(node.state.mean(), node.theta), nobody));
  }
}

// On the outside scale, the regression as (q d, m): B_g itself.
GroupPosterior Integrated::outside(const GroupPosterior& inside) const {
  const Index q = inside.mean.rows();
  const Vec unit = problem_.multipliers ? problem_.multipliers->unit() : Vec::Ones(q);
  const Vec inverse = unit.cwiseInverse(), inverse_b = prior_.unit().cwiseInverse();
  GroupPosterior out = inside;
  out.mean.array().colwise() *= unit.array();
  for (Index g = 0; g < inside.mean.cols(); ++g) {
    Eigen::Map<Mat> precision(out.precision.data() + g * q * q, q, q);
    precision = (inverse.asDiagonal() * precision * inverse.asDiagonal()).eval();
    Eigen::Map<const Mat> from(inside.regression.data() + g * d_ * q, d_, q);
    Eigen::Map<Mat> to(out.regression.data() + g * d_ * q, q, d_);
    to = (inverse_b.asDiagonal() * from * unit.asDiagonal()).transpose();
  }
  return out;
}

// (d, d) dD/dtheta_k.
Mat Integrated::precision_change(const Part& part, ConstVecRef theta, Index k) const {
  const Vec by = kThetaDifference * Vec::Unit(h_, k);
  Mat change = Mat::Zero(d_, d_);
  prior_.add_precision(part, theta + by, 0.5 / kThetaDifference, change);
  prior_.add_precision(part, theta - by, -0.5 / kThetaDifference, change);
  return change;
}

// (d, h) minus the second derivatives of the log density in b and theta.
Mat Integrated::bent_by_theta(const Look& look) const {
  Mat out = Mat::Zero(d_, h_);
  for (const Part& part : prior_.parts()) {
    if (part.seen >= 0) {
      out.middleCols(part.first, part.size) =
          look.curvature.block(0, d_ + part.seen, d_, part.size);
      continue;
    }
    for (Index k = part.first; k < part.first + part.size; ++k)
      out.col(k) = precision_change(part, look.theta, k) * look.b;
  }
  return out;
}

// (h, h) tr(dD/dtheta_k S dD/dtheta_l S), S = M'M: with the means' share above, the variance of the
// priors' gradients in theta, which what is not known of b takes off the curvature.
Mat Integrated::precision_products(const Look& look, const Mat& root) const {
  std::vector<Mat> turned(h_, Mat::Zero(d_, d_));
  for (const Part& part : prior_.parts())
    for (Index k = 0; part.seen < 0 && k < part.size; ++k)
      turned[part.first + k] =
          root * precision_change(part, look.theta, part.first + k) * root.transpose();
  Mat out(h_, h_);
  for (Index k = 0; k < h_; ++k)
    for (Index l = 0; l < h_; ++l) out(k, l) = turned[k].cwiseProduct(turned[l]).sum();
  return out;
}

Mat Integrated::curvature(const Node& top) {
  const Look& here = top_;
  const Mat root = top.state.inverse_factor().triangularView<Eigen::Lower>();
  const Mat covariance = root.transpose() * root;
  Mat out = Mat::Zero(h_, h_);
  for (const Part& part : prior_.parts()) {
    const Vec theta = top.theta.segment(part.first, part.size);
    if (part.seen < 0)
      out.block(part.first, part.first, part.size, part.size) =
          -joint_hessian(*part.slot->prior, prior_.moments(part, here.b, covariance), theta);
  }
  for (const Part& one : prior_.parts())
    for (const Part& other : prior_.parts())
      if (one.seen >= 0 && other.seen >= 0)
        out.block(one.first, other.first, one.size, other.size) =
            here.curvature.block(d_ + one.seen, d_ + other.seen, one.size, other.size);
  const Mat bent = root * bent_by_theta(here);
  out -= bent.transpose() * bent + 0.5 * precision_products(here, root);
  const Mat factor = positive_factor(out).lower();
  return factor * factor.transpose();
}

void Integrated::record(double value) {
  progress_.trace.push_back({value, progress_.gradient, 1, 1});
  std::ostringstream text;
  text.precision(12);
  text << "iteration " << progress_.passes << ": log density " << value << ", gradient ";
  text.precision(3);
  text << progress_.gradient;
  tell(host_, text.str(),
       share_(progress_.passes, progress_.trace[0].gradient, progress_.gradient));
}

}  // namespace bsvm
