#pragma once
#include <functional>
#include <vector>

#include "base/types.hpp"

namespace bsvm {

// Squared distances between the columns of x (d, n) and v (d, m): |x|^2 + |v|^2 - 2 x'v, by one
// matrix product. Where that would leave few digits they are summed as they are, so that columns
// that are equal are at distance zero, and near ones have a distance of full precision. It looks
// at v.
class Distances {
 public:
  Distances(const Mat& x, const Mat& v);
  // Of columns first .. first + count - 1 of v, to out (n, count).
  void columns(Index first, Index count, double* out) const;

 private:
  Mat x_;
  const Mat& v_;
  Vec x_square_, v_square_;
  std::vector<double> packed_;
};

// left right, of (p, n) and (n, m); and x'v, of (d, n) and (d, m).
Mat matrix_product(const Mat& left, const Mat& right);
void inner_products(const Mat& x, const Mat& v, Mat& out);

// How many columns of n numbers are taken together, for they are then still near the processor.
Index panel_width(Index n);

// Columns first .. first + count - 1 of v: squared distances r2 (n count), weights times slopes h
// (n count), and left h (., count).
struct SlopePanel {
  Index first, count;
  const Eigen::Ref<const Arr>& r2;
  const Eigen::Ref<const Mat>& h;
  const Eigen::Ref<const Mat>& sums;
};

// Multiplies weights by dk/dr2 at r2. What it gives at r2 = 0 does not matter: there nothing that
// r2 depends on has a slope.
using TimesSlope = std::function<void(const Eigen::Ref<const Arr>& r2, Eigen::Ref<Arr> weight)>;
using VisitPanel = std::function<void(const SlopePanel&)>;

// Visits all columns of v. left (., n) has no rows where no sums are wanted.
void each_slope(const Mat& x, const Mat& v, const Mat& left, const Mat& weight,
                const TimesSlope& times_slope, const VisitPanel& visit);

// x less the mean of v's columns, for inputs far from zero.
Mat centred_at(const Mat& v, const Mat& x);

}  // namespace bsvm
