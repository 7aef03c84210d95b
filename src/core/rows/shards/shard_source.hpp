#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/kept_heap.hpp"
#include "block/dense.hpp"
#include "model/problem.hpp"
#include "rows/row_source.hpp"
#include "rows/tree_sum.hpp"
#include "shard_file.hpp"
#include "shard_states.hpp"

namespace bsvm {

struct SparsePattern;

// A problem whose rows are those of the shard in memory: `design` is one of its blocks, and the
// multipliers are `slopes`, or ones if that is null. Its response is (y - shift) / unit, in whose
// unit is the offset, too.
struct ShardProblem {
  Problem problem;
  DenseBlock* design = nullptr;
  DenseBlock* slopes = nullptr;
  double shift = 0, unit = 1;
  std::vector<SparseTerm> terms;  // of several grouping factors, with all their levels

  void look_at(const ShardRows& rows);

 private:
  void look_at_levels(const ShardRows& rows);
  Arr y_, offset_;  // in units, where these are not the file's own
};

// work(the problem with a shard's rows) for all shards in their order, the next one being read meanwhile.
// Whatever the number of its rows, a level is in one of these parts as a whole.
void each_shard(ShardProblem& view, const std::vector<std::string>& paths,
                const std::function<void(const Problem& part)>& work);

// Rows in files, of which one is worked through in memory while the next is read. Each shard is a
// leaf of the tree by which a MemorySource adds its lanes, so that the bits are those of all rows in
// memory. Shards must be whole lanes (shard_starts), a power of two of them but for the last. What is
// said here of a level that is in several shards means nothing: LargeLevels has it.
//
// With several grouping factors each shard is eliminated by a SparseSource but for the levels that others
// have, too, which SharedLevels moves. Of these there are zeros here. Patterns are kept while they take as
// much memory as states may.
class ShardSource : public DrawSource {
 public:
  // `beside`: how the names of files of the levels' states begin, if these do not stay in memory. The
  // problem must outlive it.
  ShardSource(ShardProblem& view, std::vector<std::string> paths, std::string beside, Use use,
              int threads, Index most_in_memory = Index{1} << 24);

  void ask(Use use) override { use_ = use; }
  void turn(std::string from, std::string to, Index first) {  // ShardStates
    states_->turn(std::move(from), std::move(to), first);
  }
  // groups() writes to files whose names begin so, and end with a number, from now on.
  void groups_to(std::string beginning) { groups_to_ = std::move(beginning); }
  void sums(const State& state, RowSums& out, Host& host) override;
  Mat settle(const State& state, Settle how, double change) override;
  void keep() override;
  void back(const State& best) override;
  GroupPosterior groups() const override;

  Vec effects() const override;
  Vec expected_effects(ConstVecRef expected) const override;
  void restore(ConstVecRef effects, State& state) override;
  Index first_level() const { return first_level_; }  // of the first shard, among all

 private:
  using Work = std::function<void(Index shard, KeptSource& source)>;
  Index shards() const { return static_cast<Index>(paths_.size()); }
  void each_shard(const Work& work);         // with its rows
  void move_states(const Work& work);        // with what is known of its levels alone
  void look_at_states(const Work& work) const;
  void find_root(const State& state);
  void work_on(Index shard, const ShardRows& rows, const Work& work) const;
  std::unique_ptr<KeptSource> sparse_source(Index shard) const;
  void put(const Mat& part, Mat& all) const;
  void put(GroupPosterior part, GroupPosterior& all) const;
  template <class Part>
  Vec of_levels(const Part& part) const;
  Index columns_of_terms() const;
  bool has_states() const {
    return view_.problem.effects() > 0 || opened_ == Use::expected ||
           (opened_ == Use::drawn && view_.problem.latent->any());
  }

  KeptHeap heap_;
  ShardProblem& view_;
  std::vector<std::string> paths_;
  Index first_level_ = 0, levels_ = 0;  // those that are here, some of them perhaps in part
  const Use opened_;
  Use use_;
  int threads_;
  Index passes_ = 0;
  const Index most_in_memory_;
  mutable std::vector<std::shared_ptr<const SparsePattern>> patterns_;  // of some shards
  mutable Index pattern_numbers_ = 0;
  std::shared_ptr<const Mat> root_;
  std::string groups_to_;
  mutable int written_ = 0;
  std::unique_ptr<ShardStates> states_;
  std::unique_ptr<TreeSum<RowSums>> total_;
};

// How many rows a shard has without a grouping factor, and how many lanes any has: a power of two,
// so that its numbers take about 2^23 words.
struct ShardSize {
  Index rows, lanes;
};
ShardSize shard_size(Index p, Index numbers_a_row);

// More rows than this make a level a large one, of q effects beside p columns.
Index most_level_rows(Index p, Index q);

// The first row of each shard in working order, among levels of so many rows each, of which these are
// large, or one row each without a grouping factor. Shards are so many lanes of cut(), or fewer if
// lanes that are long, with levels of many rows, would make one twice as long as size.rows.
std::vector<Index> shard_starts(const std::vector<Index>& level_rows,
                                const std::vector<Index>& large, Index p, ShardSize size);

}  // namespace bsvm
