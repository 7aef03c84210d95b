#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

// Integrals by brute force, in long double.
namespace bsvm_test {

// Of a function that is smooth and dies away at both ends: the trapezoid rule
// then converges faster than any power of the step.
template <class F>
long double trapezoid(F f, long double low, long double high, int steps = 4000) {
  const long double h = (high - low) / steps;
  long double sum = 0.5L * (f(low) + f(high));
  for (int k = 1; k < steps; ++k) sum += f(low + k * h);
  return sum * h;
}

// Over x > 0, by t = log x.
template <class F>
long double over_positive(F f, long double low_log = -60, long double high_log = 60,
                          int steps = 6000) {
  return trapezoid([&](long double t) { return f(std::exp(t)) * std::exp(t); }, low_log,
                   high_log, steps);
}

struct Node {
  long double x, weight;
};

// Gauss-Legendre with 16 nodes on (low, high).
inline std::vector<Node> gauss_nodes(long double low, long double high) {
  static const long double x[8] = {
      0.0950125098376374401853L, 0.2816035507792589132305L, 0.4580167776572273863424L,
      0.6178762444026437484467L, 0.7554044083550030338951L, 0.8656312023878317438805L,
      0.9445750230732325760779L, 0.9894009349916499325962L};
  static const long double w[8] = {
      0.1894506104550684962854L, 0.1826034150449235888668L, 0.1691565193950025381893L,
      0.1495959888165767320815L, 0.1246289712555338720525L, 0.0951585116824927848099L,
      0.0622535239386478928628L, 0.0271524594117540948518L};
  const long double centre = 0.5L * (low + high), half = 0.5L * (high - low);
  std::vector<Node> out;
  for (int k = 0; k < 8; ++k)
    for (int sign : {-1, 1}) out.push_back({centre + sign * half * x[k], half * w[k]});
  return out;
}

// Of all panels between the breaks.
inline std::vector<Node> panel_nodes(std::vector<long double> breaks) {
  std::sort(breaks.begin(), breaks.end());
  std::vector<Node> out;
  for (size_t k = 1; k < breaks.size(); ++k) {
    const std::vector<Node> panel = gauss_nodes(breaks[k - 1], breaks[k]);
    if (breaks[k] > breaks[k - 1]) out.insert(out.end(), panel.begin(), panel.end());
  }
  return out;
}

}  // namespace bsvm_test
