#include "normal_tail.hpp"

#include <cmath>

#include "whole.hpp"

namespace bsvm {

namespace {

constexpr int kNear = 8, kFar = 40;        // up to where there are so many points a unit:
constexpr int kNearGrid = 8, kFarGrid = 2;
constexpr int kNearPoints = kNear * kNearGrid, kPoints = kNearPoints + (kFar - kNear) * kFarGrid;
constexpr int kTerms = 13, kOrders = 18;   // of Taylor's series; moments kept

inline double grid_point(Index k) {
  return k < kNearPoints ? static_cast<double>(k) / kNearGrid
                         : kNear + static_cast<double>(k - kNearPoints) / kFarGrid;
}

// Its number, and a fraction.
inline double nearest_point(double x) {
  return x < kNear ? x * kNearGrid + 0.5 : kNearPoints + (x - kNear) * kFarGrid + 0.5;
}

// J_i at grid points.
struct TailTable {
  double moment[kPoints + 1][kOrders];

  TailTable() {
    for (int k = 0; k <= kPoints; ++k) fill(k);
  }

  void fill(int k) {
    const long double x = grid_point(k);
    long double j[kOrders] = {std::sqrt(std::acos(0.0L)), 1};
    for (int i = 2; i < kOrders; ++i) j[i] = (i - 1) * j[i - 2];  // at zero
    if (k > 0) by_ratios(x, j);
    for (int i = 0; i < kOrders; ++i) moment[k][i] = static_cast<double>(j[i]);
  }

  // Miller's algorithm: J_i / J_(i-1) = i / (x + J_(i+1) / J_i) from far out.
  static void by_ratios(long double x, long double* j) {
    long double ratio[kOrders];
    const int first = kOrders + static_cast<int>(400 / (x * x)) + 40;
    long double r = (std::sqrt(x * x + 4.0L * first) - x) / 2;
    for (int i = first; i > 0; --i) {
      r = i / (x + r);
      if (i < kOrders) ratio[i] = r;
    }
    j[0] = 1 / (x + r);
    for (int i = 1; i < kOrders; ++i) j[i] = ratio[i] * j[i - 1];
  }
};

constexpr double kInverseFactorial[kTerms] = {
    1, 1, 1. / 2, 1. / 6, 1. / 24, 1. / 120, 1. / 720, 1. / 5040, 1. / 40320, 1. / 362880,
    1. / 3628800, 1. / 39916800, 1. / 479001600};

// J_k(grid point + h), since the derivative of J_k is -J_(k+1).
inline double taylor(const double* moment, double h) {
  static_assert(kTerms % 2 == 1, "even and odd powers are summed by themselves");
  const double square = h * h;
  double even = 0, odd = 0;
  for (int j = kTerms - 1; j > 0; j -= 2) {
    even = even * square + moment[j] * kInverseFactorial[j];
    odd = odd * square + moment[j - 1] * kInverseFactorial[j - 1];
  }
  return even * square + moment[0] - h * odd;
}

template <int K>
inline void by_series(double x, double* out) {
  static const TailTable table;
  const Index k = whole_within(nearest_point(x), 0, kPoints);
  const double h = x - grid_point(k);
  out[K] = taylor(table.moment[k] + K, h);
  if (K == 0) return;
  out[K - 1] = taylor(table.moment[k] + K - 1, h);
  for (int j = K - 1; j > 0; --j) out[j - 1] = (out[j + 1] + x * out[j]) / j;
}

// J_K / J_(K-1) = K / (x + (K + 1) / (x + ...)), as a fraction kept without dividing.
template <int K>
inline void by_fraction(double x, double* out) {
  constexpr int top = K == 0 ? 1 : K;
  constexpr int levels = 6;
  double whole = x, part = 1, moment[top + 1];
  for (int j = top + levels; j > top; --j) {
    const double next = x * whole + j * part;
    part = whole;
    whole = next;
  }
  moment[top] = top * part;
  moment[top - 1] = whole;
  for (int j = top - 1; j > 0; --j) moment[j - 1] = (moment[j + 1] + x * moment[j]) / j;
  const double scale = 1 / (moment[1] + x * moment[0]);
  for (int j = 0; j <= K; ++j) out[j] = moment[j] * scale;
}

}  // namespace

template <int K>
void tail_moments(double x, double* out) {
  if (x < kFar) return by_series<K>(x, out);
  if (x < 1e27) return by_fraction<K>(x, out);
  out[0] = 1 / x;
  for (int j = 1; j <= K; ++j) out[j] = out[j - 1] * j / x;
}

template void tail_moments<0>(double, double*);
template void tail_moments<1>(double, double*);
template void tail_moments<2>(double, double*);
template void tail_moments<4>(double, double*);

}  // namespace bsvm
