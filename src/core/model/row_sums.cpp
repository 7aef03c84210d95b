#include "row_sums.hpp"

#include "data/group_states.hpp"
#include "linalg/small.hpp"

namespace bsvm {

namespace {

// A_gg (q, q) and A_gd' (p, q) of a part of a level's rows, with its share of the prior.
struct LevelPart {
  const double *precision, *coupling;
};

// L' (B_k - B) = L^{-1} N_k - L' B of a part, with A_k = L L'; (p, q), a column an effect.
Mat apart(const LevelPart& part, const Mat& regression, Index p, Index q) {
  const SmallFactor factor(part.precision, q, kLeastPivot);
  Mat out = Eigen::Map<const Mat>(part.coupling, p, q);
  solve_right_transposed(factor.l, q, p, out.data());
  for (Index a = 0; a < q; ++a)
    for (Index b = a; b < q; ++b)
      add_multiple(out.data() + a * p, regression.data() + b * p, -factor.l[b + a * q], p);
  return out;
}

// Each of two parts of a level has been eliminated by itself, with B_k = A_k^{-1} N_k, N_k = A_gd. The
// whole level has A = A_1 + A_2 and A B = N_1 + N_2, and its reduced precision is theirs plus
//   sum_k (B_k - B)' A_k (B_k - B),
// positive terms, so that nothing cancels. Adds it to the lower triangle of `out` (p, p).
void add_meeting(const LevelPart& one, const LevelPart& two, Index p, Index q, double* out) {
  double precision[kMostEffects * kMostEffects];
  for (Index k = 0; k < q * q; ++k) precision[k] = one.precision[k] + two.precision[k];
  const SmallFactor factor(precision, q, kLeastPivot);
  Mat regression = Eigen::Map<const Mat>(one.coupling, p, q) + Eigen::Map<const Mat>(two.coupling, p, q);
  solve_right_transposed(factor.l, q, p, regression.data());
  solve_right(factor.l, q, p, regression.data());
  const Mat x = apart(one, regression, p, q), y = apart(two, regression, p, q);
  for (Index j = 0; j < p; ++j)
    for (Index i = j; i < p; ++i) {
      double first = 0, second = 0;
      for (Index a = 0; a < q; ++a) {
        first += x(i, a) * x(j, a);
        second += y(i, a) * y(j, a);
      }
      out[i + j * p] += first + second;
    }
}

bool seen(const double* precision) { return precision[0] > 0; }

}  // namespace

void RowSums::add_piece(bool curvature, Index number, const double* precision,
                        const double* coupling) {
  double* own = large_precision(curvature).col(number).data();
  double* cross = large_coupling(curvature).col(number).data();
  if (seen(own))
    add_meeting({own, cross}, {precision, coupling}, p, q,
                (curvature ? this->curvature() : weight()).data());
  add_multiple(own, precision, 1, q * q);
  add_multiple(cross, coupling, 1, p * q);
}

// What levels with rows on both sides add, or nothing.
Mat RowSums::meetings(const RowSums& other, bool curvature) const {
  const Index precision = large_precision_start(curvature), coupling = precision + large * q * q;
  Mat out;
  for (Index number = 0; number < large; ++number) {
    const auto part = [&](const RowSums& sums) {
      return LevelPart{sums.x.data() + precision + number * q * q,
                       sums.x.data() + coupling + number * p * q};
    };
    const LevelPart one = part(*this), two = part(other);
    if (!seen(one.precision) || !seen(two.precision)) continue;
    if (out.size() == 0) out = Mat::Zero(p, p);
    add_meeting(one, two, p, q, out.data());
  }
  return out;
}

RowSums& RowSums::operator+=(const RowSums& other) {
  const Mat of_weights = meetings(other, false), of_curvatures = meetings(other, true);
  x += other.x;
  if (of_weights.size() > 0) weight() += of_weights;
  if (of_curvatures.size() > 0) curvature() += of_curvatures;
  return *this;
}

}  // namespace bsvm
