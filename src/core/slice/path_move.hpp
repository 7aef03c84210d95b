#pragma once
#include "coefficients/coefficients.hpp"
#include "rows/lines/predictors.hpp"
#include "whitening.hpp"

namespace bsvm {

// A slice along one free parameter theta_k with all coefficients and effects going along, as a path
// has them at fixed (z, e), linearly between its values: what makes a variance slow is that they
// have to follow it. The density is that of (z, e, theta_k), so with the map's determinant in it.
class PathMove {
 public:
  PathMove(const Whitening& white, const Whitening::Path& path, const Coefficients& side);

  void run(State& state, Predictors& rows, Draws& random);

 private:
  // Between value `first` and the next, (1 - share) of the first.
  struct Place {
    Index first;
    double share;
  };

  Place place(double theta) const;
  template <class Part>
  auto mix(const std::vector<Part>& of, const Place& at) const {
    return (1 - at.share) * of[at.first] + at.share * of[at.first + 1];
  }
  void find_noise(const Vec& x, const Place& at);
  double log_volume(const Place& at) const;
  void reach(Index value, const Vec& x, const Predictors& rows);
  double log_prior(const Vec& x, const Predictors& rows, const Vec& theta) const;

  const Whitening& white_;
  const Whitening::Path& path_;
  const Coefficients& side_;
  const PriorPart* part_ = nullptr;
  Vec z_, e_;
  std::vector<Vec> x_, f_;  // at each value, once it is asked for
};

}  // namespace bsvm
