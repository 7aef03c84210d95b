#pragma once
#include <memory>
#include <vector>

#include "data/partition.hpp"
#include "data/row_block.hpp"
#include "linalg/sparse_cholesky.hpp"
#include "linalg/weighted_gram.hpp"
#include "model/problem.hpp"
#include "rows/parameter_terms.hpp"
#include "rows/row_source.hpp"
#include "rows/tree_sum.hpp"
#include "rows/weight_history.hpp"
#include "sparse_rows.hpp"

namespace bsvm {

// All rows in memory, with several grouping factors or sparse predictors. Of the sparse
// columns, in a fill-reducing order, the leading ones are eliminated by a sparse Cholesky
// factorisation; those of the root stay with the dense coefficients, before them.
//
// Of a part of all rows (SparseColumns::number) the root is the shared columns, and what only they
// say of themselves, their prior above all, is left to who has all parts (rows/shared_levels.hpp).
class SparseSource : public KeptSource {
 public:
  // Without the numbers of its columns it can do all but sums(). pattern: that of the same rows, if it
  // is known.
  SparseSource(const Problem& problem, Use use, int threads,
               std::shared_ptr<const SparsePattern> pattern = nullptr);

  Index extra() const override { return pattern_.columns - pattern_.leading; }
  void ask(Use use) override { use_ = use; }
  void sums(const State& state, RowSums& out, Host& host) override;
  Mat settle(const State& state, Settle how, double change) override;
  void keep() override;
  void back(const State& best) override;
  GroupPosterior groups() const override;

  Vec effects() const override { return by_column(mean_); }
  Vec expected_effects(ConstVecRef expected) const override;
  void restore(ConstVecRef effects, State& state) override;
  Vec kept() const override;
  void restore(const Vec& kept) override;

  // What will be found from the State otherwise: the inverse of the root.
  void know_root(std::shared_ptr<const Mat> root) { known_root_ = std::move(root); }

  const SparsePattern& pattern() const { return pattern_; }
  const std::shared_ptr<const SparsePattern>& shared_pattern() const { return own_pattern_; }

 private:
  // Scratch of a thread.
  struct Worker {
    Arr m, v;  // (r)
    RowTerms terms, moved;  // moved: where a parameter is
    RowDraws random;
    WeightedGram squares;
    Vec column;  // of the one precision or both, in turn, by position, then dense
  };
  // What a pass stands with, kept with the best State.
  struct Kept {
    Vec mean, sd;  // (columns) by position
    SparseValues factor;
  };

  template <class Source, class Visit>
  static void each_kept(Source& source, const Visit& visit);
  bool drawn() const { return use_ == Use::drawn; }
  bool is_part() const { return problem_.sparse.number != nullptr; }
  bool knows_covariance() const { return sd_.size() > 0 && sd_[0] > 0; }
  // Is the rows' weight their curvature too? Then one precision is formed.
  bool one_precision() const { return use_ != Use::augmented; }
  void take_rows();
  void make_workers();
  void take(const State& state);

  void run_rows(const State& state, Host& host);
  void fill(const BlockRange& range, const State& state);
  void moments(const BlockRange& range, const State& state, Worker& worker) const;
  void variances(const BlockRange& range, const std::vector<double>& factor,
                 Worker& worker) const;
  void answer(const BlockRange& range, const State& state, Worker& worker);
  void add_rows(const BlockRange& range, Worker& worker, RowSums& out);
  void add_parameters(const BlockRange& range, Worker& worker, RowSums& out) const;
  void add_sparse_variance();
  void unpack_inverse(Index k, Vec& column) const;
  const double* coupling(Index position) const;
  double row_product(Index i, const Vec& x) const;

  void run_columns(const State& state, RowSums& out, Host& host);
  template <int K>
  void add_column(Index k, const State& state, Vec& column, RowSums& out);
  template <int K>
  void add_prior(Index k, const State& state, Vec& column);
  template <int K>
  void store_column(Index k, Vec& column, RowSums& out);
  double prior_slope(Index k, const State& state) const;
  void eliminate(const State& state, RowSums& out, Host& host);

  void find_inverse(const State& state);
  Mat level_moments() const;
  Mat covariance(Index first, Index q) const;
  Vec by_column(const Vec& by_position) const;
  Vec dense_unit() const;

  void draw(const State& state);

  const Problem& problem_;
  const Use opened_;
  Use use_;
  int threads_;
  Levels levels_;
  std::shared_ptr<const SparsePattern> own_pattern_;
  const SparsePattern& pattern_;
  Partition partition_;      // of rows
  SparseRows rows_;
  std::vector<Lane> lanes_;  // of columns
  RowData data_;             // all rows in the partition's order
  bool filled_ = false;      // are its dense columns?
  CurrentLikelihood likelihood_;
  ParameterTerms parameters_;
  std::vector<Worker> workers_;
  std::unique_ptr<TreeSum<RowSums>> row_sums_;  // of the dense columns alone

  Mat terms_;         // (4, n) slope, weight and curvature of each row, and room
  Arr row_variance_;  // (n) what the sparse columns alone add to v

  Vec mean_;      // (columns) E u, or the draw, by position
  Vec step_;      // (leading) the step of the mean
  Vec sd_;        // (columns) by position
  Vec gradient_;  // (columns + p) by position; the leading part through forward()
  SparseValues factor_, next_, curvature_;  // under the covariance, the new weights, ...
  SparseInverse inverse_;
  std::shared_ptr<const Mat> known_root_;
  bool stale_variance_ = true;
  Kept kept_;
  WeightHistory history_;  // without Use::augmented and Use::drawn
  Vec expected_;           // (columns) Use::drawn: what effects were drawn around, by position
};

}  // namespace bsvm
