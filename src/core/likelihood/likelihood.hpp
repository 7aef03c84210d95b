#pragma once
#include <memory>
#include <string>

#include "base/params.hpp"
#include "base/registry.hpp"
#include "base/types.hpp"
#include "base/use.hpp"
#include "integral/one/effect_integral.hpp"
#include "random/draws.hpp"

namespace bsvm {

// What r rows contribute to the objective, as a function l(m, v) of the
// moments of their linear predictors.
struct RowTerms {
  Arr value;      // (r) l(m, v)
  Arr slope;      // (r) dl/dm
  Arr weight;     // (r) -2 dl/dv: the row's precision in the covariance step
  Arr curvature;  // (r) -d2l/dm2: the row's precision in the mean step; that of an
                  // expectation under f ~ N(m, v) is the weight (Price 1958)

  void resize(Index r) {
    for (Arr* a : {&value, &slope, &weight, &curvature}) a->resize(r);
  }
};

// log E p(y | f)^weight under y f ~ N(mean, v), its slope in the mean and minus its second
// derivative. Its derivative in v is (slope^2 - curvature) / 2.
struct Tilted {
  double value, slope, curvature;
};

// What randomness a row may use in one sweep.
struct RowDraws {
  Arr normal, uniform;  // (r)

  void resize(Index r) {
    normal.resize(r);
    uniform.resize(r);
  }
};

class Likelihood {
 public:
  virtual ~Likelihood() = default;
  virtual bool supports(Use use) const = 0;

  // Is log p(y | f) concave in f? Then so is the expected bound in mean and Cholesky factor, and
  // no row has a negative weight.
  virtual bool concave() const { return true; }

  // y (r) is -1 or +1; m and v (r) are finite, v >= 0. Fills all of `out`.
  // Called on a block of rows, never on one row.
  virtual void terms(Use use, const Eigen::Ref<const Arr>& y,
                     const Eigen::Ref<const Arr>& m,
                     const Eigen::Ref<const Arr>& v, RowTerms& out) const = 0;

  // Use::drawn: draws the rows' latent scales given f (r) and fills `out` with the
  // log-density quadratic in f that they leave: weight = curvature its precision, slope
  // its gradient at f, value the log-likelihood with the scales averaged out. `weight`
  // (r) raises a row's likelihood to that power.
  virtual void draw(const Eigen::Ref<const Arr>& y, const Eigen::Ref<const Arr>& f,
                    const Eigen::Ref<const Arr>& weight, const RowDraws& random,
                    RowTerms& out) const;

  // Sum over the rows of weight log p(y | f), which is a function of y f = margin + t slope.
  // All (r); weight may be null: all one. Called often: nothing else may be in the loop.
  virtual double along(const double* margin, const double* slope, const double* weight,
                       double t, Index r) const;

  // The same at y f = margin + s a + t b.
  virtual double over(const double* margin, const double* a, const double* b, const double* weight,
                      double s, double t, Index r) const;

  // What is unknown of a row integrated out of it, v > 0.
  virtual Tilted averaged(double mean, double v, double weight) const;
  // A draw of y f given y.
  virtual double draw_averaged(double mean, double v, double weight, Draws& random) const;

  // An effect integrated out of rows of this likelihood.
  virtual std::unique_ptr<EffectIntegral> integral() const;
};

}  // namespace bsvm
