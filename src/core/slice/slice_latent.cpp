// Slice sampling with what is unknown in the design integrated out (models.md, rows 24 and 27). A
// sweep is
//
//   coefficients  given the latent's global part, by ellipses over a few whitened coordinates at a
//                 time: f of a row is normal about what is linear in b, its variance is quadratic
//   variances     given the coefficients, and together with them (mixing.hpp)
//   parameters    of the likelihood, given the coefficients, with the entries integrated out
//   entries       f given y, and the unknown entries given f: from their exact conditional,
//                 since the moves above have them integrated out
//   model         of the predictors, given these completed
#include "slice_latent.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "chain/mixing.hpp"
#include "chain/parameter_moves.hpp"
#include "linalg/dense.hpp"
#include "linalg/kernels.hpp"
#include "model/current_likelihood.hpp"
#include "model/gather.hpp"
#include "random/ellipse.hpp"

namespace bsvm {
namespace {

constexpr Index kLatentTogether = 6;  // coordinates of an ellipse
constexpr Index kLatentSeldom = 16;   // sweeps from one move along single coefficients to the next

// All rows, and the log-likelihood along lines and ellipses of b.
class LatentLines : public LineSource {
 public:
  explicit LatentLines(const Problem& problem)
      : problem_(problem), likelihood_(*problem.likelihood), p_(problem.columns()), n_(problem.n),
        partition_(cut(nullptr, n_, 0, p_)), whole_{0, n_, 0, 0},
        unknown_(problem.latent->rows(problem, partition_)), scratch_(unknown_->scratch()),
        block_(p_, 0, n_, 0), y_(n_), weight_(n_), f_(n_), slope_(Arr::Zero(n_)),
        second_(Arr::Zero(n_)),
        b_(Vec::Zero(p_)) {
    for (Index i = 0; i < n_; ++i) y_[i] = problem.y[i];
    weight_ = problem.weight ? Arr(Eigen::Map<const Arr>(problem.weight, n_)) : Arr::Ones(n_);
    for (Index k = 0; k < unknown_->count(); ++k) {
      rows_.push_back(unknown_->place(k));
      shared_.push_back(weight_[rows_.back()]);
      weight_[rows_.back()] = 0;  // of what is not a function of f
    }
    gather();
  }

  // The design at this State, and f there.
  void find(const State& state) {
    likelihood_.follow(state);
    unknown_->prepare(state, Use::marginal);
    gather();
    unknown_->expect(whole_, block_, *scratch_);
    b_ = state.mean();
    kernels().dots(block_.c, b_.data(), p_, n_, block_.m.data());
    f_ = block_.m.head(n_);
  }

  double value() { return along_two(0, Vec::Zero(p_), 0, Vec::Zero(p_)); }

  // Directions of an ellipse, and the log-likelihood at b + s x0 + t x1.
  void aim_two(const Vec& x0, const Vec& x1) {
    change(x0, slope_);
    change(x1, second_);
  }
  double along_two(double s, const Vec& x0, double t, const Vec& x1) {
    double sum = likelihood_->over(
        {y_.data(), f_.data(), slope_.data(), second_.data(), weight_.data(), n_}, s, t);
    const Vec at = b_ + s * x0 + t * x1;
    unknown_->find_spreads(at);
    for (size_t k = 0; k < rows_.size(); ++k) {
      const Index i = rows_[k];
      sum += averaged(k, f_[i] + s * slope_[i] + t * second_[i]);
    }
    return sum;
  }
  void move_two(double s, const Vec& x0, double t, const Vec& x1) {
    f_ += s * slope_ + t * second_;
    b_ += s * x0 + t * x1;
  }

  void aim(const Line& line) override {
    line_ = line.dense;
    change(line_, slope_);
    second_.setZero();
  }
  double along(double t) override { return along_two(t, line_, 0, line_); }
  void move(double t) override { move_two(t, line_, 0, line_); }
  double log_likelihood(const State& state) override {
    likelihood_.follow(state);
    return value();
  }

  // The entries given y, b and the global part; then what they say of the latter.
  void draw(const State& state, RowSums& out) {
    unknown_->find_spreads(b_);
    for (size_t k = 0; k < rows_.size(); ++k) {
      const Index i = rows_[k], own = static_cast<Index>(k);
      Draws random(state.key(), Purpose::unknown, static_cast<std::uint64_t>(i) + 1);
      const double v = unknown_->spread(own);
      double away = 0;
      if (v > 0)
        away = likelihood_->draw_averaged(y_[i], f_[i], v, shared_[k], random) - f_[i];
      unknown_->draw_given(own, state, away, random, *scratch_);
    }
    out.clear();
    unknown_->add(whole_, block_, RowTerms(), *scratch_, out);
    for (size_t lane = 0; lane < partition_.lanes.size(); ++lane)
      unknown_->add_lane(static_cast<Index>(lane), state, out);
  }

  Vec drawn() const { return unknown_->drawn(); }
  void restore(ConstVecRef drawn) { unknown_->restore(drawn); }

 private:
  // Rows with their offsets; unknown entries are put in later.
  void gather() {
    gather_design(problem_, partition_.order.data(), n_, block_.own.c);
    block_.own.offset =
        problem_.offset ? Arr(Eigen::Map<const Arr>(problem_.offset, n_)) : Arr::Zero(n_);
    block_.look_at(block_.own, 0, n_);
  }

  void change(const Vec& x, Arr& out) {
    out.setZero();
    kernels().dots(block_.c, x.data(), p_, n_, out.data());
  }

