#pragma once
#include <vector>

#include "model/current_likelihood.hpp"
#include "model/problem.hpp"
#include "model/row_sums.hpp"

namespace bsvm {

// What rows say of the parameters of the likelihood and of the blocks: the first two derivatives of
// their share of the objective in each at fixed q, by central differences. Any likelihood and block
// has them, and the error of a step of 1e-3 in a logarithm, about 2e-7 of the third derivative, is
// far below what a parameter is known to.
class ParameterTerms {
 public:
  // One parameter moved by a step.
  struct Moved {
    State state;
    CurrentLikelihood likelihood;
    bool design;  // does the design move with it?
  };

  explicit ParameterTerms(const Problem& problem)
      : problem_(problem), own_(problem.likelihood->free_size()), size_(problem.parameters()) {}

  bool any() const { return size_ > 0; }
  bool moves_design() const { return size_ > own_; }

  // For one pass.
  void prepare(const State& state);

  // Adds what some rows say: `now` is their share, value(Moved) that where a parameter moved.
  template <class Value>
  void add(double now, const Value& value, RowSums& out) const {
    for (Index k = 0; k < size_; ++k) {
      const double up = value(moved_[2 * k]), down = value(moved_[2 * k + 1]);
      out.pull()[k] += (up - down) / (2 * kStep);
      out.bend()[k] += ((now - up) + (now - down)) / (kStep * kStep);
    }
  }

 private:
  static constexpr double kStep = 1e-3;

  const Problem& problem_;
  Index own_, size_;
  std::vector<Moved> moved_;  // up and down, parameter by parameter
};

}  // namespace bsvm
