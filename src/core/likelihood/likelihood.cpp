#include "likelihood.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "integral/one/hinge_sum.hpp"
#include "special/functions.hpp"

namespace bsvm {

namespace {

// What an integral asks of a likelihood with atoms.
class HingesOfRows {
 public:
  explicit HingesOfRows(const Likelihood& of) : of_(of), count_(of.atoms(0).count) {}

  int count() const { return count_; }
  Atoms atoms(double y) const { return of_.atoms(y); }
  double log_p(const EffectRows& rows, double u) const {
    return of_.along({rows.y, rows.o, nullptr, rows.z, rows.weight, rows.r}, u);
  }
  // A concave row is highest at one of its kinks.
  double most(const EffectRows& rows) const {
    double sum = 0;
    for (Index i = 0; i < rows.r; ++i) {
      const Atoms own = atoms(rows.y[i]);
      const double still = 0, *weight = rows.weight ? rows.weight + i : nullptr;
      double most = kNothing;
      for (int k = 0; k < count_; ++k)
        most = std::max(most, of_.along({rows.y + i, &own.atom[k].place, nullptr, &still, weight, 1},
                                        0));
      sum += most;
    }
    return sum;
  }

 private:
  const Likelihood& of_;
  int count_;
};

}  // namespace

void check_signs(const double* y, Index n) {
  if (!y || !std::all_of(y, y + n, [](double code) { return code == 1 || code == -1; }))
    throw InvalidInput("y", "Its codes must be -1 and 1.");
}

void Likelihood::check(const double* y, Index n) const {
  if (!y || !std::all_of(y, y + n, [](double code) { return std::isfinite(code); }))
    throw InvalidInput("y", "Its codes must be finite numbers.");
}

std::unique_ptr<Likelihood> Likelihood::with(ConstVecRef) const {
  throw InvalidInput("likelihood", "This likelihood has no parameters to be given.");
}

void Likelihood::columns_of(const Eigen::Ref<const Arr>& y, Mat& out) const {
  out.resize(0, y.size());
}

Atoms Likelihood::atoms(double) const { return {}; }

void Likelihood::draw(const Eigen::Ref<const Arr>&, const Eigen::Ref<const Arr>&,
                      const Eigen::Ref<const Arr>&, const RowDraws&, RowTerms&) const {
  throw InvalidInput("likelihood", "This likelihood has no latent scales to draw.");
}

double Likelihood::over(const LineRows&, double, double) const {
  throw InvalidInput("likelihood", "This likelihood can't be evaluated at a point.");
}

Tilted Likelihood::averaged(double, double, double, double) const {
  throw InvalidInput("likelihood", "Nothing unknown can be integrated out of this likelihood.");
}

double Likelihood::draw_averaged(double, double, double, double, Draws&) const {
  throw InvalidInput("likelihood", "Nothing unknown can be integrated out of this likelihood.");
}

std::unique_ptr<EffectIntegral> Likelihood::integral() const {
  if (free_size() == 0 && atoms(0).count > 0)
    return std::make_unique<HingesOf<HingesOfRows>>(HingesOfRows(*this));
  throw InvalidInput("likelihood", "No effect can be integrated out of this likelihood.");
}

}  // namespace bsvm
