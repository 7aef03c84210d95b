#pragma once
#include <vector>

#include "data/partition.hpp"
#include "integral/pair/pair_integral.hpp"
#include "model/problem.hpp"

namespace bsvm {

// The rows as the integrated factor sees them: in working order, whole groups to a block. Their
// coefficients are the dense columns and then, by term, level and effect, the other sparse ones,
// of which a group has few.
class IntegratedRows {
 public:
  explicit IntegratedRows(const Problem& problem);

  Index coefficients() const { return dense_ + others_; }
  Index effects() const { return z_.cols(); }
  Index groups() const { return groups_; }
  Index first_effect() const { return first_effect_; }  // among all effects of the problem
  const Vec& unit() const { return unit_; }  // (effects) outside effect = inside one times it
  const Partition& partition() const { return partition_; }
  const std::vector<Lane>& lanes() const { return lanes_; }

  // Scratch of a thread.
  struct Block {
    Mat own;                    // (dense, rows), unless all are kept
    const double* c = nullptr;
    Vec o;                      // (rows) offset and all coefficients
    Mat group;                  // a group's own columns: dense, and others that occur in it
    std::vector<Index> columns; // their places among the coefficients; empty: the dense ones
    std::vector<Index> place;   // (others) within `columns`, or -1
  };
  void load(const BlockRange& range, ConstVecRef b, Block& out) const;

  // (d, d) sum of weight c c' over all rows, lower triangle.
  Mat gram() const;

  // A group's rows of the block just loaded.
  PairRows group(Index group, const BlockRange& range, Block& block) const;

 private:
  void take_multipliers(const Problem& problem);
  void take_term(const Problem& problem);
  void take_column(const SparseColumns& sparse, Index column, Index level, Index effect);
  void take_others(const Problem& problem, const std::vector<Index>& place);
  void gather(const Problem& problem);
  void cut_lanes();
  void fill(Index first_row, Index r, Eigen::Ref<Mat, 0, Eigen::OuterStride<>> out) const;
  void find_columns(Index first, Index last, Block& block) const;

  const Problem& problem_;
  Index dense_, others_ = 0, groups_ = 0, first_effect_ = 0;
  Vec unit_;
  std::vector<int> code_;      // (n) 1 .. groups, of a term
  Mat z_;                      // (n, effects), working order once gathered, inside
  Arr y_, weight_, offset_;    // (n) working order; weight_ empty: all one
  Mat c_;                      // (dense, n), or empty
  std::vector<int> other_start_, other_;  // (n + 1) by row in working order
  std::vector<double> other_value_;
  Partition partition_;
  std::vector<Lane> lanes_;
};

}  // namespace bsvm
