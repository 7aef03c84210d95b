// Slice sampling with a design that moves with parameters. A Gaussian is near the posterior of the
// dense coefficients b at any value of these, each row's log-likelihood replaced by a quadratic
// (chain/design_moves.hpp), and a sweep is
//
//   ellipses    b = m + L^{-T} z a few z at a time, at the parameters there are
//   variances   given b
//   parameters  given b: of the likelihood, and of blocks, for rows that say little
//   design      parameters of blocks and variances, with b following
//   scales      each block with its variance, and everything at once (chain/mixing.hpp), for classes
//               that are nearly separated
//
// Nothing is approximated: each move leaves the posterior itself as it is.
#include "slice_moving.hpp"

#include <cmath>

#include "base/error.hpp"
#include "chain/design_moves.hpp"
#include "chain/mixing.hpp"
#include "chain/parameter_moves.hpp"
#include "linalg/dense.hpp"
#include "white_ellipse.hpp"

namespace bsvm {
namespace {

constexpr Index kMovingTogether = 6;  // coordinates of an ellipse
constexpr Index kMovingRefresh = 64;  // sweeps after which f is computed afresh
constexpr int kFirstSteps = 4;        // of a Gaussian and its rows' quadratics, before the first sweep

class MovingChain : public Chain {
 public:
  MovingChain(const Problem& problem, std::uint64_t seed, int chain, Index burnin)
      : side_(problem, 0, false), state_(side_.start(Vec())), rows_(problem),
        parameters_(side_), design_(problem, side_), mixing_(problem, side_, true),
        burnin_(burnin), one_(Vec::Ones(problem.n)) {
    // Coefficients have moved already.
    for (Index k = mixing_.widths().size() - problem.columns(); k < mixing_.widths().size(); ++k)
      mixing_.make_seldom(k);
    state_.seed() = static_cast<double>(seed);
    state_.chain() = chain;
  }

  Index sweeps() const override { return sweeps_; }

  void read(Draw& draw) const override {
    draw.coefficients = draw.expected = side_.outside_mean(state_.mean());
    draw.hyper = side_.drawn(state_);
  }

 private:
  void visit(Archive& archive) override {
    archive.count(sweeps_, kMostSweeps);
    archive.part(state_.mean());
    archive.part(state_.hyper());
    archive.part(rows_.f());
    archive.part(parameters_.learnt(), [&](ConstVecRef saved) { parameters_.restore(saved); });
    archive.part(mixing_.widths(), [&](ConstVecRef saved) { mixing_.restore(saved); });
    archive.part(design_.learnt(), [&](ConstVecRef saved) { design_.restore(saved); });
    if (!archive.reads()) return;
    side_.refresh(state_);
    rows_.follow(state_);
    if (sweeps_ > 0) rows_.look(state_);
  }

  void make_sweep(Host& host) override {
    if (host.interrupted()) throw Interrupted();
    if (sweeps_ == 0) begin(host);
    state_.sweep() = static_cast<double>(sweeps_ + 1);
    if (sweeps_ % kMovingRefresh == 0) rows_.find(state_);
    const bool tune = sweeps_ < burnin_;
    move_coefficients(host);
    side_.draw_priors(state_, Mat());
    parameters_.run(state_, [&] { return rows_.log_likelihood(state_); }, tune);
    design_.run(state_, rows_, tune, host);
    Mat no_groups;
    mixing_.run(state_, rows_, no_groups, tune, false, host);
    ++sweeps_;
    if (tune) design_.learn(rows_, sweeps_);
  }

  // Chains start apart, by draws of a sweep of their own.
  void begin(Host& host) {
    state_.sweep() = 0;
    Draws random(state_.key(), Purpose::move, 0);
    for (const PriorPart& part : side_.parts())
      part.slot.prior->scale(side_.hyper(state_, part), std::exp(0.5 * random.normal()));
    side_.refresh(state_);
    rows_.find(state_);
    for (int k = 0; k < kFirstSteps; ++k) {
      const Vec others = design_.others(state_, rows_);
      design_.quadratics().set(rows_.likelihood(), rows_.f(), one_);
      RowsGaussian gaussian;
      if (!design_.find(state_, rows_, others, host, gaussian)) refuse_precision();
      state_.mean() = gaussian.mean;
      rows_.find(state_);
    }
  }

  //   z      (p)     b = m + L^{-T} z
  //   axes   (p, p)  L^{-T};  turn (n, p): f's change with z
  void move_coefficients(Host& host) {
    RowsGaussian gaussian;
    if (!design_.find(state_, rows_, design_.others(state_, rows_), host, gaussian))
      refuse_precision();
    const Index p = state_.mean().size();
    const Vec prior = side_.precision(state_);
    Mat axes = Mat::Identity(p, p);
    solve_transposed(gaussian.lower, axes);
    const Mat turn = rows_.design() * axes;
    Vec x = state_.mean(), z = transposed_product(gaussian.lower, x - gaussian.mean);
    Draws random(state_.key(), Purpose::dense, 0);
    double value = rows_.value();
    for (Index first = 0; first < p; first += kMovingTogether) {
      if (host.interrupted()) throw Interrupted();
      const Index size = std::min(kMovingTogether, p - first);
      Vec nu(size);
      for (Index k = 0; k < size; ++k) nu[k] = random.normal();
      const Eigen::Ref<const Mat> own = axes.middleCols(first, size),
                                  along = turn.middleCols(first, size);
      auto here = z.segment(first, size);
      const Vec x0 = own * here, x1 = own * nu, along0 = along * here, along1 = along * nu;
      const Vec weighed0 = prior.cwiseProduct(x0), weighed1 = prior.cwiseProduct(x1);
      move_white({nu, x0, x1, weighed0, weighed1, along0, along1}, rows_, here, x, value, random);
    }
    state_.mean() = x;
  }

  Coefficients side_;
  State state_;
  Predictors rows_;
  ParameterMoves parameters_;
  DesignMoves design_;
  Mixing mixing_;
  Index burnin_, sweeps_ = 0;
  Vec one_;
};

}  // namespace

std::unique_ptr<Chain> moving_chain(const Problem& problem, std::uint64_t seed, int chain,
                                    Index burnin) {
  return std::unique_ptr<Chain>(new MovingChain(problem, seed, chain, burnin));
}

}  // namespace bsvm
