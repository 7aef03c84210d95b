#pragma once
#include <cstdint>
#include <vector>

#include "base/host.hpp"
#include "evidence.hpp"

namespace bsvm {

// A law of theta to propose from, about each mode of the evidence that was found, in proportion to
// what the modes weigh. Along the axes of the curvature there coordinates are independent Student's
// t, on either side of the mode as wide as the density falls: a logarithm of a standard deviation
// has one tail that is short and one that is nearly flat, and a multivariate t of many coordinates
// has hardly more of such a tail than a normal law.
class EvidenceModes {
 public:
  // From several starts: a climb from one may end where all is noise.
  EvidenceModes(const Evidence& evidence, Host& host);

  double log_density(const Vec& theta) const;
  Vec draw(Draws& random) const;
  const Vec& best() const { return modes_[0].center; }

 private:
  struct Mode {
    Vec center;
    Mat axes;         // theta = center + axes z; columns in standard deviations
    Mat inverse;
    Mat scale;        // (h, 2) of z below and above zero
    double constant = 0;  // of the log density of theta, but for the share
    double log_share = 0;

    void set_constant(double log_axes);  // log |axes|
  };
  Mode mode_at(const Evidence& evidence, const Evidence::Look& look) const;
  void adapt(const Evidence& evidence, std::uint64_t round, Host& host);

  std::vector<Mode> modes_;  // the heaviest first
};

}  // namespace bsvm
