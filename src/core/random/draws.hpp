#pragma once
#include <array>
#include <cstdint>

#include "base/types.hpp"

namespace bsvm {

// Random numbers are a function of what they are for, not of when or where they are
// asked: threads, machines, interruptions and the order of work change nothing.

// The bijection Philox4x32-10 (Salmon, Moraes, Dror & Shaw 2011).
using Words = std::array<std::uint32_t, 4>;
Words philox(Words counter, std::uint64_t key);

struct DrawKey {
  std::uint64_t seed;
  std::uint32_t chain;  // below 2^16
  std::uint64_t sweep;  // below 2^44
};

enum class Purpose : std::uint32_t { rows, dense, groups, hyper, move, unknown, indicator,
                                      design };

// One stream for every (key, purpose, index below 2^40), 2^25 numbers long. No two
// streams share a counter of the bijection.
class Draws {
 public:
  Draws(const DrawKey& key, Purpose purpose, std::uint64_t index);

  double uniform();  // in (0, 1), a multiple of 2^-53
  double normal();
  double gamma(double shape);           // rate 1; at least 1e-300
  double log_gamma_draw(double shape);  // its logarithm, for shapes whose draws underflow
  // scale / gamma, in [1e-300, 1e300].
  double inverse_gamma(double shape, double scale);

 private:
  Words counter_;
  std::uint64_t seed_, spare_ = 0;
  bool has_spare_ = false;
};

// Two numbers a row, of Purpose::rows and the row's index, first .. first + r - 1: what Draws(key,
// rows, index) would give as normal() and uniform() for the first time, or once `before` such pairs
// are gone. `normal` (r), `uniform` (r).
void row_draws(const DrawKey& key, Index first, Index r, double* normal, double* uniform,
               std::uint32_t before = 0);

}  // namespace bsvm
