#pragma once
#include <cmath>

#include "base/params.hpp"
#include "base/registry.hpp"
#include "base/types.hpp"
#include "base/use.hpp"
#include "random/draws.hpp"
#include "special/functions.hpp"

namespace bsvm {

// Second moments of a block of coefficients: under q, or of one draw of them.
struct Moments {
  Vec square;         // (m) E b_j^2; for a group effect one number, summed over levels;
                      // of q joint effects (q q) the sum over levels of E u u'
  double count = 0;   // coefficients of the block, the unseen included
  double unseen = 0;  // those of them that no row can see (not in `square`):
                      // a priori independent of the rest, N(0, 1/precision) under q

  // (m) or none. For a bold step: by which power of the prior variance E b_j^2 would change with
  // it.
  Vec follow = Vec();

  double seen() const { return count - unseen; }
};

// What a point estimate minimises: -log p(b | hyper) = sum_j |b_j / scale_j|^power + a constant.
struct Penalty {
  double power;  // in (0, 2]
  Vec scale;     // (m)
};

// A prior on a block of coefficients, b_j ~ N(0, variance_j) given
// hyper-parameters of its own; a joint prior, on the q effects of a level together,
// u ~ N(0, Sigma). All it keeps between passes is `hyper`, a slice of the State: the
// parameters of q(hyper), or a draw written as such a q that is a point. The object
// itself is immutable.
class Prior {
 public:
  virtual ~Prior() = default;

  // Who supports a use has the methods it needs: start() for all, precision() for all but `point`;
  // update() and value() for `augmented`, draw(), log_scaled() and scale() for `drawn`, penalty()
  // for `point` (its inferred hyper-parameters are positive), the free numbers for the others. The
  // rest need not be there.
  virtual bool supports(Use use) const { return use != Use::point; }

  // Does it use sum(square) only, one precision for all? Needed for blocks rotated to
  // fewer columns, and for group effects unless they are joint.
  virtual bool exchangeable() const = 0;

  // Is it of a positive number by itself, as a parameter of the likelihood is, and never of
  // coefficients? Then it has start(), precision(), scale(), the free numbers and what is reported.
  virtual bool of_number() const { return false; }

  // How many effects of a level it ties together.
  virtual Index effects() const { return 1; }

  virtual Index hyper_size(Index m) const = 0;

  // A q to start from: E 1/variance about one, whatever the data's scale.
  virtual void start(const Moments& shape, VecRef hyper) const = 0;

  // The best q of the hyper-parameters given the coefficients' moments; the step to it
  // from `hyper` is taken `reach` times as far, in logarithms.
  virtual void update(const Moments& moments, double reach, VecRef hyper) const;

  // Draws the hyper-parameters given a draw of the coefficients, the unseen ones
  // integrated out. What `hyper` was matters only through precision().
  virtual void draw(const Moments& moments, Draws& random, VecRef hyper) const;

  // (m) E 1/variance_j; of joint effects (q q) E Sigma^{-1}.
  virtual void precision(ConstVecRef hyper, VecRef out) const = 0;

  // E log p(b | hyper) + E log p(hyper) - E log q(hyper), every constant
  // included, plus the entropy of the unseen coefficients.
  virtual double value(const Moments& moments, ConstVecRef hyper) const;

  // The move (b, variances) -> (t b, t^2 variances), t > 0, of a draw: the prior's share
  // of its log-density with respect to dt/t (Liu & Sabatti 2000), Jacobian included and
  // up to a constant in t, -inf where a variance would be impossible; and the variances it
  // leads to. A fixed variance stays.
  virtual double log_scaled(const Moments& moments, ConstVecRef hyper, double t) const;
  virtual void scale(VecRef hyper, double t) const;

  // The same of effect a alone of several: (u_a, Sigma) -> (t u_a, D Sigma D), D = diag(1, ..,
  // t, .., 1). For joint priors, whose effects may differ much in how they mix.
  virtual double log_stretched(Index /*a*/, ConstVecRef /*hyper*/, double /*t*/) const {
    return 0;
  }
  virtual void stretch(Index /*a*/, VecRef /*hyper*/, double /*t*/) const {}

  // ---- the hyper-parameters as free numbers theta: log s of one variance s^2; of a covariance
  // Sigma = F F' the lower triangle of F by rows, its diagonal in logarithms. None where fixed.
  // `m` as in hyper_size().
  virtual Index free_size(Index) const { return 0; }

  // Writes them as hyper, the way a draw is; and reads them from it, or from where a q(hyper)
  // has its centre.
  virtual void fix(ConstVecRef, VecRef) const {}
  virtual void free(ConstVecRef, VecRef) const {}

  // E log p(b | theta), the unseen left out, + log p(theta), Jacobian and every constant included,
  // and its gradient in theta. With b.count = 0 it is log p(theta). -inf, with no gradient, where
  // that is beyond doubles.
  virtual double log_joint(const Moments& b, ConstVecRef theta, VecRef gradient) const;

  // ---- point estimates: the penalty of m coefficients, and the hyper-parameters that are best for
  // coefficients `b` (m), written into `hyper`: the mode of their density given b.
  virtual Penalty penalty(ConstVecRef hyper, Index m) const;
  virtual void to_mode(ConstVecRef /*b*/, VecRef /*hyper*/) const {}
  // What both minimise: the penalty of b, and minus what else log p(b, hyper) has of hyper.
  virtual double loss(ConstVecRef b, ConstVecRef hyper) const;

  // ---- priors that select: b_j = g_j v_j with g_j 0 or 1, and all of the above speaks of v_j. The
  // last m numbers of `hyper` are the g_j, their probabilities under q or a draw of them;
  // log_odds() are those of any g_j = 1 given the others and the rest of `hyper`.
  virtual bool selects() const { return false; }
  virtual double log_odds(ConstVecRef /*hyper*/) const { return 0; }

  // What a user wants to know of q(hyper), named; and what is kept of a draw.
  virtual NamedNumbers report(ConstVecRef hyper) const = 0;
  virtual NamedNumbers drawn(ConstVecRef hyper) const = 0;
};

// For log_joint() of one variance exp(2 theta): E log p(b | theta), the unseen left out; adds its
// derivative to `slope`.
double log_coefficients(const Moments& b, double theta, double& slope);

// Variances are drawn from within these limits, to which every inferred prior is truncated:
// vague ones put much mass beyond, where the rows outweigh the prior by more than doubles hold.
constexpr double kLeastVariance = 1e-100, kMostVariance = 1e20;

inline bool possible_variance(double x) { return x >= kLeastVariance && x <= kMostVariance; }

// The inverse gamma law, truncated so.
double draw_variance(double shape, double scale, Draws& random);

// For update(): the step of log hyper from `before`, taken `reach` times as far; where
// that leaves the range of numbers, the step itself.
inline void reach_further(const Vec& before, double reach, VecRef hyper) {
  if (reach == 1) return;
  const Arr further = hyper.array() * (hyper.array() / before.array()).pow(reach - 1);
  for (Index k = 0; k < hyper.size(); ++k)
    if (further[k] > 0 && std::isfinite(further[k])) hyper[k] = further[k];
}

}  // namespace bsvm
