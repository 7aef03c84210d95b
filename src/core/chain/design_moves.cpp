#include "design_moves.hpp"

#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "linalg/cholesky.hpp"
#include "linalg/dense.hpp"
#include "random/slice.hpp"

namespace bsvm {

namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();
constexpr double kLeastRowQuadratic = 1e-3, kMostTarget = 10;  // weight; target from f's mean
constexpr double kLeastSeen = 1e-4;         // variance of a row's f
constexpr int kQuadraticSteps = 3;          // from those learnt to those at a theta
constexpr double kFollowing = 0.5, kSettled = 1e-9;
constexpr Index kFirstQuadratics = 5;       // sweeps until they are set, then twice as many
constexpr double kFarthestNumber = 100;     // of a free number

bool is_turn(Index sweep) {
  const Index turns = sweep / kFirstQuadratics;
  return sweep % kFirstQuadratics == 0 && turns > 0 && (turns & (turns - 1)) == 0;
}

bool moves_design(const Problem& problem) {
  return problem.parameters() > problem.likelihood->free_size();
}

}  // namespace

// ---- the rows' quadratics

RowQuadratics::RowQuadratics(const Problem& problem)
    : problem_(problem), weight_(Vec::Ones(problem.n)), target_(Vec::Zero(problem.n)),
      seen_mean_(Vec::Zero(problem.n)), seen_square_(Vec::Zero(problem.n)) {}

void RowQuadratics::set(const Likelihood& likelihood, const Vec& mean, const Vec& variance) {
  if (!likelihood.supports(Use::expected)) return;
  RowTerms terms;
  terms.resize(problem_.n);
  const Eigen::Map<const Arr> y(problem_.y, problem_.n);
  likelihood.terms(Use::expected, y, mean.array(), variance.array(), terms);
  const Arr weight = terms.weight.max(kLeastRowQuadratic);
  target_ = (mean.array() + (terms.slope / weight).max(-kMostTarget).min(kMostTarget)).matrix();
  weight_ = weight.matrix();
  if (problem_.weight) weight_.array() *= Eigen::Map<const Arr>(problem_.weight, problem_.n);
}

// Half way in weights and linear terms: the whole way may overshoot.
bool RowQuadratics::follow(const Likelihood& likelihood, const Mat& design, const Vec& others,
                           const RowsGaussian& at, Vec& weight, Vec& linear) const {
  if (!likelihood.supports(Use::expected)) return false;
  RowTerms terms;
  terms.resize(problem_.n);
  const Arr mean = (design.transpose() * at.mean + others).array(),
            variance = solved_lower(at.lower, design).colwise().squaredNorm().transpose();
  likelihood.terms(Use::expected, Eigen::Map<const Arr>(problem_.y, problem_.n), mean,
                   variance.max(kLeastSeen), terms);
  Arr to = terms.weight.max(kLeastRowQuadratic), pull = terms.slope;
  if (problem_.weight) {
    const Eigen::Map<const Arr> count(problem_.weight, problem_.n);
    to *= count;
    pull *= count;
  }
  const Arr change = to - weight.array(), pulled = to * mean + pull - linear.array();
  weight.array() += kFollowing * change;
  linear.array() += kFollowing * pulled;
  return change.abs().maxCoeff() + pulled.abs().maxCoeff() > kSettled * (1 + to.maxCoeff());
}

void RowQuadratics::learn(const Likelihood& likelihood, const Vec& f, Index sweeps) {
  Index since = 1;
  while (since < sweeps && !is_turn(sweeps - since)) ++since;
  const double share = 1.0 / static_cast<double>(since);
  const Vec away = f - seen_mean_;
  seen_mean_ += share * away;
  seen_square_ += away.cwiseProduct(f - seen_mean_);
  if (!is_turn(sweeps)) return;
  set(likelihood, seen_mean_, (share * seen_square_).array().max(kLeastSeen));
  seen_mean_.setZero();
  seen_square_.setZero();
}

Vec RowQuadratics::learnt() const {
  Vec out(4 * weight_.size());
  out << weight_, target_, seen_mean_, seen_square_;
  return out;
}

void RowQuadratics::restore(ConstVecRef learnt) {
  const Index n = weight_.size();
  weight_ = learnt.head(n);
  target_ = learnt.segment(n, n);
  seen_mean_ = learnt.segment(2 * n, n);
  seen_square_ = learnt.tail(n);
}

// ---- moves

DesignMoves::DesignMoves(const Problem& problem, const Coefficients& side)
    : side_(side), any_(moves_design(problem)), quadratics_(problem), axes_(0) {
  Index first = 0, parameter = 0;
  const Index own = problem.likelihood->free_size();
  for (const PriorPart& part : side.parts()) {
    const bool of_block = part.parameter() && parameter++ >= own;
    const bool variance = !part.parameter() && !part.group && part.free_size() == 1;
    if (any_ && (of_block || variance)) at_.push_back(first);
    first += part.free_size();
  }
  axes_ = LearntAxes(size());
}

