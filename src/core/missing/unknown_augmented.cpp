#include "unknown_rows.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "factor.hpp"

namespace bsvm {

namespace {

constexpr int kMostSteps = 100;
constexpr double kPrecise = 1e-13;  // of log chi + 2 log w, at most
constexpr double kSeveral = 1e-10;  // of several weights, relative
constexpr double kSettled = 1e-9;   // of an entry's change

}  // namespace

// Of one row, its missing entries at x_M = E x_M + e. The likelihood's atoms with latent precisions
// w_k leave -W f^2 / 2 + c f, W = sum w_k and c = sum (w_k place_k - cost_k sign_k / 2), so the
// precision of q(e) is base + omega W E s s' and the linear term pull + omega (c E s - W E s f), f
// where e is zero. A likelihood without latent scales is such a quadratic as it is.
struct UnknownRows::RowProblem {
  Mat base, own, square;      // (k, k); Cov s, E s s'
  Vec pull, sigma, second;    // (k) E s, E s f
  Vec cross;                  // (k) Cov(s, f)
  Atoms atoms;
  double m, v, omega;
  double weight = 0, linear = 0;  // W and c where there are no atoms
};

struct UnknownRows::RowSolution {
  Vec away;
  Mat covariance;
  double logdet = 0, mean = 0, variance = 0;  // of the precision; of f
};

void UnknownRows::solve_given(const RowProblem& of, const double* w, RowSolution& out) {
  double total = of.weight, linear = of.linear;
  for (int k = 0; k < of.atoms.count; ++k) {
    const Atom& atom = of.atoms.atom[k];
    total += w[k];
    linear += w[k] * atom.place - 0.5 * atom.cost * atom.sign;
  }
  const Factor factor = factor_of(of.base + of.omega * total * of.square);
  out.away = factor.solve(of.pull + of.omega * (linear * of.sigma - total * of.second));
  out.covariance = factor.inverse();
  out.logdet = factor.logdet();
  out.mean = of.m + of.sigma.dot(out.away);
  out.variance = of.v + 2 * out.away.dot(of.cross) + out.away.dot(of.own * out.away) +
                 of.square.cwiseProduct(out.covariance).sum();
}

void UnknownRows::solve(const RowProblem& of, RowSolution& out) {
  if (of.atoms.count == 0) return solve_given(of, nullptr, out);
  if (of.atoms.count == 1) return solve_one(of, out);
  solve_several(of, out);
}

// With chi = E (2 (f - place) / cost)^2 and t = log w, chi(w) w^2 rises in t from below one to
// above.
void UnknownRows::solve_one(const RowProblem& of, RowSolution& out) {
  const Atom& atom = of.atoms.atom[0];
  const double unit = 4 / (atom.cost * atom.cost);
  const auto excess = [&](double t) {
    const double w = std::exp(t);
    solve_given(of, &w, out);
    const double off = out.mean - atom.place;
    return std::log(std::max(unit * (off * off + out.variance), 1e-300)) + 2 * t;
  };
  const double off = of.m - atom.place, nearby = unit * (off * off + of.v);
  double t = -0.5 * std::log(std::max(nearby, 1e-200)), low = -700, high = 700;
  double before = t, excess_before = 0, slope = 2;
  for (int step = 0; step < kMostSteps; ++step) {
    const double now = excess(t);
    if (std::abs(now) <= kPrecise) break;
    (now < 0 ? low : high) = t;
    if (step > 0 && t != before) slope = (now - excess_before) / (t - before);
    if (!(slope > 0.01)) slope = 2;
    before = t;
    excess_before = now;
    double next = t - now / slope;
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    if (std::abs(next - t) <= 1e-15 * (1 + std::abs(t))) break;
    t = next;
  }
}

// Coordinate ascent: the best weights given the entries and the best entries given the weights.
void UnknownRows::solve_several(const RowProblem& of, RowSolution& out) {
  double w[kMostAtoms] = {}, mean = of.m, variance = of.v;
  for (int step = 0; step < kMostSteps; ++step) {
    double moved = step == 0;  // a sum: a weight that is no number is never at rest
    for (int k = 0; k < of.atoms.count; ++k) {
      const Atom& atom = of.atoms.atom[k];
      const double off = mean - atom.place;
      const double now = 0.5 * atom.cost / std::sqrt(std::max(off * off + variance, 1e-200));
      if (step > 0) moved += std::abs(now / w[k] - 1);
      w[k] = now;
    }
    if (moved <= kSeveral) return;
    solve_given(of, w, out);
    mean = out.mean;
    variance = out.variance;
  }
}

// Row by row of those with missing entries, from what they are given the observed ones alone:
//   seen        does f see an entry? Else only the mechanism does
//   sigma       (k) E s, zero for auxiliary variables;  own: Cov s;  square: E s s'
//   cross       (k) Cov(s, f) at the means that are in the design
//   found.away  (k) by what q moves the entries' means, with `found.covariance`
//   value       the mechanism's share of the bound
// The row's f then has q's mean and variance, the design q's means, and the bound gains the
// entries' entropy and E log of their law: half of logdet P - logdet of q's precision + k -
// away'P away - tr(P covariance), P the law's precision.
void UnknownRows::average(const BlockRange& range, const State& state,
                          const Likelihood& likelihood, RowBlock& block,
                          LatentBlock& scratch) const {
  UnknownBlock& out = own(scratch);
  const bool scales = likelihood.scales() > 0;
  if (out.count > 0 && scales && likelihood.atoms(block.y[0]).count == 0)
    throw InvalidInput("likelihood", "Missing predictors can't be averaged out of it with latent "
                                     "scales: it is no sum of hinges.");
  if (out.count > 0 && !scales) {
    out.known.resize(range.rows);
    likelihood.terms(use_, Eigen::Map<const Arr>(block.y, range.rows), block.m.head(range.rows),
                     block.v.head(range.rows), out.known);
  }
  if (mechanism_.any()) out.latent.resize(unknowns_.indicators.size(), range.rows);
  for (Index a = 0; a < out.count; ++a) {
    const Row& row = rows_[out.first + a];
    const MissingPattern& pattern = patterns_[row.pattern];
    const bool seen = state.begun() && !pattern.dense.empty();
    if (!seen && !mechanism_.any()) continue;
    const Index i = row.at - range.first_row, k = static_cast<Index>(pattern.missing.size());
    const ConditionalLaw& of = law(row.pattern, out);
    const double* design = block.c + i * block.p;
    RowProblem problem;
    problem.base = of.precision;
    problem.pull = problem.sigma = problem.cross = problem.second = Vec::Zero(k);
    problem.own = problem.square = Mat::Zero(k, k);
    problem.atoms = likelihood.atoms(block.y[i]);
    problem.m = block.m[i];
    problem.v = block.v[i];
    if (!scales) {
      problem.weight = out.known.weight[i];
      problem.linear = out.known.slope[i] + problem.weight * problem.m;
    }
    problem.omega = seen ? shared(row) : 0;
    if (seen) {
      problem.sigma = of.slope;
      problem.own = of.slope_spread;
      problem.square = problem.own + problem.sigma * problem.sigma.transpose();
      const bool grouped = problem_.groups > 0;
      problem.cross = coupling(pattern, grouped ? block.centred.data() + i * block.p : design,
                               design, state);
      problem.second = problem.cross + problem.m * problem.sigma;
    }
    RowSolution found;
    double value = 0;
    if (mechanism_.any()) value = settle(row, i, problem, found, out.x.col(a), out);
    else solve(problem, found);
    if (seen) {
      block.m[i] = found.mean;
      block.v[i] = found.variance;
    }
    for (Index b = 0; b < k; ++b) out.x(pattern.missing[b], a) += found.away[b];
    out.value[a] += value + 0.5 * (of.logdet - found.logdet + static_cast<double>(k) -
                                   found.away.dot(of.precision * found.away) -
                                   of.precision.cwiseProduct(found.covariance).sum());
    out.covariance[a] = found.covariance;
    put(row, pattern, out, a, range, block);
  }
}

// The row's latent indicators and its entries, in turn. Returns the mechanism's share of the bound.
double UnknownRows::settle(const Row& row, Index at, RowProblem& problem, RowSolution& found,
                           ConstVecRef x, UnknownBlock& out) const {
  const std::vector<Index>& missing = patterns_[row.pattern].missing;
  const double* given = unknowns_.given + row.row;
  const Mat own = mechanism_.precision(missing);
  problem.base += own;
  const Vec start = mechanism_.regressors(given, problem_.n, x);
  Vec here = x, latent(out.latent.rows());
  double value = mechanism_.expect(start, missing, latent);
  for (int step = 0; step < kMostSteps; ++step) {
    problem.pull = mechanism_.slope(missing, start, latent);
    const Vec before = found.away;
    solve(problem, found);
    for (size_t b = 0; b < missing.size(); ++b)
      here[missing[b]] = x[missing[b]] + found.away[static_cast<Index>(b)];
    value = mechanism_.expect(mechanism_.regressors(given, problem_.n, here), missing, latent);
    if (step > 0 && (found.away - before).cwiseAbs().maxCoeff() <= kSettled) break;
  }
  out.latent.col(at) = latent;
  return value - 0.5 * own.cwiseProduct(found.covariance).sum();
}

}  // namespace bsvm
