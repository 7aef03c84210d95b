#pragma once

namespace bsvm {

// The standard normal law: density, P(X <= x), and the Mills ratio P(X > x) / density(x) with its
// logarithm. To a few units of the last place for every double; mills() is infinite below
// about -38, where log_mills() is not.
double normal_density(double x);
double normal_cdf(double x);
double mills(double x);
double log_mills(double x);

}  // namespace bsvm