Vec DesignMoves::theta(const State& state) const {
  const Vec free = side_.free(state);
  Vec out(size());
  for (Index k = 0; k < size(); ++k) out[k] = free[at_[k]];
  return out;
}

bool DesignMoves::find(const State& state, const Predictors& rows, const Vec& others, Host& host,
                       RowsGaussian& out) {
  transposed_ = rows.design().transpose();
  const Vec prior = side_.precision(state);
  Vec weight = quadratics_.weight(), linear = weight.cwiseProduct(quadratics_.target());
  for (int step = 0; solve(prior, weight, linear - weight.cwiseProduct(others), host, out); ++step)
    if (step == kQuadraticSteps || !quadratics_.follow(rows.likelihood(), transposed_, others, out,
                                                       weight, linear))
      return true;
  return false;
}

bool DesignMoves::solve(const Vec& prior, const Vec& weight, const Vec& linear, Host& host,
                        RowsGaussian& out) {
  const Index p = transposed_.rows(), n = transposed_.cols();
  out.lower.setZero(p, p);
  squares_.add(transposed_.data(), p, n, weight.data(), out.lower.data(), p);
  out.lower.diagonal() += prior;
  if (!out.lower.diagonal().allFinite() || !cholesky(out.lower, host)) return false;
  out.logdet = 2 * out.lower.diagonal().array().log().sum();
  out.mean = transposed_ * linear;
  solve_lower(out.lower, out.mean);
  solve_transposed(out.lower, out.mean);
  return std::isfinite(out.logdet) && out.mean.allFinite();
}

// Of the dense coefficients and of all free parameters but those of groups.
double DesignMoves::log_prior(const State& state, const Vec& free) const {
  const Vec square = state.mean().cwiseAbs2();
  double out = 0;
  Index first = 0;
  for (const PriorPart& part : side_.parts()) {
    Vec gradient(part.free_size());
    if (!part.group)
      out += part.slot.prior->log_joint(side_.moments(part, square, Mat()),
                                        free.segment(first, gradient.size()), gradient);
    first += gradient.size();
  }
  return out;
}

void DesignMoves::run(State& state, Predictors& rows, bool tune, Host& host) {
  if (!any_) return;
  Draws random(state.key(), Purpose::design, 0);
  for (Index k = 0; k < size(); ++k) move(k, state, rows, random, tune, host);
  if (tune) axes_.learn(theta(state));
}

void DesignMoves::move(Index k, State& state, Predictors& rows, Draws& random, bool tune,
                       Host& host) {
  const Vec now = side_.free(state), rest = others(state, rows);
  const Vec b = state.mean(), f = rows.f();
  RowsGaussian gaussian;
  if (!find(state, rows, rest, host, gaussian)) return;
  const Vec noise = transposed_product(gaussian.lower, b - gaussian.mean);
  const Vec along = axes_.axis(k);
  Vec free = now;
  const auto to = [&](double by) {
    free = now;
    for (Index j = 0; j < size(); ++j) free[at_[j]] += by * along[j];
    if (!(free.cwiseAbs().maxCoeff() <= kFarthestNumber)) return kImpossible;
    side_.fix_priors(state, free);
    try {
      rows.look(state);
    } catch (const NumericalFailure&) {
      return kImpossible;
    }
    if (!find(state, rows, rest, host, gaussian)) return kImpossible;
    Vec x = noise;
    solve_transposed(gaussian.lower, x);
    state.mean() = gaussian.mean + x;
    rows.f() = rest + rows.design() * state.mean();
    const double out = rows.value() + log_prior(state, free) - 0.5 * gaussian.logdet;
    return std::isfinite(out) ? out : kImpossible;
  };
  const double moved = slice(to, axes_.width(k), random);  // where it asked last, or 0
  if (moved == 0) {  // to the bit
    side_.fix_priors(state, now);
    rows.look(state);
    state.mean() = b;
    rows.f() = f;
  }
  if (tune) axes_.moved(k, moved);
}

Vec DesignMoves::learnt() const {
  if (!any_) return Vec();
  const Vec rows = quadratics_.learnt(), axes = axes_.learnt();
  Vec out(rows.size() + axes.size());
  out << rows, axes;
  return out;
}

void DesignMoves::restore(ConstVecRef learnt) {
  if (!any_) return;
  const Index axes = axes_.learnt().size();
  quadratics_.restore(learnt.head(learnt.size() - axes));
  axes_.restore(learnt.tail(axes));
}

}  // namespace bsvm
