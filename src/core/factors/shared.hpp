#pragma once
#include <memory>
#include <vector>

#include "model.hpp"
#include "turned_rows.hpp"

namespace bsvm {

// Of a row's variables, or of a variable's rows, those that are missing, or, if they are fewer,
// those that are not.
struct Gaps {
  bool lists_seen = false;
  std::vector<Index> listed;
  double seen = 0;  // how many are not missing
};

// `missing`, in increasing order, of `size` are missing.
Gaps gaps_of(const std::vector<Index>& missing, Index size);

// What chains of a model share: nothing here changes.
struct SharedFactors {
  explicit SharedFactors(const FactorModel& model);

  const FactorModel& model;
  std::vector<Index> labelled;     // rows with a response
  std::vector<Index> place;        // (N) of an incomplete row among these, -1 of others
  std::vector<Gaps> row_gaps;      // of each incomplete row
  std::vector<Index> gap_of;       // (p) of an incomplete variable among these, -1 of others
  std::vector<Gaps> variable_gaps;  // of each incomplete variable
  Vec squares;                     // (p) sums of x_i^2 over rows
  Index intercept = -1;            // a covariate that is the same number, not zero, for all rows
  Mat start;                       // (N, K) scores to start from: principal components
  std::unique_ptr<TurnedRows> turned;
  Mat points;                      // (K, M) inducing points, unless it is linear or exact

  // (N, p), zero where missing.
  const Mat& x() const { return filled_.size() > 0 ? filled_ : model.x; }
  double weight(Index row) const { return model.weight.size() > 0 ? model.weight[row] : 1; }
  Vec offset() const {
    return model.offset.size() > 0 ? model.offset : Vec(Vec::Zero(model.n()));
  }

 private:
  void find_gaps();

  Mat filled_;  // if something is missing
};

}  // namespace bsvm
