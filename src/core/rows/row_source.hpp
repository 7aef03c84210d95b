#pragma once
#include "../host.hpp"
#include "../model/group_posterior.hpp"
#include "../model/row_sums.hpp"
#include "../model/state.hpp"

namespace bsvm {

// How `settle` brings the groups in line with a new State.
enum class Settle {
  advance,  // take the covariance and the step of the last `sums`
  shorten   // the State's step was shortened by `change` (< 0) of its length
};

// Where the rows are: in memory, in files, on other machines. The State goes
// in, RowSums come out, and neither grows with rows or groups.
class RowSource {
 public:
  virtual ~RowSource() = default;

  // One pass over the rows. Throws Interrupted when the host asks for it.
  virtual void sums(const State& state, RowSums& out, Host& host) = 0;

  // Brings the groups' own posterior in line with the dense coefficients' new one and
  // returns the sum over groups of E u u' (q, q). No row is touched.
  virtual Mat settle(const State& state, Settle how, double change) = 0;

  // The groups as they are now go with the best State so far; groups() returns the
  // last that were kept. Groups stay where their rows are until then.
  virtual void keep() = 0;
  virtual GroupPosterior groups() const = 0;
};

}  // namespace bsvm
