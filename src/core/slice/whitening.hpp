#pragma once
#include "gaussian/approximation.hpp"

namespace bsvm {

// A Gaussian near the posterior of some coordinates b of x, those that are not the swept factor's
// effects, b = centre + root z with z near N(0, I); and what goes with z in all of x: the swept
// effects follow their regression on b. x: the dense coefficients and then all effects by term,
// level, effect, inside.
struct Whitening {
  // x at several values of one free parameter, the others in the middle, as a function of what is
  // near N(0, I): b = centre + root z, swept effects = centre + follow z + spread e.
  struct Path {
    Index free;                // which parameter
    Vec theta;                 // (values) increasing
    std::vector<Vec> centre;   // each (x)
    std::vector<Mat> root;     // (d, d) lower
    std::vector<Mat> follow;   // (swept, d)
    std::vector<Vec> spread;   // (swept)
  };

  std::vector<Index> at;     // (d) where b stands in x
  std::vector<Index> swept;  // and where the swept effects
  Vec centre;             // (d)
  Mat root;               // (d, d) lower
  Mat axes;               // (x, d) dx/dz
  Vec x;                  // the means of everything
  Vec theta;              // (h) the free parameters' modes
  Mat joint;              // (d + h, d + h) covariance of b and theta
  std::vector<Path> paths;  // of single variances, where the swept factor has one effect a level
};

// From engine_gaussian's approximation at and around the mode of theta, which `threads` make
// quicker and nothing else.
Whitening whiten(const Problem& problem, const MakeSource& make_source, int threads, Host& host);

}  // namespace bsvm
