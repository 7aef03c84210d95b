#pragma once
#include <memory>
#include <vector>

#include "data/group_states.hpp"
#include "data/partition.hpp"
#include "linalg/weighted_gram.hpp"
#include "model/problem.hpp"
#include "rows/parameter_terms.hpp"
#include "rows/row_source.hpp"
#include "rows/tree_sum.hpp"
#include "rows/weight_history.hpp"

namespace bsvm {

// All rows in this process's memory, worked through in lanes on threads.
class MemorySource : public KeptSource {
 public:
  // Rows are kept in working order if they are at most `most_gathered` numbers (32 MB);
  // else gathered in each pass.
  MemorySource(const Problem& problem, Use use, int threads,
               Index most_gathered = Index{1} << 22);

  void ask(Use use) override { use_ = use; }
  void sums(const State& state, RowSums& out, Host& host) override;
  Mat settle(const State& state, Settle how, double change) override;
  void keep() override;
  void back(const State& best) override;
  GroupPosterior groups() const override { return kept_; }
  Imputations imputations(const State& state) override;
  Vec kept() const override;
  void restore(const Vec& kept) override;

  Vec effects() const override {
    return Eigen::Map<const Vec>(groups_.effect.data(), groups_.effect.size());
  }
  Vec expected_effects(ConstVecRef) const override {
    return Eigen::Map<const Vec>(expected_.data(), expected_.size());
  }
  void restore(ConstVecRef effects, State& state) override;
  Vec unknowns() const override { return latent_->drawn(); }
  void restore_unknowns(ConstVecRef drawn) override { latent_->restore(drawn); }
  void fill_unknown(Mat& design) override;

 private:
  struct Worker {
    RowBlock block;
    RowTerms terms;
    RowDraws random;
    WeightedGram squares;
    std::unique_ptr<LatentBlock> latent;
    std::unique_ptr<RowBlock> moved;  // of blocks with parameters: rows once one moved
    RowTerms moved_terms;
  };

  template <class Source, class Visit>
  static void each_kept(Source& source, const Visit& visit);
  // Is the rows' weight their curvature too? Then one precision is formed.
  bool one_precision() const { return use_ != Use::augmented; }
  void keep_gathered();
  void gather(Index first_row, Index r, const State& state, RowData& out) const;
  void load(const BlockRange& range, const State& state, RowBlock& block) const;
  void look(const BlockRange& range, const State& state, Worker& worker) const;
  void moments(const BlockRange& range, const State& state, RowBlock& block) const;
  void add_effects(const BlockRange& range, RowBlock& block) const;
  void answer(const BlockRange& range, const State& state, Worker& worker);
  void add(const BlockRange& range, const State& state, Worker& worker, RowSums& out);
  bool integrate(const BlockRange& range, const State& state, const Likelihood& likelihood,
                 Worker& worker, RowTerms& out) const;
  void add_parameters(const BlockRange& range, const State& state, Worker& worker,
                      RowSums& out) const;
  const Arr& moved_values(const BlockRange& range, const State& state,
                          const ParameterTerms::Moved& to, Worker& worker) const;
  void add_groups(const BlockRange& range, const State& state, Worker& worker,
                  RowSums& out);
  void add_piece(const BlockRange& range, const State& state, Worker& worker, RowSums& out);
  void group_gradient(const GroupRows& rows, const Mat& prior, const Worker& worker,
                      double* out) const;
  Index large_number(Index group) const;
  void take_large(const State& state);
  void settle_block(const BlockRange& range, const State& state, Settle how,
                    double change, RowBlock& block, Mat& out);
  GroupRows group_rows(const BlockRange& range, Index group) const;

  const Problem& problem_;
  Use use_;
  int threads_;
  std::vector<Index> large_;            // groups that are large levels, or parts of them
  Partition partition_;
  GroupStates groups_;
  std::unique_ptr<RowData> gathered_;   // all rows, or null
  CurrentLikelihood likelihood_;
  ParameterTerms parameters_;
  std::unique_ptr<LatentRows> latent_;  // of what is unknown in the design
  GroupPosterior kept_;
  WeightHistory history_;               // without Use::augmented and Use::drawn
  std::vector<double> inverse_factor_;  // the State's, packed for the kernels
  std::vector<Worker> workers_;         // one a thread
  std::unique_ptr<TreeSum<RowSums>> total_;
  Mat expected_;                        // (q, m) Use::drawn: what effects were drawn around
};

}  // namespace bsvm
