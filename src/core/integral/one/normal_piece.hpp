#pragma once
#include <cmath>
#include <limits>

#include "special/normal_tail.hpp"

namespace bsvm {

// Gauss-Legendre nodes in (0, 1) and their weights.
template <int M>
struct UnitNodes;
template <>
struct UnitNodes<2> {
  static constexpr double x[] = {0.21132486540518711775, 0.78867513459481288225};
  static constexpr double w[] = {0.5, 0.5};
};
template <>
struct UnitNodes<4> {
  static constexpr double x[] = {0.069431844202973712388, 0.33000947820757186760,
                                 0.66999052179242813240, 0.93056815579702628761};
  static constexpr double w[] = {0.17392742256872692869, 0.32607257743127307131,
                                 0.32607257743127307131, 0.17392742256872692869};
};
template <>
struct UnitNodes<8> {
  static constexpr double x[] = {0.019855071751231884158, 0.10166676129318663020,
                                 0.23723379504183550709,  0.40828267875217509753,
                                 0.59171732124782490247,  0.76276620495816449291,
                                 0.89833323870681336980,  0.98014492824876811584};
  static constexpr double w[] = {0.050614268145188129576, 0.11119051722668723527,
                                 0.15685332293894364367,  0.18134189168918099148,
                                 0.18134189168918099148,  0.15685332293894364367,
                                 0.11119051722668723527,  0.050614268145188129576};
};

// A piece of a log-density that falls from its start by slope t + t^2 / 2, slope >= 0, over a
// length that may be infinite.
inline double piece_fall(double slope, double length) {
  return std::isinf(length) ? length : length * (slope + 0.5 * length);
}

template <int K, int M>
inline void piece_by_nodes(double slope, double length, double* out) {
  for (int k = 0; k <= K; ++k) out[k] = 0;
  for (int j = 0; j < M; ++j) {
    const double t = length * UnitNodes<M>::x[j];
    double f = length * UnitNodes<M>::w[j] * std::exp(-t * (slope + 0.5 * t));
    for (int k = 0; k <= K; ++k, f *= t) out[k] += f;
  }
}

// The whole tail without what begins at the piece's end.
template <int K>
inline void piece_by_tails(double slope, double length, double fall, double* out) {
  tail_moments<K>(slope, out);
  if (fall > 45) return;
  double far[K + 1];
  tail_moments<K>(slope + length, far);
  const double scale = std::exp(-fall);
  for (int k = K; k >= 0; --k) {
    double shifted = far[0];  // sum of binomial(k, i) length^(k - i) far_i
    for (int i = 1, choose = 1; i <= k; ++i) {
      choose = choose * (k - i + 1) / i;
      shifted = shifted * length + choose * far[i];
    }
    out[k] -= scale * shifted;
  }
}

// Integrals of t^k exp(-slope t - t^2 / 2) over the piece, k = 0 .. K. Powers of t leave less of
// a rule's order for the rest. A difference of tails loses a factor of 1 / fall at most in the
// zeroth moment, more in higher ones, which therefore take nodes as long as these do.
template <int K>
inline void piece_moments(double slope, double length, double fall, double* out) {
  if (K == 0 && fall < 1e-4) return piece_by_nodes<K, 2>(slope, length, out);
  if (fall < (K == 0 ? 0.05 : 1e-3)) return piece_by_nodes<K, 4>(slope, length, out);
  if (K > 0 && fall < 2) return piece_by_nodes<K, 8>(slope, length, out);
  piece_by_tails<K>(slope, length, fall, out);
}

}  // namespace bsvm
