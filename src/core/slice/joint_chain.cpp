// Slice sampling of (b, theta) as a point, a factor's effects integrated out (models.md, rows 24 and
// 26) or with a design that moves with theta.
// Few dimensions and a smooth density: ellipses over a few whitened coordinates at a time; and each
// coordinate along its own axis, for tails that are not a Gaussian's: in every sweep those that
// ellipses hardly move, the others now and then.
#include "joint_chain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "chain/squared_jumps.hpp"
#include "coefficients/coefficients.hpp"
#include "coefficients/prior_density.hpp"
#include "joint_density.hpp"
#include "linalg/dense.hpp"
#include "random/ellipse.hpp"
#include "random/slice.hpp"

namespace bsvm {
namespace {

constexpr Index kJointTogether = 5;  // coordinates of an ellipse

// Sweeps from one move along an axis to the next: at first, and where ellipses get as far.
constexpr double kLearning = 8, kJointSeldom = 128;

class JointChain : public Chain {
 public:
  JointChain(const Problem& problem, const Whitening& white, int threads, std::uint64_t seed,
                  int chain, Index burnin)
      : problem_(problem), at_(white.at), swept_(white.swept), prior_(problem),
        density_(joint_density(problem, threads)), side_(problem), state_(side_.start(Vec())),
        d_(prior_.coefficients()), h_(prior_.free()), centre_(d_ + h_),
        root_(positive_factor(white.joint).lower()),
        effects_(Vec::Zero(static_cast<Index>(swept_.size()))),
        pause_(Vec::Constant(d_ + h_, kLearning)), jumps_(d_ + h_),
        burnin_(burnin) {
    centre_ << white.centre, white.theta;
    state_.seed() = static_cast<double>(seed);
    state_.chain() = chain;
    Draws random(state_.key(), Purpose::move, 0);
    int tries = 0;
    do x_ = centre_ + root_ * normals(d_ + h_, random);
    while (!std::isfinite(log_prior(x_)) && ++tries < 100);
  }

  Index sweeps() const override { return sweeps_; }

  void read(Draw& draw) const override {
    State state = state_;
    side_.fix_priors(state, x_.tail(h_));
    draw.hyper = side_.drawn(state);
    Vec all(problem_.columns() + problem_.group_coefficients());
    for (Index k = 0; k < d_; ++k) all[at_[k]] = x_[k];
    for (Index k = 0; k < effects_.size(); ++k) all[swept_[k]] = effects_[k];
    draw.coefficients = draw.expected = side_.outside_mean(all.head(problem_.columns()));
    draw.effects = all.tail(problem_.group_coefficients());
    side_.to_outside(draw.effects);
    draw.expected_effects = draw.effects;
  }

 private:
  static Vec normals(Index size, Draws& random) {
    Vec out(size);
    for (Index k = 0; k < size; ++k) out[k] = random.normal();
    return out;
  }

  double log_prior(const Vec& x) const {
    constexpr double none = -std::numeric_limits<double>::infinity();
    for (const PriorDensity::Part& part : prior_.parts())
      if (part.size == 1 && !possible_variance(std::exp(2 * x[d_ + part.first]))) return none;
    const double prior = prior_.log_density(x.head(d_), x.tail(h_));
    return std::isfinite(prior) ? prior : none;
  }

  double log_density(const Vec& x, Host& host) {
    const double prior = log_prior(x);
    if (!std::isfinite(prior)) return prior;
    return prior + density_->rows(x, host);
  }

  // The same, and the effects drawn at x, which costs little more. A sweep's last call is at where
  // it ends.
  double value_and_draw(const Vec& x, Host& host) {
    const double prior = log_prior(x);
    if (!std::isfinite(prior)) return prior;
    return prior + density_->draw(x, state_.key(), effects_, host);
  }

  void visit(Archive& archive) override {
    archive.count(sweeps_, kMostSweeps);
    archive.part(Vec::Constant(1, value_), [&](ConstVecRef saved) { value_ = saved[0]; });
    archive.part(x_);
    archive.part(effects_);
    archive.part(pause_, [&](ConstVecRef saved) {
      pause_ = saved.cwiseMax(1).cwiseMin(kJointSeldom);
    });
    archive.part(jumps_.others);
    archive.part(jumps_.own);
  }

  void make_sweep(Host& host) override {
    state_.sweep() = static_cast<double>(sweeps_ + 1);
    Draws random(state_.key(), Purpose::dense, 0);
    if (sweeps_ == 0 || x_.size() == 0) value_ = value_and_draw(x_, host);
    const Vec before = x_;
    for (Index first = 0; first < x_.size(); first += kJointTogether)
      move_block(first, std::min(kJointTogether, x_.size() - first), random, host);
    const Vec between = x_;
    for (Index k = 0; k < x_.size(); ++k)
      if (sweeps_ % static_cast<Index>(pause_[k]) == 0) move_along(k, random, host);
    if (x_ != between) value_ = value_and_draw(x_, host);
    if (2 * sweeps_ >= burnin_ && sweeps_ < burnin_) learn(before, between);
    ++sweeps_;
  }

  void learn(const Vec& before, const Vec& between) {
    if (sweeps_ % static_cast<Index>(kLearning) == 0) jumps_.add(between - before, x_ - between);
    for (Index k = 0; sweeps_ + 1 == burnin_ && k < x_.size(); ++k)
      if (jumps_.own[k] > 0) pause_[k] = jumps_.needless(k) ? kJointSeldom : 1;
  }

  void move_block(Index first, Index size, Draws& random, Host& host) {
    const Vec z = solved_lower(root_, x_ - centre_).segment(first, size);
    const Vec nu = normals(size, random);
    const auto columns = root_.middleCols(first, size);
    const Vec x0 = columns * z, x1 = columns * nu;
    double c = 1, s = 0, trial = value_;
    const auto whitened = [&](double to_c, double to_s) {
      return 0.5 * (to_c * z + to_s * nu).squaredNorm();
    };
    ellipse([&](double to_c, double to_s) {
      trial = value_and_draw(x_ + (to_c - 1) * x0 + to_s * x1, host);
      return trial + whitened(to_c, to_s);
    }, value_ + whitened(1, 0), random, c, s);
    if (s == 0 && c == 1) trial = value_and_draw(x_, host);
    x_ += (c - 1) * x0 + s * x1;
    value_ = trial;
  }

  void move_along(Index k, Draws& random, Host& host) {
    Vec x = x_;
    const double width = 2.5 * root_.row(k).norm();
    double last = value_;
    const double t = slice([&](double by) {
      x[k] = x_[k] + by;
      return last = by == 0 ? value_ : log_density(x, host);
    }, width, random);
    if (t == 0) return;
    x_[k] += t;
    value_ = last;  // a slice ends where it asked last
  }

  const Problem& problem_;
  const std::vector<Index>& at_;
  const std::vector<Index>& swept_;
  PriorDensity prior_;
  std::unique_ptr<JointDensity> density_;
  Coefficients side_;
  State state_;
  Index d_, h_;
  Vec centre_;
  Mat root_;
  Vec x_, effects_;     // (d + h), and the integrated effects
  double value_ = 0;    // log density at x
  Vec pause_;           // (d + h) sweeps from one move along an axis to the next
  SquaredJumps jumps_;         // along axes
  Index burnin_, sweeps_ = 0;
};

}  // namespace

std::unique_ptr<Chain> joint_chain(const Problem& problem, const Whitening& white, int threads,
                                   std::uint64_t seed, int chain, Index burnin) {
  return std::unique_ptr<Chain>(new JointChain(problem, white, threads, seed, chain, burnin));
}

}  // namespace bsvm