  double averaged(size_t k, double f) const {
    const double v = unknown_->spread(static_cast<Index>(k));
    return likelihood_->averaged(y_[rows_[k]], f, std::max(v, 1e-24), shared_[k]).value;
  }

  const Problem& problem_;
  CurrentLikelihood likelihood_;
  Index p_, n_;
  Partition partition_;
  BlockRange whole_;
  std::unique_ptr<LatentRows> unknown_;
  std::unique_ptr<LatentBlock> scratch_;
  RowBlock block_;
  Arr y_, weight_;               // (n); weight zero where an entry is unknown
  Arr f_, slope_, second_;  // (n) f, and its changes along lines
  Vec b_, line_;
  std::vector<Index> rows_;      // with unknown entries
  std::vector<double> shared_;   // and their weights
};

class LatentChain : public Chain {
 public:
  LatentChain(const Problem& problem, const Whitening& white, std::uint64_t seed, int chain,
               Index burnin)
      : white_(white), side_(problem), state_(side_.start(Vec())), rows_(problem),
        mixing_(problem, side_, false), parameters_(side_), sums_(state_.layout),
        p_(problem.columns()), burnin_(burnin) {
    for (Index j = 0; j < p_; ++j) mixing_.make_seldom(mixing_.widths().size() - 1 - j);
    state_.seed() = static_cast<double>(seed);
    state_.chain() = chain;
    Draws random(state_.key(), Purpose::move, 0);
    state_.mean() = white.x + white.axes * normals(white.centre.size(), random);
    side_.fix_priors(state_, white.theta);
    for (const PriorPart& part : side_.parts())
      part.slot.prior->scale(side_.hyper(state_, part), std::exp(0.5 * random.normal()));
    side_.refresh(state_);
  }

  Index sweeps() const override { return sweeps_; }

  void read(Draw& draw) const override {
    draw.coefficients = draw.expected = side_.outside_mean(state_.mean());
    draw.hyper = side_.drawn(state_);
    draw.unknowns = rows_.drawn();
    draw.law = side_.latent().drawn(state_);
  }

 private:
  static Vec normals(Index size, Draws& random) {
    Vec out(size);
    for (Index k = 0; k < size; ++k) out[k] = random.normal();
    return out;
  }

  void visit(Archive& archive) override {
    archive.count(sweeps_, kMostSweeps);
    archive.part(state_.mean());
    archive.part(state_.hyper());
    archive.part(state_.latent());
    archive.part(mixing_.widths(), [&](ConstVecRef saved) { mixing_.restore(saved); });
    archive.part(parameters_.learnt(), [&](ConstVecRef saved) { parameters_.restore(saved); });
    archive.part(rows_.drawn(), [&](ConstVecRef saved) { rows_.restore(saved); });
    if (archive.reads()) side_.refresh(state_);
  }

  void make_sweep(Host& host) override {
    state_.sweep() = static_cast<double>(sweeps_ + 1);
    rows_.find(state_);
    run_ellipses(host);
    side_.draw_priors(state_, Mat());
    parameters_.run(state_, [&] { return rows_.log_likelihood(state_); }, sweeps_ < burnin_);
    Mat nothing;
    mixing_.run(state_, rows_, nothing, sweeps_ < burnin_, sweeps_ % kLatentSeldom == 0, host);
    rows_.draw(state_, sums_);
    side_.latent().draw(sums_, state_);
    ++sweeps_;
  }

  // As in slice.cpp: the slice's density is with respect to what the whitening's Gaussian is.
  void run_ellipses(Host& host) {
    Draws random(state_.key(), Purpose::dense, 0);
    const Vec precision = side_.precision(state_);
    const auto prior = [&](const Vec& b) { return -0.5 * b.cwiseAbs2().dot(precision); };
    Vec b = state_.mean();
    Vec z = solved_lower(white_.root, b - white_.centre);
    double value = rows_.value();
    for (Index first = 0; first < z.size(); first += kLatentTogether) {
      if (host.interrupted()) throw Interrupted();
      const Index size = std::min(kLatentTogether, z.size() - first);
      const Vec here = z.segment(first, size), nu = normals(size, random);
      const auto axes = white_.root.middleCols(first, size);
      const Vec x0 = axes * here, x1 = axes * nu;
      rows_.aim_two(x0, x1);
      const auto whitened = [&](double c, double s) {
        return 0.5 * (c * here + s * nu).squaredNorm();
      };
      double c = 1, s = 0, last = value;
      ellipse([&](double to_c, double to_s) {
        last = rows_.along_two(to_c - 1, x0, to_s, x1);
        return last + prior(b + (to_c - 1) * x0 + to_s * x1) + whitened(to_c, to_s);
      }, value + prior(b) + whitened(1, 0), random, c, s);
      if (s == 0 && c == 1) continue;
      value = last;
      rows_.move_two(c - 1, x0, s, x1);
      b += (c - 1) * x0 + s * x1;
      z.segment(first, size) = c * here + s * nu;
    }
    state_.mean() = b;
  }

  const Whitening& white_;
  Coefficients side_;
  State state_;
  LatentLines rows_;
  Mixing mixing_;
  ParameterMoves parameters_;
  RowSums sums_;
  Index p_, burnin_, sweeps_ = 0;
};

}  // namespace

std::unique_ptr<Chain> latent_chain(const Problem& problem, const Whitening& white,
                                    std::uint64_t seed, int chain, Index burnin) {
  return std::unique_ptr<Chain>(new LatentChain(problem, white, seed, chain, burnin));
}

}  // namespace bsvm
