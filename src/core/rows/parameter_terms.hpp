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

  explicit ParameterTerms(const Problem& problem);

  bool moves_design() const { return problem_.parameters() > own_; }

  // For one pass.
  void prepare(const State& state);

  // Adds what some rows say: y are their codes, `now` (r) their shares, value(Moved) those where
  // parameters moved.
  template <class Value>
  void add(const Eigen::Ref<const Arr>& y, const Arr& now, const Value& value,
           RowSums& out) const {
    if (moved_.empty()) return;
    Mat each(coefficients_ > 0 ? now.size() : 0, moved_.size());
    const auto share = [&](size_t m) {
      const Arr& own = value(moved_[m]);
      if (coefficients_ > 0) each.col(m) = own;
      return own.sum();
    };
    const Index size = static_cast<Index>(kept_.size());
    const double total = now.sum();
    Vec fall(size);  // on both sides together
    size_t at = 0;
    for (Index k = 0; k < size; ++k) {
      const double up = share(at++), down = share(at++);
      fall[k] = (total - up) + (total - down);
      out.pull()[kept_[k]] += (up - down) / (2 * kStep);
      if (second_) out.bend()(kept_[k], kept_[k]) += fall[k] / (kStep * kStep);
    }
    for (Index k = 0; k < size && second_; ++k)
      for (Index j = 0; j < k; ++j) {
        const double up = share(at++), down = share(at++);
        const double cross =
            ((total - up) + (total - down) - fall[j] - fall[k]) / (2 * kStep * kStep);
        out.bend()(kept_[k], kept_[j]) += cross;
        out.bend()(kept_[j], kept_[k]) += cross;
      }
    if (coefficients_ > 0) add_coefficients(y, now, each, out);
  }

 private:
  static constexpr double kStep = 3e-5;

  void move(const State& state, Index j, Index k, double by);
  void add_coefficients(const Eigen::Ref<const Arr>& y, const Arr& now, const Mat& each,
                        RowSums& out) const;

  const Problem& problem_;
  Index own_, coefficients_;
  std::vector<Index> kept_;   // parameters that are moved: all but the coefficients
  bool second_ = false;       // are second derivatives wanted?
  std::vector<Moved> moved_;  // up and down: each parameter, then each pair together; or none
};

}  // namespace bsvm
