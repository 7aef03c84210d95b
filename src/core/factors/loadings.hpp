#pragma once
#include <memory>

#include "base/host.hpp"
#include "chain/archive.hpp"
#include "scores.hpp"
#include "shared.hpp"

namespace bsvm {

// The classifier in the variables that a draw implies: given x alone f_n is normal about
// offset_n + t_n'alpha + offset + x_n'coefficients.
struct Implied {
  Vec coefficients;  // (p) Psi A u, u = S beta
  double offset;     // -mu'Psi A u
};

// One side of a chain: means, loadings and noise given scores. `now` keys what it draws.
class Loadings {
 public:
  virtual ~Loadings() = default;

  // Draws all given scores w (N, K). At sweep 0, where a chain starts, hyper-parameters of loadings
  // stay as they are.
  virtual void draw(const Mat& w, const DrawKey& now, int threads, Host& host) = 0;

  virtual const ScoreSums& sums() const = 0;  // of what was drawn last
  virtual const Mat& moments() const = 0;     // (1 + K, 1 + K) sum of b_i b_i', b_i = (mu_i, a_i)

  // mu becomes mu - A delta, as x has it if scores become w_n + delta.
  virtual void translate(const Vec& delta) = 0;

  // What is kept of a draw: the noise precision if it is common; and one variance a factor (K), the
  // rate of local variances if it is inferred, or none.
  virtual NamedNumbers drawn() const = 0;
  virtual Vec variances() const = 0;

  virtual Implied implied(const Vec& u, const DrawKey& now) const = 0;
  // mu (p), A (p K), and psi (p, or 1 if common). `u` as for implied(), with which it agrees.
  virtual Vec whole(const Vec& u, const DrawKey& now) const = 0;

  virtual void visit(Archive& archive) = 0;
};

// `random`: for where hyper-parameters start.
std::unique_ptr<Loadings> make_variable_loadings(const SharedFactors& shared, Draws& random);
std::unique_ptr<Loadings> make_turned_loadings(const SharedFactors& shared, Draws& random);

// One variance of each factor's loadings.
class FactorVariances {
 public:
  FactorVariances(const FactorModel& model, Draws& random);

  Vec precisions() const;  // (K), all one if shrinkage is local
  Vec variances() const;   // (K) or none
  // Given sums of squares of `count` loadings of each factor.
  void draw(const Vec& squares, double count, const DrawKey& now);
  void visit(Archive& archive);

 private:
  const FactorModel& model_;
  std::vector<Vec> hyper_;
};

// psi ~ Gamma(shape, rate) given `count` residuals with this sum of squares.
double draw_precision(const NoisePart& prior, double count, double square, Draws& random);

}  // namespace bsvm
