#pragma once
#include "integral/leave_one_out.hpp"
#include "integrated_source.hpp"
#include "rows/lanes.hpp"

namespace bsvm {

// Scratch of a thread.
struct IntegratedSource::Worker {
  IntegratedRows::Block block;
  std::unique_ptr<EffectIntegral> single;
  std::unique_ptr<PairIntegral> pair;
  std::unique_ptr<PairGrid> grid;  // null where PairIntegral is to be asked
  std::unique_ptr<LeaveOneOut> without;  // made when terms are asked for, where kinks are known
  std::vector<std::unique_ptr<EffectIntegral>> moved;  // of moved_; or, of two effects,
  std::vector<std::unique_ptr<PairIntegral>> moved_pair;
  EffectSums sums, near;
  EffectLaw law;
  PairLaw pair_law;
  std::vector<Index> to;       // where the sums' coordinates belong, or -1
  std::vector<double> factor;
  Mat o;                       // (rows, points)
};

template <class Work>
void IntegratedSource::each_group(ConstVecRef point, Host& host, Work work) {
  const Vec b = point.head(coefficients());
  run_lanes(static_cast<Index>(rows_.lanes().size()), threads_, host,
            [&](Index lane, int number, const Checkpoint& checkpoint) {
    Worker& worker = workers_[number];
    for (Index k = rows_.lanes()[lane].first; k < rows_.lanes()[lane].last; ++k) {
      const BlockRange& range = rows_.partition().blocks[k];
      checkpoint();
      rows_.load(range, b, worker.block);
      for (Index g = range.first_group; g < range.first_group + range.groups; ++g) {
        work(g, rows_.group(g, range, worker.block), worker, lane);
        if (g % 16 == 15) checkpoint();
      }
    }
  });
}

}  // namespace bsvm
