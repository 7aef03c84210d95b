// Slice sampling of the exact posterior in coordinates that an approximation whitens (models.md,
// row 24; after Fagan, Bhandari & Cunningham 2016). A sweep is
//
//   ellipses   b = centre + root z a few z at a time, the swept factor's effects following their
//              regression: along x cos(t) + x' sin(t) linear predictors and prior are sums
//              of three
//   paths      a variance and all coefficients and effects together (path_move.hpp), the
//              variances in turn
//   effects    each of the swept factor by a slice over its own rows
//   variances  given the coefficients
//   mixing     blocks together with their variance, everything at once, and the coefficients each
//              along its own axis (mixing.hpp): in every sweep those without which a variance or
//              a coefficient hardly moves; the others now and then, for tails that a Gaussian has
//              not, and so the effects of other factors, which ellipses move
//
// Never a Gram matrix; linear predictors are kept. A design that moves with parameters has a chain of
// its own (slice_moving.cpp).
#include "base/error.hpp"
#include "chain/mixing.hpp"
#include "chain/parameter_moves.hpp"
#include "chain/sampler.hpp"
#include "chain/squared_jumps.hpp"
#include "coefficients/prior_density.hpp"
#include "joint_chain.hpp"
#include "linalg/dense.hpp"
#include "linalg/kernels.hpp"
#include "model/gather.hpp"
#include "path_move.hpp"
#include "rows/lines/predictors.hpp"
#include "slice_grouped.hpp"
#include "slice_latent.hpp"
#include "slice_moving.hpp"
#include "white_ellipse.hpp"
#include "whitening.hpp"

namespace bsvm {
namespace {

constexpr Index kTogether = 6;       // coordinates of an ellipse
// Sweeps from one path to the next, from one slide of other factors' effects to the next, and for
// mixing that others mostly do without.
constexpr Index kPathEvery = 4, kOthersEvery = 8, kSeldom = 64;
constexpr Index kRefresh = 64;       // sweeps after which f is computed afresh
// Effects are integrated out, where that is asked for, beside so many numbers at most, of which any
// few cost a look at all rows.
constexpr Index kMostIntegrated = 12;
constexpr Index kMostGrouped = 64;   // coefficients beside grouping factors
constexpr double kMostNumbers = 1 << 27;  // rows times coordinates

class SliceChain : public Chain {
 public:
  SliceChain(const Problem& problem, const Whitening& white, const Mat& turn, std::uint64_t seed,
             int chain, Index burnin)
      : p_(problem.columns()), white_(white), turn_(turn), side_(problem),
        state_(side_.start(Vec())), rows_(problem), mixing_(problem, side_, true),
        parameters_(side_), z_(white.centre.size()), jumps_(mixing_.widths().size()),
        burnin_(burnin), swept_factor_(problem.multipliers ? 0 : problem.integrated),
        along0_(problem.n), along1_(problem.n) {
    for (const Whitening::Path& path : white.paths) paths_.emplace_back(white, path, side_);
    state_.seed() = static_cast<double>(seed);
    state_.chain() = chain;
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
    archive.part(rows_.f());
    archive.part(mixing_.widths(), [&](ConstVecRef saved) { mixing_.restore(saved); });
    archive.part(jumps_.others);
    archive.part(jumps_.own);
    archive.part(parameters_.learnt(), [&](ConstVecRef saved) { parameters_.restore(saved); });
    if (archive.reads()) follow();
  }

  void make_sweep(Host& host) override {
    state_.sweep() = static_cast<double>(sweeps_ + 1);
    if (sweeps_ % kRefresh == 0) rows_.find(state_);
    Draws random(state_.key(), Purpose::rows, 0);
    const bool learning = 2 * sweeps_ >= burnin_ && sweeps_ < burnin_;
    Vec jumped;
    if (learning) jumped = -mixing_.place(state_);
    run_ellipses(host);
    if (!paths_.empty() && sweeps_ % kPathEvery == 0)
      paths_[sweeps_ / kPathEvery % paths_.size()].run(state_, rows_, random);
    Mat group_moments = rows_.slide(state_, sweeps_ % kOthersEvery == 0 ? -1 : swept_factor_);
    side_.draw_priors(state_, group_moments);
    parameters_.run(state_, [&] { return rows_.log_likelihood(state_); }, sweeps_ < burnin_);
    if (learning) jumped += mixing_.place(state_);
    mixing_.run(state_, rows_, group_moments, sweeps_ < burnin_, sweeps_ % kSeldom == 0, host);
    ++sweeps_;
    if (learning) learn(jumped);
  }

  // Which of these moves the others mostly do without.
  void learn(const Vec& jumped) {
    jumps_.add(jumped, mixing_.shifts());
    for (Index k = 0; sweeps_ == burnin_ && k < jumped.size(); ++k)
      if (jumps_.needless(k)) mixing_.make_seldom(k);
  }

  // ---- ellipses

  void run_ellipses(Host& host) {
    const Vec dense = side_.precision(state_);
    Draws random(state_.key(), Purpose::dense, 0);
    Vec x(p_ + rows_.effects().size());
    x << state_.mean(), rows_.effects();
    for (Index k = 0; k < z_.size(); ++k) z_[k] = x[white_.at[k]] - white_.centre[k];
    solve_lower(white_.root, z_);
    double value = rows_.value();
    for (Index first = 0; first < z_.size(); first += kTogether) {
      if (host.interrupted()) throw Interrupted();
      move_block(first, std::min(kTogether, z_.size() - first), dense, x, value, random);
    }
    state_.mean() = x.head(p_);
    rows_.effects() = x.tail(x.size() - p_);
  }

