// Variances of priors of which rows have shares (Rows::left_over), on the coefficients' side: rows
// answer with the derivative of their share of the bound in each.
#include <algorithm>
#include <cmath>

#include "coefficients.hpp"
#include "free_parameters.hpp"

namespace bsvm {

namespace {

constexpr double kVarianceStep = 1e-4;   // of theta, in differences of a variance
constexpr double kFarthestLeaving = 3;   // of theta, from where it was
constexpr double kLeavingTolerance = 1e-6;

// The variance of a prior at free parameters theta.
double variance_at(const PriorPart& part, ConstVecRef theta) {
  Vec hyper(part.size), precision(part.slot.columns.size());
  part.slot.prior->fix(theta, hyper);
  part.slot.prior->precision(hyper, precision);
  return 1 / precision[0];
}

}  // namespace

Vec Coefficients::left_over_pull(const RowSums& sums, ConstVecRef theta) const {
  Vec out = Vec::Zero(theta.size());
  for (Index k = 0; k < layout_.leaving; ++k) {
    const Index first = free_start(problem_.leaving[k]);
    const PriorPart& part = parts_[problem_.leaving[k]];
    if (part.free_size() == 0) continue;
    const Vec own = theta.segment(first, 1), by = Vec::Constant(1, kVarianceStep);
    const double change =
        (variance_at(part, own + by) - variance_at(part, own - by)) / (2 * kVarianceStep);
    out[first] = change * sums.left_over()[k];
  }
  return out;
}

Index Coefficients::free_start(Index part) const {
  Index out = 0;
  for (Index k = 0; k < part; ++k) out += parts_[k].free_size();
  return out;
}

// log p(b, theta) + its variance times the rows' derivative, by sections.
double Coefficients::best_leaving(const PriorPart& part, const Moments& moments, double theta,
                                  double slope) const {
  const double golden = 0.5 * (std::sqrt(5.0) - 1);
  const auto value = [&](double t) {
    const Vec at = Vec::Constant(1, t);
    Vec unused(1);
    return part.slot.prior->log_joint(moments, at, unused) + slope * variance_at(part, at);
  };
  double low = theta - kFarthestLeaving, high = theta + kFarthestLeaving;
  while (high - low > kLeavingTolerance) {
    const double left = high - golden * (high - low), right = low + golden * (high - low);
    (value(left) > value(right) ? high : low) = value(left) > value(right) ? right : left;
  }
  return 0.5 * (low + high);
}

Vec Coefficients::best_theta(const State& state, const RowSums& sums, const Mat& group_moments,
                             ConstVecRef theta) const {
  const Vec square = second_moments(state);
  Vec out = theta;
  Index first = 0;
  for (size_t k = 0; k < parts_.size(); ++k) {
    const PriorPart& part = parts_[k];
    const Index size = part.free_size();
    if (size > 0 && !part.parameter()) {
      const Moments own = moments(part, square, group_moments);
      const auto leaving = std::find(problem_.leaving.begin(), problem_.leaving.end(),
                                     static_cast<Index>(k));
      if (leaving == problem_.leaving.end())
        out.segment(first, size) =
            maximise_joint(*part.slot.prior, own, theta.segment(first, size));
      else
        out[first] = best_leaving(part, own, theta[first],
                                  sums.left_over()[leaving - problem_.leaving.begin()]);
    }
    first += size;
  }
  return out;
}

}  // namespace bsvm
