#pragma once
#include <functional>

#include "chain/archive.hpp"
#include "model.hpp"
#include "random/draws.hpp"

namespace bsvm {

constexpr double kProcessScaleWidth = 0.5;  // of slices that scale a process; logarithms

// log s, half the logarithm of a process's variance, and the numbers theta of its kernel, with
// their priors.
class ProcessNumbers {
 public:
  explicit ProcessNumbers(const ProcessPart& process);
  void start_apart(Draws& random);  // those that are inferred, about where they start

  const Vec& theta() const { return theta_; }
  double log_sd() const { return log_sd_[0]; }
  double sd() const;
  bool infers_variance() const { return process_.variance->free_size(1) > 0; }
  // Slices a sweep: one, and one for each four of what is inferred.
  Index slices() const {
    const Index free = static_cast<Index>(free_.size());
    return free > 0 ? 1 + free / 4 : 0;
  }

  // Of log s alone, a constant less; kNothing far away.
  double log_prior_of_sd(double log_sd) const;
  void set_log_sd(double log_sd) { log_sd_[0] = log_sd; }

  // A slice along a random direction of what is inferred. `log_density` is what else there is, at
  // the numbers as they are when it is called; its last call is at the numbers that stay.
  void move(const std::function<double()>& log_density, Draws& random);

  NamedNumbers drawn() const;
  void visit(Archive& archive);

 private:
  double log_prior() const;

  const ProcessPart& process_;
  Vec theta_, log_sd_ = Vec::Zero(1);
  std::vector<Index> free_;  // places among theta, -1 for log s
};

}  // namespace bsvm
