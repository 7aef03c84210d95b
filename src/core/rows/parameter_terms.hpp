#pragma once
#include <vector>

#include "model/current_likelihood.hpp"
#include "model/problem.hpp"
#include "model/row_sums.hpp"

namespace bsvm {

// What rows say of the parameters of the likelihood and of the blocks: the first two derivatives of
// their share of the objective at fixed q, by central differences, which any likelihood and block
// has. A step h leaves h^2/6 times the third derivative, which of a design may be a hundred times
// the second, and 1e-16/h of a block's value: at 3e-5 both are far below what an ascent looks at.
class ParameterTerms {
 public:
  // One parameter moved by a step, or two.
  struct Moved {
    State state;  // if the design moves with it, else empty
    CurrentLikelihood likelihood;
    bool design;
  };

  explicit ParameterTerms(const Problem& problem)
      : problem_(problem), own_(problem.likelihood->free_size()), size_(problem.parameters()) {}

  bool moves_design() const { return size_ > own_; }

  // For one pass.
  void prepare(const State& state);

  // Adds what some rows say: `now` is their share, value(Moved) that where parameters moved.
  template <class Value>
  void add(double now, const Value& value, RowSums& out) const {
    if (moved_.empty()) return;
    Vec fall(size_);  // on both sides together
    size_t at = 0;
    for (Index k = 0; k < size_; ++k) {
      const double up = value(moved_[at++]), down = value(moved_[at++]);
      fall[k] = (now - up) + (now - down);
      out.pull()[k] += (up - down) / (2 * kStep);
      if (second_) out.bend()(k, k) += fall[k] / (kStep * kStep);
    }
    if (!second_) return;
    for (Index k = 0; k < size_; ++k)
      for (Index j = 0; j < k; ++j) {
        const double up = value(moved_[at++]), down = value(moved_[at++]);
        const double cross =
            ((now - up) + (now - down) - fall[j] - fall[k]) / (2 * kStep * kStep);
        out.bend()(k, j) += cross;
        out.bend()(j, k) += cross;
      }
  }

 private:
  static constexpr double kStep = 3e-5;

  void move(const State& state, Index j, Index k, double by);

  const Problem& problem_;
  Index own_, size_;
  bool second_ = false;       // are second derivatives wanted?
  std::vector<Moved> moved_;  // up and down: each parameter, then each pair together; or none
};

}  // namespace bsvm
