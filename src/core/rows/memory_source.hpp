#pragma once
#include <vector>

#include "../model/problem.hpp"
#include "partition.hpp"
#include "row_source.hpp"
#include "units.hpp"

namespace bsvm {

// All rows in this process's memory, worked through in lanes on threads.
class MemorySource : public RowSource {
 public:
  MemorySource(const Problem& problem, Use use, int threads);

  void sums(const State& state, RowSums& out, Host& host) override;
  Mat settle(const State& state, Settle how, double change) override;
  void keep() override;
  GroupPosterior groups() const override { return kept_; }

 private:
  struct Worker {
    RowBlock block;
    RowTerms terms;
  };

  void load(const BlockRange& range, const State& state, RowBlock& block) const;
  void moments(const BlockRange& range, const State& state, RowBlock& block) const;
  void answer(const RowBlock& block, RowTerms& terms) const;
  void add(const BlockRange& range, const State& state, Worker& worker, RowSums& out);
  void add_groups(const BlockRange& range, const State& state, Worker& worker,
                  RowSums& out);
  void finish_unit(const UnitRows& rows, const State& state, const Worker& worker,
                   RowSums& out);
  double change(const BlockRange& range, RowBlock& block) const;
  void settle_block(const BlockRange& range, const State& state, Settle how,
                    double change, RowBlock& block, Mat& out);
  UnitRows unit_rows(const BlockRange& range, Index unit) const;

  const Problem& problem_;
  Use use_;
  int threads_;
  Partition partition_;
  Units units_;
  GroupPosterior kept_;
  std::vector<double> inverse_factor_;  // the State's, packed for the kernels
  std::vector<Worker> workers_;         // one a thread
  std::vector<RowSums> lane_sums_;
};

}  // namespace bsvm
