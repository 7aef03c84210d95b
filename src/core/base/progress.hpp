#pragma once
#include <algorithm>
#include <cmath>
#include <string>

#include "host.hpp"

namespace bsvm {

// A host that shows how long a run will take.
class TimedHost : public Host {
 public:
  void progress(const std::string& text) override { progress(text, -1); }
  // `share`: how much of the run is done, about; below 0 where nobody knows.
  virtual void progress(const std::string& text, double share) = 0;
};

inline void tell(Host& host, const std::string& text, double share) {
  if (auto* timed = dynamic_cast<TimedHost*>(&host)) timed->progress(text, share);
  else host.progress(text);
}

// The share of an ascent whose gradient falls by about the same factor in each pass.
inline double share_done(double first, double now, double last = 1e-4) {
  if (!(first > last && now > 0 && last > 0)) return -1;
  const double share = std::log(first / now) / std::log(first / last);
  return share < 0.01 ? -1 : std::min(share, 0.99);  // too early to tell
}

// Of an approximation: the nodes beside the top take as long as the climb to it.
class ClimbShare {
 public:
  void climbing(bool now) { climbing_ = now; }
  double operator()(int passes, double first, double now) {
    if (!climbing_) return climb_ > 0 ? std::min(0.95, 0.5 * passes / climb_) : -1;
    climb_ = passes;
    const double done = share_done(first, now);
    return done < 0 ? done : 0.5 * done;
  }

 private:
  bool climbing_ = true;
  double climb_ = 0;
};

}  // namespace bsvm
