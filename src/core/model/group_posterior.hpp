#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/types.hpp"

namespace bsvm {

// The leading columns of L in P A P' = L L', A the precision of sparse and dense
// coefficients together; the rest of L is the root's, whose inverse the State holds.
struct SparseFactor {
  std::vector<int> order;     // (ps) position -> sparse column; dense columns come last
  Index leading = 0;          // positions eliminated before the root
  std::vector<int> start, row;  // (leading + 1); a column's diagonal first
  std::vector<double> value;

  void append(const SparseFactor& other);  // GroupPosterior::join()
};

// A file that has what `mean`, `precision` and `regression` below would be. It goes with the last who
// knows of it, unless somebody keeps it.
struct GroupFile {
  std::string path;
  Index effects = 0, columns = 0, levels = 0;
  std::uint64_t sum = 0;  // a checksum of all numbers, by which the file is known again
  mutable bool kept = false;

  GroupFile() = default;
  GroupFile(const GroupFile&) = delete;
  GroupFile& operator=(const GroupFile&) = delete;
  ~GroupFile();
};

// The effects of all groups given what a run has learned: of one grouping factor
// conditionally on the dense coefficients b, of several as mean, sd and factor.
struct GroupPosterior {
  Mat mean;        // (q, m) E u_g
  Mat precision;   // (q q, m) A_gg: u_g's precision given the dense coefficients b
  Mat regression;  // (p q, m) B_g' = A_dg A_gg^{-1}: E[u_g | b] = mean - B_g (b - E b)

  std::shared_ptr<const GroupFile> file;  // in place of these three, of very many levels

  Vec effect, effect_sd;  // (ps) in the problem's order of columns
  SparseFactor factor;

  // Adds what is known where other rows are, of effects that are zero here. The factors of both are
  // leading columns alone; their rows in the root, which is the same, are -1, -2, ... until close_factor().
  void join(const GroupPosterior& other);
  void close_factor(const std::vector<int>& root);  // its sparse columns
};

}  // namespace bsvm
