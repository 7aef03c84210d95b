#pragma once
#include <vector>

#include "base/host.hpp"
#include "evidence.hpp"

namespace bsvm {

// A law of theta to propose from: a Student's t about each mode of the evidence that was found, with
// the curvature there, in proportion to what the modes weigh.
class EvidenceModes {
 public:
  // From several starts: a climb from one may end where all is noise.
  EvidenceModes(const Evidence& evidence, Host& host);

  double log_density(const Vec& theta) const;
  Vec draw(Draws& random) const;
  size_t count() const { return modes_.size(); }
  const Vec& best() const { return modes_[0].center; }

 private:
  struct Mode {
    Vec center;
    Mat root;  // lower, minus the second derivatives are root root'
    double log_root = 0, log_share = 0;
  };
  Mode mode_at(const Evidence& evidence, const Evidence::Look& look) const;

  std::vector<Mode> modes_;  // the heaviest first
};

}  // namespace bsvm
