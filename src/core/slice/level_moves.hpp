#pragma once
#include "random/draws.hpp"
#include "rows/lines/predictors.hpp"
#include "working_gaussian.hpp"

namespace bsvm {

// Slices of each level's effects, over the rows they touch, along the axes of their covariance in
// a WorkingGaussian; with a factor other than the main one the main one's effects of the same rows
// follow.
class LevelMoves {
 public:
  LevelMoves(const Problem& problem, const WorkingRows& working, const WorkingGaussian& gaussian)
      : problem_(problem), working_(working), gaussian_(gaussian) {}

  void run(Predictors& rows, Draws& random);

 private:
  void move_level(const FactorRows& own, Index t, Index g, const Mat& prior, Predictors& rows,
                  Draws& random);
  void move_with_main(const FactorRows& own, Index t, Index l, const Mat& prior,
                      const Mat& main_prior, Predictors& rows, Draws& random);
  void take(const FactorRows& own, Index g);
  void gather(const Predictors& rows);
  double slice_touched(double pull, double bend, Predictors& rows, Draws& random);

  const Problem& problem_;
  const WorkingRows& working_;
  const WorkingGaussian& gaussian_;
  std::vector<int> touched_;          // rows
  Arr y_, f_, slope_, weight_;        // theirs, and what f changes by
  Vec others_;                        // what linked main levels change by
};

}  // namespace bsvm
