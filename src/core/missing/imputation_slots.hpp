#pragma once
#include "model/row_sums.hpp"
#include "model/state.hpp"
#include "unknowns.hpp"

namespace bsvm {

// Where the numbers of the imputation model (imputation_model.hpp, which says what they mean) stand
// in the slots that State and RowSums have for a latent: d variables regressed on k columns, J
// indicators of the mechanism with q coefficients each, columns by columns.
class ImputationSlots {
 public:
  explicit ImputationSlots(const Unknowns& of)
      : d_(of.d), k_(of.k), indicators_(static_cast<Index>(of.indicators.size())),
        probits_(indicators_ > 0 ? of.probits() : 0) {}

  Index indicators() const { return indicators_; }
  Index probits() const { return probits_; }

  // In a State (const or not): (d, d), (d, d), (k, d), (q, J), and (q, q).
  template <class T> auto precision(T& state) const { return part(state.latent(), 0, d_, d_); }
  template <class T> auto formed(T& state) const { return part(state.latent(), d_ * d_, d_, d_); }
  template <class T> auto mean(T& state) const { return part(state.latent(), 2 * d_ * d_, k_, d_); }
  template <class T> auto probit(T& state) const {
    return part(state.latent(), law_size(), probits_, indicators_);
  }
  template <class T> auto probit_spread(T& state) const {
    return part(state.latent(), law_size() + probits_ * indicators_, probits_, probits_);
  }
  Index state_size() const { return law_size() + probits_ * (indicators_ + probits_); }

  // In RowSums, of the variables x and what they are regressed on, z: E x x' (d, d), lower
  // triangle; z E x' (k, d); and of the mechanism (q, J) E t a'.
  template <class T> auto square(T& sums) const { return part(sums.latent(), 0, d_, d_); }
  template <class T> auto cross(T& sums) const { return part(sums.latent(), d_ * d_, k_, d_); }
  template <class T> auto latent(T& sums) const {
    return part(sums.latent(), d_ * (d_ + k_), probits_, indicators_);
  }
  Index sums_size() const { return d_ * (d_ + k_) + probits_ * indicators_; }

 private:
  Index law_size() const { return d_ * (2 * d_ + k_); }

  static Eigen::Map<Mat> part(Eigen::Map<Vec> own, Index first, Index rows, Index columns) {
    return {own.data() + first, rows, columns};
  }
  static Eigen::Map<const Mat> part(Eigen::Map<const Vec> own, Index first, Index rows,
                                    Index columns) {
    return {own.data() + first, rows, columns};
  }

  Index d_, k_, indicators_, probits_;
};

}  // namespace bsvm