  void move_block(Index first, Index size, const Vec& dense, Vec& x, double& value, Draws& random) {
    const auto z = z_.segment(first, size);
    Vec nu(size);
    for (Index k = 0; k < size; ++k) nu[k] = random.normal();
    const Vec x0 = white_.axes.middleCols(first, size) * z,
              x1 = white_.axes.middleCols(first, size) * nu;
    const Vec weighed0 = rows_.weigh(dense, state_.group_prior(), x0),
              weighed1 = rows_.weigh(dense, state_.group_prior(), x1);
    kernels().combine(turn_.col(first).data(), turn_.rows(), z.data(), nu.data(), turn_.rows(),
                      size, along0_.data(), along1_.data());
    move_white({nu, x0, x1, weighed0, weighed1, along0_, along1_}, rows_, z_.segment(first, size), x,
               value, random);
  }

  // Chains start apart.
  void disperse() {
    Draws random(state_.key(), Purpose::move, 0);
    Vec x = white_.x, z(z_.size());
    for (Index k = 0; k < z.size(); ++k) z[k] = random.normal();
    x += white_.axes * z;
    state_.mean() = x.head(p_);
    rows_.effects() = x.tail(x.size() - p_);
    side_.fix_priors(state_, white_.theta);
    for (const PriorPart& part : side_.parts())
      part.slot.prior->scale(side_.hyper(state_, part), std::exp(0.5 * random.normal()));
    follow();
  }

  // What is made of the hyper-parameters.
  void follow() {
    side_.refresh(state_);
    rows_.follow(state_);
  }

  Index p_;
  const Whitening& white_;
  const Mat& turn_;  // (n, d) by what f changes with z
  Coefficients side_;
  State state_;
  Predictors rows_;
  Mixing mixing_;
  ParameterMoves parameters_;
  std::vector<PathMove> paths_;
  Vec z_;       // (d)
  SquaredJumps jumps_;  // of mixing's moves
  Index burnin_, sweeps_ = 0;
  Index swept_factor_;
  Vec along0_, along1_;  // (n)
};

class Slice : public Sampler {
 public:
  explicit Slice(const Params& params)
      : integrate_(params.flag("integrate")) {}

  Use use() const override { return Use::value; }
  Use prior_use() const override { return Use::expected; }

  void prepare(const Problem& problem, const MakeDraws& make_source, int threads,
               Host& host) override {
    const Index d = problem.integrated >= 0 && !grouped(problem)
                        ? PriorDensity(problem).coefficients() : problem.columns();
    if (static_cast<double>(problem.n) * static_cast<double>(d) > kMostNumbers)
      throw InvalidInput("engine", "Rows times coefficients are too many for slice sampling, more "
                                   "than 1.3e8. Under the pseudo-likelihood use engine_gibbs().");
    if (varies(problem) && problem.group_coefficients() > 0)
      throw InvalidInput("formula", "Slice sampling takes no group effects where a term has "
                                   "parameters that are inferred.");
    if (grouped(problem) || moving(problem)) return;
    check_use(*problem.latent, Use::marginal);
    white_ = whiten(problem, make_source, threads, host);
    if (!is_joint(problem) && !problem.latent->any())
      turn_ = Predictors(problem).changes(white_.axes);
  }

  std::unique_ptr<Chain> start(const Problem& problem, const MakeDraws&, int threads,
                               std::uint64_t seed, int chain, Index burnin) const override {
    if (grouped(problem)) return grouped_chain(problem, seed, chain, burnin);
    if (moving(problem)) return moving_chain(problem, seed, chain, burnin);
    if (problem.latent->any()) return latent_chain(problem, white_, seed, chain, burnin);
    if (is_joint(problem)) return joint_chain(problem, white_, threads, seed, chain, burnin);
    return std::unique_ptr<Chain>(new SliceChain(problem, white_, turn_, seed, chain, burnin));
  }

 private:
  // Grouping factors have a chain of their own, unless there are so many coefficients that forming
  // their precision in every sweep would cost more than it gains.
  bool grouped(const Problem& problem) const {
    if (problem.group_coefficients() == 0 || problem.latent->any() || integrates(problem))
      return false;
    return problem.columns() <= kMostGrouped || (!problem.multipliers && problem.integrated < 0);
  }
  // A design that moves with few numbers, of more columns than a point can have.
  bool moving(const Problem& problem) const {
    return design_numbers(problem) > 0 && problem.columns() > kMostIntegrated;
  }
  bool is_joint(const Problem& problem) const { return integrates(problem) || varies(problem); }
  bool integrates(const Problem& problem) const {
    if (!integrate_ || problem.integrated < 0) return false;
    const PriorDensity prior(problem);
    if (prior.coefficients() + prior.free() > kMostIntegrated) return false;
    const Index effects = problem.multipliers ? problem.effects()
                                              : problem.sparse.terms[problem.integrated].effects;
    return effects == 1 && !problem.likelihood->integral()->line();
  }

  bool integrate_;  // wherever there is a closed form
  Whitening white_;
  Mat turn_;  // (n, d) shared by all chains
};

const Register<Sampler, Slice> slice_entry("slice");

}  // namespace
}  // namespace bsvm
