#include "kernel_newton.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/error.hpp"
#include "linalg/krylov.hpp"
#include "model/or_else.hpp"

namespace bsvm {

namespace {

constexpr double kNewtonDifference = 1e-4;  // of f, in its standard deviations; and of its variance
constexpr double kSolved = 1e-3;            // of the linear systems, relative
constexpr int kProducts = 40;
constexpr double kEnoughRise = 1e-4;        // of what a step promises
constexpr double kShorten = 0.4, kLeastNewtonPart = 0.1, kLeastNaturalPart = 1e-9;
constexpr double kNewtonTolerance = 0.02;   // on the gradient, where no other is given
constexpr double kSomeWeight = 1e-3;        // of a start whose own weights leave no covariance
constexpr double kFarLower = 10;            // nats, of a start's bound than where it is from

}  // namespace

KernelNewton::KernelNewton(const Problem& problem, Host& host)
    : problem_(problem), host_(host), y_(or_else(problem.y, problem.n, 1)),
      row_weight_(or_else(problem.weight, problem.n, 1)),
      offset_(or_else(problem.offset, problem.n, 0)) {}

bool KernelNewton::settle(Point& at) {
  if (at.covariance.size() == 0) at.covariance.swap(spare_);
  if (!posterior_(*k_, at.weight, host_, at.covariance, at.logdet)) return false;
  at.v = at.covariance.diagonal().array();
  return true;
}

double KernelNewton::divergence(const Point& at) const {
  const Arr centred = at.m - offset_;
  return 0.5 * ((at.alpha * centred).sum() - (at.weight * at.v).sum() + at.logdet);
}

// What the rows say of q, and the bound.
bool KernelNewton::look(Point& at) {
  if (host_.interrupted()) throw Interrupted();
  ++passes_;
  at.m = (*k_ * at.alpha.matrix()).array() + offset_;
  if (!at.m.allFinite()) return false;
  RowTerms terms;
  terms.resize(at.m.size());
  problem_.likelihood->terms(Use::expected, y_, at.m, at.v, terms);
  at.slope = row_weight_ * terms.slope;
  at.target = row_weight_ * terms.weight;
  at.bound = (row_weight_ * terms.value).sum() - divergence(at);
  return std::isfinite(at.bound) && at.slope.allFinite() && at.target.allFinite();
}

// With the rows' sites of another q: its own slopes as alpha would leave the mean far away, as K has
// large eigenvalues. If the bound is then far lower, from none, if that is higher.
KernelNewton::Point KernelNewton::begin(const RowNewton::Known* near) {
  Point out;
  if (!near || !take_near(*near, out) || !look(out)) return begin_anew();
  if (out.bound >= near->bound - kFarLower) return out;
  Point other = begin_anew();
  return other.bound > out.bound ? other : out;
}

bool KernelNewton::take_near(const RowNewton::Known& near, Point& out) {
  RowSites sites = this->sites(near);
  if (take(sites, out)) return true;
  sites.weight = sites.weight.max(kSomeWeight);
  return take(sites, out);
}

// From one look with unit variances, or larger ones where weights below zero leave no covariance.
KernelNewton::Point KernelNewton::begin_anew() {
  Point out;
  RowTerms terms;
  terms.resize(y_.size());
  for (double spread = 1;; spread *= 10) {
    ++passes_;
    problem_.likelihood->terms(Use::expected, y_, offset_, Arr::Constant(y_.size(), spread), terms);
    out.weight = row_weight_ * terms.weight;
    if (settle(out)) break;
    if (!(spread <= kMostSpread)) refuse_precision();
  }
  const Vec slope = row_weight_ * terms.slope;
  out.alpha = slope.array() - out.weight * (out.covariance * slope).array();
  if (!look(out)) refuse_numbers();
  return out;
}

KernelNewton::System KernelNewton::system(const Point& at) {
  System out;
  out.lack = at.slope - at.alpha;
  out.gap = at.target - at.weight;
  squares_ = at.covariance.cwiseAbs2();
  out.length = std::sqrt(out.lack.dot(at.covariance * out.lack) +
                         0.5 * out.gap.dot(squares_ * out.gap));
  // By differences to one side: the system need not be more exact than a step is long.
  const Arr by = (kNewtonDifference * at.v.sqrt()).max(1e-9 * (1 + at.m.abs())),
            more = (kNewtonDifference * at.v).max(1e-30);
  RowTerms moved;
  moved.resize(at.m.size());
  problem_.likelihood->terms(Use::expected, y_, at.m + by, at.v, moved);
  out.a = (row_weight_ * moved.weight - at.target) / by;
  problem_.likelihood->terms(Use::expected, y_, at.m, at.v + more, moved);
  out.b = (row_weight_ * moved.weight - at.target) / more;
  return out;
}

// The step that adds S push to the mean and `weight` to the weights, and by how much it raises the
// bound at first.
KernelNewton::Step KernelNewton::promised(const Point& at, const System& here, Vec push,
                                          Vec weight) const {
  Step out;
  const Vec moved = at.covariance * push;
  out.slope = here.lack.dot(moved) + 0.5 * here.gap.dot(squares_ * weight);
  out.alpha = push - at.weight.matrix().cwiseProduct(moved);
  out.weight = std::move(weight);
  return out;
}

KernelNewton::Step KernelNewton::newton(const Point& at, const System& here) const {
  const Vec half = 0.5 * here.a, right = here.gap + here.a.matrix().cwiseProduct(
                                                        at.covariance * here.lack);
  const Vec weight = solve_by_products(
      [&](const Vec& x) -> Vec {
        const Vec moved = squares_ * x;
        return x + here.b.matrix().cwiseProduct(moved) -
               here.a.matrix().cwiseProduct(at.covariance * half.cwiseProduct(moved));
      },
      right, kSolved, kProducts);
  return promised(at, here, here.lack + half.cwiseProduct(squares_ * weight), weight);
}

// Uphill for certain.
KernelNewton::Step KernelNewton::natural(const Point& at, const System& here) const {
  return promised(at, here, here.lack, here.gap);
}

// Along the step, shortened until the bound rises: the share of it that was taken, or 0.
double KernelNewton::rise(const Step& step, double least, Point& at) {
  if (!(step.slope > 0) || !step.alpha.allFinite() || !step.weight.allFinite()) return 0;
  for (double share = 1; share > least; share *= kShorten) {
    Point next;
    next.alpha = at.alpha + share * step.alpha.array();
    next.weight = at.weight + share * step.weight.array();
    const bool possible = settle(next) && look(next) &&
                          next.bound >= at.bound + kEnoughRise * share * step.slope - slack(at.bound);
    spare_.swap((possible ? at : next).covariance);
    if (!possible) continue;
    at = std::move(next);
    return share;
  }
  return 0;
}

KernelNewton::Point KernelNewton::best(const RowNewton::Known* near, double tolerance, int most) {
  Point now = begin(near);
  const double least = tolerance == 0 ? kNewtonTolerance : 10 * std::sqrt(tolerance);
  double gain = 0;
  for (const int last = passes_ + most;;) {
    const System here = system(now);
    now.length = here.length;
    now.converged = here.length <= least && (tolerance == 0 || gain <= tolerance);
    if (now.converged || passes_ >= last) break;
    const double before = now.bound;
    if (!(rise(newton(now, here), kLeastNewtonPart, now) > 0) &&
        !(rise(natural(now, here), kLeastNaturalPart, now) > 0))
      break;
    gain = now.bound - before;
    host_.progress("iteration " + std::to_string(passes_) + ": bound " + std::to_string(now.bound));
  }
  return now;
}

// q with these sites. False where they leave none.
bool KernelNewton::take(const RowSites& sites, Point& at) {
  if (host_.interrupted()) throw Interrupted();
  ++passes_;
  at.weight = sites.weight;
  if (!settle(at)) return false;
  const Arr mean = (at.covariance * sites.linear.matrix()).array();
  at.m = mean + offset_;
  at.alpha = sites.linear - sites.weight * mean;
  return at.m.allFinite();
}

bool KernelNewton::match(RowSites& sites, Point& at, double& log_density) {
  return rest_sites({*problem_.likelihood, y_, row_weight_, offset_},
                    [&](const RowSites& now) { return take(now, at); },
                    [&] { return -divergence(at); }, at.m, at.v, sites, log_density);
}

}  // namespace bsvm
