#pragma once
#include <algorithm>
#include <cmath>
#include <string>

namespace bsvm {

// All the core knows of the program it runs in. Called from the thread that
// started the run and from no other.
class Host {
 public:
  virtual ~Host() = default;
  virtual bool interrupted() { return false; }
  // `share`: how much of the run is done, about; below 0 where nobody knows.
  virtual void progress(const std::string& /*text*/, double /*share*/ = -1) {}
};

// The share of an ascent whose gradient falls by about the same factor in each pass.
inline double share_done(double first, double now, double last = 1e-4) {
  if (!(first > last && now > 0 && last > 0)) return -1;
  return std::clamp(std::log(first / now) / std::log(first / last), 0.0, 0.99);
}

}  // namespace bsvm
