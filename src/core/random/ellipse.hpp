#pragma once
#include <cmath>

#include "draws.hpp"

namespace bsvm {

// Points cos(t), sin(t) of an ellipse, proposed one after the other until one is accepted, so that
// z cos(t) + nu sin(t) leaves a density that is exp(log_density) with respect to N(0, I) invariant,
// if z is a draw from it and nu from N(0, I) (Murray, Adams & MacKay 2010).
class EllipseSearch {
 public:
  // `here` is log_density(1, 0).
  EllipseSearch(double here, Draws& random)
      : level_(here + std::log(random.uniform())), t_(kTurn * random.uniform()),
        low_(t_ - kTurn), high_(t_) {}

  double c() const { return tries_ < kMost ? std::cos(t_) : 1; }
  double s() const { return tries_ < kMost ? std::sin(t_) : 0; }

  // The point proposed; else another one, nearer, is proposed. Where rounding leaves nothing, the
  // search ends where it began.
  bool accepts(double log_density, Draws& random) {
    if (tries_ == kMost || log_density > level_) return true;
    (t_ < 0 ? low_ : high_) = t_;
    t_ = low_ + (high_ - low_) * random.uniform();
    ++tries_;
    return false;
  }

 private:
  static constexpr double kTurn = 6.283185307179586;
  static constexpr int kMost = 200;
  double level_, t_, low_, high_;
  int tries_ = 0;
};

template <class LogDensity>
void ellipse(const LogDensity& log_density, double here, Draws& random, double& c, double& s) {
  EllipseSearch search(here, random);
  do {
    c = search.c();
    s = search.s();
  } while (!search.accepts(log_density(c, s), random));
}

}  // namespace bsvm
