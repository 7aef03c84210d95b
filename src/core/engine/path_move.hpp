#pragma once
#include "../rows/margins.hpp"
#include "coefficients.hpp"
#include "whitening.hpp"

namespace bsvm {

// A slice along one free parameter theta_k with all coefficients going along,
//
//   b = m(theta_k) + L(theta_k) z,   z as it is,
//
// m and L linear between the values a path has: what makes a variance slow is that its coefficients
// have to follow. The density is that of (z, theta_k), so with log det L in it.
class PathMove {
 public:
  PathMove(const Whitening::Path& path, const Coefficients& side);

  void run(State& state, Margins& rows, Draws& random);

 private:
  // Between value `first` and the next, (1 - share) of the first.
  struct Place {
    Index first;
    double share;
  };

  Place place(double theta) const;
  double log_root(const Place& at) const;
  void reach(Index value, const State& state, const Margins& rows);
  double log_prior(const Vec& b, double theta) const;
  Vec between(const std::vector<Vec>& of, const Place& at) const {
    return (1 - at.share) * of[at.first] + at.share * of[at.first + 1];
  }

  const Whitening::Path& path_;
  const Coefficients& side_;
  const PriorPart* part_ = nullptr;
  Vec z_;
  std::vector<Vec> b_, margin_;  // at each value, once it is asked for
};

}  // namespace bsvm
