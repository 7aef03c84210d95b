#pragma once
#include "../host.hpp"
#include "../model/row_sums.hpp"
#include "../model/state.hpp"

namespace bsvm {

// How `settle` brings the groups in line with a new State.
enum class Settle {
  advance,  // take the covariance and the step of the last `sums`
  shorten   // the State's step was shortened by `change` (< 0) of its length
};

// The effects of all groups given what a run has learned.
struct GroupPosterior {
  Mat mean;        // (q, m) E u_g
  Mat precision;   // (q q, m) A_gg: u_g's precision given the dense coefficients b
  Mat regression;  // (p q, m) B_g' = A_dg A_gg^{-1}: E[u_g | b] = mean - B_g (b - E b)
};

// Where the rows are: in memory, in files, on other machines. The State goes
// in, RowSums come out, and neither grows with rows or groups.
class RowSource {
 public:
  virtual ~RowSource() = default;

  // One pass over the rows. Throws Interrupted when the host asks for it.
  virtual void sums(const State& state, RowSums& out, Host& host) = 0;

  // The groups' own posterior given the dense coefficients' new one; fills
  // out.group_square(). No row is touched.
  virtual void settle(const State& state, Settle how, double change, RowSums& out) = 0;

  virtual GroupPosterior groups() const = 0;
};

}  // namespace bsvm
