#pragma once
#include <memory>

#include "base/host.hpp"
#include "model/problem.hpp"

namespace bsvm {

// The rows' share of log p(y, b, theta) at points x = (b, theta), b inside.
class JointDensity {
 public:
  virtual ~JointDensity() = default;

  virtual double rows(const Vec& x, Host& host) = 0;
  // The same, and the effects that are integrated out drawn at x (all of the swept factor; or none).
  virtual double draw(const Vec& x, const DrawKey& key, Vec& effects, Host& host) = 0;
};

// With the effects of Problem::integrated integrated out, or of a problem without any, whose design
// may depend on theta.
std::unique_ptr<JointDensity> joint_density(const Problem& problem, int threads);

}  // namespace bsvm
