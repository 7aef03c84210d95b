#pragma once
#include <string>

#include "../params.hpp"
#include "../registry.hpp"
#include "../types.hpp"

namespace bsvm {

// How an engine looks at a row whose linear predictor is f ~ N(m, v) under q.
enum class Use {
  augmented,  // latent scales averaged over: the papers' variational Bayes
  expected,   // E log p(y | f): Gaussian variational inference
  point,      // v = 0: point estimates
  marginal    // what is unknown about the row integrated out of p, not log p
};

// What r rows contribute to the objective, as a function l(m, v) of the
// moments of their linear predictors.
struct RowTerms {
  Arr value;      // (r) l(m, v)
  Arr slope;      // (r) dl/dm
  Arr weight;     // (r) -2 dl/dv: the row's precision in the covariance step
  Arr curvature;  // (r) -d2l/dm2: the row's precision in the mean step

  void resize(Index r) {
    for (Arr* a : {&value, &slope, &weight, &curvature}) a->resize(r);
  }
};

class Likelihood {
 public:
  virtual ~Likelihood() = default;
  virtual bool supports(Use use) const = 0;

  // y (r) is -1 or +1; m and v (r) are finite, v >= 0. Fills all of `out`.
  // Called on a block of rows, never on one row.
  virtual void terms(Use use, const Eigen::Ref<const Arr>& y,
                     const Eigen::Ref<const Arr>& m,
                     const Eigen::Ref<const Arr>& v, RowTerms& out) const = 0;
};

}  // namespace bsvm
