// Slice sampling with grouping factors: coefficients b, effects u of one or several factors, and
// the parameters theta of their priors. A Gaussian is near the posterior of (b, u) given theta,
// each row's log-likelihood replaced by a quadratic (WorkingRows), and every move goes by it at the
// theta there is, however far theta has come:
//
//   coefficients  along the axes of their covariance, all effects following their regression
//   effects       of a level, along the axes of their covariance given all else; with those of
//                 another factor, effects of the main one in the same rows follow
//   theta         each with what it is the prior of: at fixed e in b = m(theta) + L(theta) e, m and
//                 L L' the Gaussian's mean and covariance given all else. So large effects move as
//                 in a centred parameterisation, small ones as in one that is not centred
//   theta         given coefficients and effects (Gibbs)
//   scales        each block with its variance, and everything at once (mixing.hpp): where classes
//                 are nearly separated by levels, coefficients, effects and their standard
//                 deviations have a common scale that the Gaussian does not know of
//
// What the rows' quadratics are is learnt in the burn-in from each f's own mean and variance.
// Nothing is approximated: each move is a slice of the posterior itself along a line or a curve.
#include "slice_grouped.hpp"

#include <cmath>

#include "base/error.hpp"
#include "chain/mixing.hpp"
#include "chain/parameter_moves.hpp"
#include "coefficients/coefficients.hpp"
#include "level_moves.hpp"
#include "linalg/dense.hpp"
#include "random/slice.hpp"
#include "rows/lines/predictors.hpp"
#include "variance_moves.hpp"
#include "working_gaussian.hpp"
#include "working_rows.hpp"

namespace bsvm {
namespace {

constexpr Index kGroupedRefresh = 64;    // sweeps after which f is computed afresh
constexpr Index kFirstLook = 5;   // sweeps until the rows' quadratics are set, then twice as many
constexpr double kFirstWidth = 3;      // of a first interval, in standard deviations

class GroupedChain : public Chain {
 public:
  GroupedChain(const Problem& problem, std::uint64_t seed, int chain, Index burnin)
      : problem_(problem), p_(problem.columns()), e_(problem.group_coefficients()),
        side_(problem, 0, false), state_(side_.start(Vec())), rows_(problem),
        working_(problem, rows_.design()), gaussian_(working_, rows_.design()),
        levels_(problem, working_, gaussian_), mixing_(problem, side_, true),
        variances_(side_, working_, gaussian_), parameters_(side_),
        burnin_(burnin), seen_mean_(Vec::Zero(problem.n)), seen_square_(Vec::Zero(problem.n)) {
    state_.seed() = static_cast<double>(seed);
    state_.chain() = chain;
    // Coefficients have moved already.
    for (Index k = mixing_.widths().size() - p_; k < mixing_.widths().size(); ++k)
      mixing_.make_seldom(k);
    if (!working_.good())
      throw InvalidInput("engine", "Slice sampling needs grouping factors of which each row has "
                                   "one level, and no sparse predictors.");
    disperse();
  }

  Index sweeps() const override { return sweeps_; }

  void read(Draw& draw) const override {
    draw.coefficients = draw.expected = side_.outside_mean(state_.mean());
    draw.effects = rows_.effects();
    side_.to_outside(draw.effects);
    draw.expected_effects = draw.effects;
    draw.hyper = side_.drawn(state_);
  }

 private:
  void visit(Archive& archive) override {
    archive.count(sweeps_, kMostSweeps);
    archive.part(state_.mean());
    archive.part(state_.hyper());
    archive.part(rows_.effects());
    archive.part(variances_.widths(), [&](ConstVecRef saved) { variances_.restore(saved); });
    archive.part(mixing_.widths(), [&](ConstVecRef saved) { mixing_.restore(saved); });
    archive.part(rows_.f());
    archive.part(working_.save(), [&](ConstVecRef saved) { working_.restore(saved); });
    archive.part(seen_mean_);
    archive.part(seen_square_);
    archive.part(parameters_.learnt(), [&](ConstVecRef saved) { parameters_.restore(saved); });
    if (archive.reads()) follow();
  }

