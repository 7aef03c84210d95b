#pragma once
#include <vector>

#include "coefficients/coefficients.hpp"
#include "learnt_axes.hpp"
#include "linalg/weighted_gram.hpp"
#include "rows/lines/predictors.hpp"

namespace bsvm {

// A Gaussian of the dense coefficients given theta, N(mean, (L L')^{-1}).
struct RowsGaussian {
  Mat lower;  // (p, p)
  Vec mean;   // (p)
  double logdet = 0;
};

// Each row's log-likelihood as a quadratic, -weight (target - f)^2 / 2: a Gaussian near the posterior
// of coefficients whatever the design is made of. It is learnt in the burn-in from the mean and
// variance of the row's f, at sweep 5 and then after twice as many each time. How near it is matters
// to the speed of who moves by it, and to nothing else.
class RowQuadratics {
 public:
  explicit RowQuadratics(const Problem& problem);

  // From moments of the rows' f: the expected curvature and slope of their log-likelihood.
  void set(const Likelihood& likelihood, const Vec& mean, const Vec& variance);
  // One more f, after so many sweeps.
  void learn(const Likelihood& likelihood, const Vec& f, Index sweeps);

  // A step from quadratics with these weights and linear terms, which left a Gaussian, to those of
  // the rows' f under it: `design` (p, n), `others` f less what that gives. False once they stay.
  bool follow(const Likelihood& likelihood, const Mat& design, const Vec& others,
              const RowsGaussian& at, Vec& weight, Vec& linear) const;

  const Vec& weight() const { return weight_; }
  const Vec& target() const { return target_; }

  Vec learnt() const;
  void restore(ConstVecRef learnt);

 private:
  const Problem& problem_;
  Vec weight_, target_;
  Vec seen_mean_, seen_square_;  // (n) of f since the last look
};

// Slices along the free numbers that a design depends on, and those of variances of dense
// coefficients, with all of these following: at fixed e in b = m(theta) + L(theta)^{-T} e, m and L
// those of RowsGaussian at theta. With a normal likelihood e is independent of theta, so that this is
// theta's own posterior, the coefficients integrated out; else nearly so. Where b stays or its
// prior noise does, a length scale and the data hold each other.
//
// Directions are learnt axes.
class DesignMoves {
 public:
  DesignMoves(const Problem& problem, const Coefficients& side);

  // Does the design depend on parameters?
  bool any() const { return any_; }

  // f and the design are the State's; they are afterwards.
  void run(State& state, Predictors& rows, bool tune, Host& host);
  void learn(const Predictors& rows, Index sweeps) {
    quadratics_.learn(rows.likelihood(), rows.f(), sweeps);
  }

  // At the State's theta, and the rows' f but for the dense coefficients (n): a few steps from the
  // quadratics that were learnt, so that it is a function of theta. False where rounding leaves none.
  bool find(const State& state, const Predictors& rows, const Vec& others, Host& host,
            RowsGaussian& out);
  // f less what the dense coefficients give.
  Vec others(const State& state, const Predictors& rows) const {
    return rows.f() - rows.design() * state.mean();
  }
  RowQuadratics& quadratics() { return quadratics_; }

  Vec learnt() const;
  void restore(ConstVecRef learnt);

 private:
  bool solve(const Vec& prior, const Vec& weight, const Vec& linear, Host& host,
             RowsGaussian& out);
  Vec theta(const State& state) const;
  double log_prior(const State& state, const Vec& free) const;
  void move(Index k, State& state, Predictors& rows, Draws& random, bool tune, Host& host);
  Index size() const { return static_cast<Index>(at_.size()); }

  const Coefficients& side_;
  bool any_;
  std::vector<Index> at_;  // of theta among all free parameters
  RowQuadratics quadratics_;
  WeightedGram squares_;
  Mat transposed_;         // (p, n)
  LearntAxes axes_;        // of theta
};

}  // namespace bsvm
