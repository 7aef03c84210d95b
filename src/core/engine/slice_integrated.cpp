// Slice sampling of (b, theta) with a factor's effects integrated out (models.md, rows 24 and 26).
// Few dimensions and a smooth density: ellipses over a few whitened coordinates at a time; and now
// and then each theta along its own axis, whose tails are not a Gaussian's.
#include "slice_integrated.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../error.hpp"
#include "../random/ellipse.hpp"
#include "../random/slice.hpp"
#include "../rows/integrated_source.hpp"
#include "coefficients.hpp"
#include "prior_density.hpp"
#include "positive_factor.hpp"

namespace bsvm {
namespace {

constexpr Index kTogether = 5;   // coordinates of an ellipse
constexpr Index kAxesEvery = 16;  // sweeps

class IntegratedChain : public Chain {
 public:
  IntegratedChain(const Problem& problem, const Whitening& white, int threads, std::uint64_t seed,
                  int chain)
      : problem_(problem), at_(white.at), prior_(problem), source_(problem, threads),
        side_(problem), state_(side_.start(Vec())), d_(prior_.coefficients()), h_(prior_.free()),
        centre_(d_ + h_), root_(positive_factor(white.joint).matrixL()),
        sums_(d_ + source_.free()) {
    centre_ << white.centre, white.theta;
    state_.seed() = static_cast<double>(seed);
    state_.chain() = chain;
    Draws random(state_.key(), Purpose::move, 0);
    x_ = centre_ + root_ * normals(d_ + h_, random);
  }

  void sweep(Host& host) override {
    const Vec before = x_;
    const double value = value_;
    try {
      make_sweep(host);
    } catch (const Interrupted&) {
      x_ = before;
      value_ = value;
      throw;
    }
  }

  Index sweeps() const override { return sweeps_; }

  void read(Draw& draw) const override {
    State state = state_;
    side_.fix_priors(state, x_.tail(h_));
    draw.hyper = side_.drawn(state);
    Vec all(problem_.columns() + problem_.group_coefficients());
    for (Index k = 0; k < d_; ++k) all[at_[k]] = x_[k];
    put_effects(all);
    draw.coefficients = draw.expected = side_.outside_mean(all.head(problem_.columns()));
    draw.effects = all.tail(problem_.group_coefficients());
    side_.to_outside(draw.effects);
    draw.expected_effects = draw.effects;
  }

  Vec save() const override {
    Vec out(2 + x_.size());
    out << static_cast<double>(sweeps_), value_, x_;
    return out;
  }

  void restore(ConstVecRef saved) override {
    if (saved.size() != 2 + x_.size() || !saved.allFinite())
      throw InvalidInput("checkpoint", "The checkpoint is of another model.");
    sweeps_ = static_cast<Index>(saved[0]);
    value_ = saved[1];
    x_ = saved.tail(x_.size());
  }

 private:
  static Vec normals(Index size, Draws& random) {
    Vec out(size);
    for (Index k = 0; k < size; ++k) out[k] = random.normal();
    return out;
  }

  Vec point(const Vec& x) const {
    Vec out(d_ + prior_.own());
    out << x.head(d_), x.segment(d_ + prior_.own_first(), prior_.own());
    return out;
  }

  double log_density(const Vec& x, Host& host) {
    constexpr double none = -std::numeric_limits<double>::infinity();
    for (const PriorDensity::Part& part : prior_.parts())
      if (part.size == 1 && !possible_variance(std::exp(2 * x[d_ + part.first]))) return none;
    const double prior = prior_.log_density(x.head(d_), x.tail(h_));
    if (!std::isfinite(prior)) return none;
    source_.sums(point(x), Depth::value, sums_, host);
    return prior + sums_.value();
  }

  void make_sweep(Host& host) {
    state_.sweep() = static_cast<double>(sweeps_ + 1);
    Draws random(state_.key(), Purpose::dense, 0);
    if (sweeps_ == 0) value_ = log_density(x_, host);
    for (Index first = 0; first < x_.size(); first += kTogether)
      move_block(first, std::min(kTogether, x_.size() - first), random, host);
    for (Index k = 0; sweeps_ % kAxesEvery == 0 && k < h_; ++k) move_theta(k, random, host);
    ++sweeps_;
  }

  void move_block(Index first, Index size, Draws& random, Host& host) {
    const Vec z = root_.triangularView<Eigen::Lower>().solve(x_ - centre_).segment(first, size);
    const Vec nu = normals(size, random);
    const auto columns = root_.middleCols(first, size);
    const Vec x0 = columns * z, x1 = columns * nu;
    double c = 1, s = 0, trial = value_;
    const auto whitened = [&](double to_c, double to_s) {
      return 0.5 * (to_c * z + to_s * nu).squaredNorm();
    };
    ellipse([&](double to_c, double to_s) {
      trial = log_density(x_ + (to_c - 1) * x0 + to_s * x1, host);
      return trial + whitened(to_c, to_s);
    }, value_ + whitened(1, 0), random, c, s);
    if (s == 0 && c == 1) return;
    x_ += (c - 1) * x0 + s * x1;
    value_ = trial;
  }

  void move_theta(Index k, Draws& random, Host& host) {
    Vec x = x_;
    const double width = 2.5 * root_.row(d_ + k).norm();
    const double t = slice([&](double by) {
      x[d_ + k] = x_[d_ + k] + by;
      return by == 0 ? value_ : log_density(x, host);
    }, width, random);
    x_[d_ + k] += t;
    if (t != 0) value_ = log_density(x_, host);
  }

  // The integrated effects, drawn given the rest: those places of all that at_ leaves.
  void put_effects(Vec& all) const {
    Host nobody;
    const Vec own = source_.draw(point(x_), state_.key(), nobody);
    std::vector<bool> taken(all.size(), false);
    for (Index k : at_) taken[k] = true;
    for (Index k = 0, next = 0; k < all.size(); ++k)
      if (!taken[k]) all[k] = own[next++];
  }

  const Problem& problem_;
  const std::vector<Index>& at_;
  PriorDensity prior_;
  mutable IntegratedSource source_;  // holds scratch
  Coefficients side_;
  State state_;
  Index d_, h_;
  Vec centre_;
  Mat root_;
  RowSums sums_;
  Vec x_;               // (d + h)
  double value_ = 0;    // log density at x
  Index sweeps_ = 0;
};

}  // namespace

std::unique_ptr<Chain> integrated_chain(const Problem& problem, const Whitening& white, int threads,
                                        std::uint64_t seed, int chain) {
  return std::unique_ptr<Chain>(new IntegratedChain(problem, white, threads, seed, chain));
}

}  // namespace bsvm