  void make_sweep(Host& host) override {
    if (host.interrupted()) throw Interrupted();
    state_.sweep() = static_cast<double>(sweeps_ + 1);
    if (sweeps_ % kGroupedRefresh == 0) rows_.find(state_);
    Draws random(state_.key(), Purpose::rows, 0);
    const bool tune = sweeps_ < burnin_;
    gaussian_.find(state_.group_prior());
    move_coefficients(random);
    variances_.run_dense(state_, rows_, tune, random);
    levels_.run(rows_, random);
    variances_.run_groups(state_, rows_, tune, random);
    Mat group_moments = rows_.group_moments(rows_.effects());
    side_.draw_priors(state_, group_moments);
    parameters_.run(state_, [&] { return rows_.log_likelihood(state_); }, tune);
    mixing_.run(state_, rows_, group_moments, tune, false, host);
    ++sweeps_;
    if (tune) learn();
  }

  // ---- the rows' quadratics

  static bool is_look(Index sweep) {
    const Index turns = sweep / kFirstLook;
    return sweep % kFirstLook == 0 && turns > 0 && (turns & (turns - 1)) == 0;
  }

  void learn() {
    Index since = 1;
    while (since < sweeps_ && !is_look(sweeps_ - since)) ++since;
    const double share = 1.0 / static_cast<double>(since);
    const Vec away = rows_.f() - seen_mean_;
    seen_mean_ += share * away;
    seen_square_ += away.cwiseProduct(rows_.f() - seen_mean_);
    if (!is_look(sweeps_)) return;
    working_.set(rows_.likelihood(), seen_mean_, (share * seen_square_).array().max(1e-4));
    seen_mean_.setZero();
    seen_square_.setZero();
  }

  void move_coefficients(Draws& random) {
    if (p_ == 0) return;
    const Vec precision = side_.precision(state_);
    Mat all = gaussian_.precision();
    all.diagonal() += precision;
    Mat axes = Mat::Identity(p_, p_);
    solve_transposed(positive_factor(all).lower(), axes);
    const Mat effects = -gaussian_.regression() * axes, slopes = gaussian_.lines() * axes;
    for (Index j = 0; j < p_; ++j) {
      const Vec slope = slopes.col(j), effect = effects.col(j),
                weighed = gaussian_.prior_times(effect),
                pulled = precision.cwiseProduct(axes.col(j));
      const double bend = weighed.dot(effect) + pulled.dot(axes.col(j)),
                   pull = weighed.dot(rows_.effects()) + pulled.dot(state_.mean());
      const double t = slice([&](double by) {
        return rows_.value(slope, slope, by, 0) - by * (pull + 0.5 * by * bend);
      }, kFirstWidth, random);
      rows_.f() += t * slope;
      rows_.effects() += t * effect;
      state_.mean() += t * axes.col(j);
    }
  }

  // What is made of the hyper-parameters.
  void follow() {
    side_.refresh(state_);
    rows_.follow(state_);
  }

  // Chains start apart.
  void disperse() {
    Draws random(state_.key(), Purpose::move, 0);
    for (const PriorPart& part : side_.parts())
      part.slot.prior->scale(side_.hyper(state_, part), std::exp(random.normal() - 1));
    follow();
    rows_.find(state_);
    working_.set(rows_.likelihood(), rows_.f(), Vec::Ones(problem_.n));
  }

  const Problem& problem_;
  Index p_, e_;  // dense coefficients, effects
  Coefficients side_;
  State state_;
  Predictors rows_;
  WorkingRows working_;
  WorkingGaussian gaussian_;
  LevelMoves levels_;
  Mixing mixing_;
  VarianceMoves variances_;
  ParameterMoves parameters_;
  Index burnin_, sweeps_ = 0;
  Vec seen_mean_, seen_square_;  // (n) of f since the last look
};

}  // namespace

std::unique_ptr<Chain> grouped_chain(const Problem& problem, std::uint64_t seed, int chain,
                                     Index burnin) {
  return std::unique_ptr<Chain>(new GroupedChain(problem, seed, chain, burnin));
}

}  // namespace bsvm
