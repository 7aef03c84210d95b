#pragma once
#include <vector>

#include "base/types.hpp"

namespace bsvm {

// Rows first_row .. first_row + rows - 1 in the working order, and the whole
// groups (if any) they make up; or, of a large group, a piece.
struct BlockRange {
  Index first_row, rows, first_group, groups;
  bool piece = false;
};

// Blocks first .. last - 1: what one thread works through in one go.
struct Lane {
  Index first, last;
};

// How the rows are cut. It depends on the data's shape alone, never on the number of threads, and
// sums of lanes are added by one tree (rows/tree_sum): same bits for any number. Blocks and lanes
// are cut from the front on, so rows from the start of a lane on are cut as they are here. A large
// group has lanes of its own, cut like rows without groups.
struct Partition {
  std::vector<int> order;          // (n) working order -> row; rows of a group adjoin
  std::vector<Index> group_start;  // (groups + 1) first row of each group in that order
  std::vector<BlockRange> blocks;
  std::vector<Lane> lanes;
  Index largest_block = 0, most_groups = 0;
};

// group: (n) codes 1..groups or null. p: size of the sums, which decides how long a block and a lane
// are worth while. large: groups that are cut into pieces, increasing from 0.
Partition cut(const int* group, Index n, Index groups, Index p,
              const std::vector<Index>& large = {});

// Blocks and lanes of rows in working order, whose levels begin at these rows (the last is their
// number).
Partition cut_levels(std::vector<Index> level_start, Index p, const std::vector<Index>& large = {});

// How many rows a lane has without levels.
Index lane_rows(Index p);

}  // namespace bsvm
