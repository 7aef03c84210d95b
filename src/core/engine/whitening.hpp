#pragma once
#include "approximation.hpp"

namespace bsvm {

// A Gaussian near the posterior of some coordinates b of x, those that are not the swept factor's
// effects, b = centre + root z with z near N(0, I); and what goes with z in all of x: the swept
// effects follow their regression on b. x: the dense coefficients and then all effects by term,
// level, effect, inside.
struct Whitening {
  // The dense coefficients' Gaussian with one free parameter at several values, the others at their
  // modes: where no other coefficients are.
  struct Path {
    Index free;                // which parameter
    Vec theta;                 // (values) increasing
    std::vector<Vec> centre;
    std::vector<Mat> root;
  };

  std::vector<Index> at;  // (d) where b stands in x
  Vec centre;             // (d)
  Mat root;               // (d, d) lower
  Mat axes;               // (x, d) dx/dz
  Vec x;                  // the means of everything
  Vec theta;              // (h) the free parameters' modes
  Mat joint;              // (d + h, d + h) covariance of b and theta
  std::vector<Path> paths;
};

// From engine_gaussian's approximation at and around the mode of theta, which `threads` make
// quicker and nothing else.
Whitening whiten(const Problem& problem, int threads, Host& host);

}  // namespace bsvm
