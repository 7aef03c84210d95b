#pragma once
#include <utility>
#include <vector>

#include "hinge_kernels.hpp"
#include "integral/rules/stretches.hpp"

namespace bsvm {

// Where a row's f is -1 or 1; always the same number.
inline double kink(const LineRow& row, double f) { return (f - row.o) / row.z; }

// Where E(e) = sum of log p_i - e^2 / 2 counts. At y f = -1 a row's slope jumps up; all else is
// concave.
class WindowSearch {
 public:
  // Stretches by position, clipped to where the bound is within kDeep. With `at_kinks` they are
  // divided at all kinks, which takes r^2 work.
  void find(const std::vector<LineRow>& rows, bool weighted, bool at_kinks);

  const std::vector<Stretch>& found() const { return found_; }
  const Probe& best() const { return best_; }

  // -e^2 / 2 included.
  static Probe probe(const LineRow* rows, Index r, bool weighted, double e);

 private:
  static double reach(const std::vector<LineRow>& rows);
  void start_at_kinks(const std::vector<LineRow>& rows, bool weighted);
  void sort_jumps(const std::vector<LineRow>& rows);
  double jumps(double low, double high) const;

  bool at_kinks_ = false;
  double reach_ = 0;
  Probe best_{};
  std::vector<Stretch> open_, found_;
  std::vector<double> kinks_, points_, value_, first_, second_;
  std::vector<std::pair<double, double>> jumps_;  // where, and the sum up to there
};

}  // namespace bsvm
