#pragma once
#include <memory>
#include <string>

#include "base/params.hpp"
#include "base/registry.hpp"
#include "base/types.hpp"
#include "base/use.hpp"
#include "integral/one/effect_integral.hpp"
#include "integral/one/row_atoms.hpp"
#include "linalg/line_rows.hpp"
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

// log E p(y | f)^weight under f ~ N(mean, v), its slope in the mean and minus its second
// derivative. Its derivative in v is (slope^2 - curvature) / 2.
struct Tilted {
  double value, slope, curvature;
};

// In f what was in g = y f, y -1 or +1.
inline Tilted turned(double y, const Tilted& of) { return {of.value, y * of.slope, of.curvature}; }

// Throws InvalidInput unless all y (n) are -1 or +1.
void check_signs(const double* y, Index n);

// What a likelihood with the kinks of a margin measures offsets by.
constexpr char kMarginScale[] = " The margin of the classes is 1 in its units.";

// What randomness rows may use in one sweep: a normal and a uniform number for each latent scale.
struct RowDraws {
  Arr normal, uniform;  // (r scales), of all rows for the first scale, then for the next

  void draw(const DrawKey& key, Index first, Index r, int scales) {
    normal.resize(r * scales);
    uniform.resize(r * scales);
    for (int k = 0; k < scales; ++k)
      row_draws(key, first, r, normal.data() + k * r, uniform.data() + k * r,
                static_cast<std::uint32_t>(k));
  }
};

constexpr double kUnitsOfOffset = 1e6;  // in how many of its units a likelihood is still exact

class Likelihood {
 public:
  virtual ~Likelihood() = default;
  virtual bool supports(Use use) const = 0;

  // Throws InvalidInput unless y (n) are codes of a response it is of: any finite numbers.
  virtual void check(const double* y, Index n) const;

  // The largest size of an offset. With 1e6, and a log p(y | f) that changes by about one within
  // one of f, f is known to 1e-10 and log p of a thousand rows to 1e-6; beyond, its differences
  // drown in rounding, and integrals over group effects as large as the offset see kinks too sharp
  // to be resolved.
  virtual double most_offset() const { return kUnitsOfOffset; }
  // What it is measured by, for users whose offset is larger: a sentence after a space, or nothing.
  virtual const char* offset_scale() const { return ""; }

  // ---- parameters that are inferred, as free numbers theta. A likelihood with some is a family:
  // what stands below supports() and concave() is asked of its members alone.
  virtual Index free_size() const { return 0; }
  // The member at theta (free_size()), any finite numbers.
  virtual std::unique_ptr<Likelihood> with(ConstVecRef theta) const;
  // The last of them may be coefficients: a row has theta_0 + z'gamma in place of theta_0. How many,
  // and z (coefficients, r) of rows with these codes.
  virtual Index coefficients() const { return 0; }
  virtual void columns_of(const Eigen::Ref<const Arr>& y, Mat& out) const;

  // Is log p(y | f) concave in f? Then so is the expected bound in mean and Cholesky factor, and
  // no row has a negative weight.
  virtual bool concave() const { return true; }

  // What log p(y | f) is the sum of, up to a constant; none where it is no such sum. As many for
  // every y.
  virtual Atoms atoms(double y) const;

  // y (r) are the response's codes; m and v (r) are finite, v >= 0. Fills all of `out`. The package
  // calls it on blocks of rows. Not for Use::drawn and Use::value, which have no such terms.
  virtual void terms(Use use, const Eigen::Ref<const Arr>& y,
                     const Eigen::Ref<const Arr>& m,
                     const Eigen::Ref<const Arr>& v, RowTerms& out) const = 0;

  // How many latent scales a row has.
  virtual int scales() const { return 1; }

  // Use::drawn: draws the rows' latent scales given f (r) and fills `out` with the
  // log-density quadratic in f that they leave: weight = curvature its precision, slope
  // its gradient at f, value the log-likelihood with the scales averaged out. `weight`
  // (r) raises a row's likelihood to that power.
  virtual void draw(const Eigen::Ref<const Arr>& y, const Eigen::Ref<const Arr>& f,
                    const Eigen::Ref<const Arr>& weight, const RowDraws& random,
                    RowTerms& out) const;

  // Use::value, and wherever Use::drawn is: the sum over the rows of weight log p(y | f) at (s, t).
  // Called often: nothing else may be in the loop.
  virtual double over(const LineRows& rows, double s, double t) const;
  double along(const LineRows& rows, double t) const { return over(rows, 0, t); }

  // What is unknown of a row integrated out of it: f ~ N(mean, v), v > 0.
  virtual Tilted averaged(double y, double mean, double v, double weight) const;
  // A draw of f given y.
  virtual double draw_averaged(double y, double mean, double v, double weight,
                               Draws& random) const;

  // An effect integrated out of rows of this likelihood, which must outlive it. Where log p is a sum
  // of hinges its atoms and over() are enough.
  virtual std::unique_ptr<EffectIntegral> integral() const;
};

}  // namespace bsvm
