#include "partition.hpp"

#include <algorithm>
#include <numeric>

namespace bsvm {

namespace {

// Counting sort: rows of a group adjoin and keep their order.
void sort_by_group(const int* group, Index n, Index groups, Partition& out) {
  out.group_start.assign(groups + 1, 0);
  for (Index i = 0; i < n; ++i) ++out.group_start[group[i]];
  std::partial_sum(out.group_start.begin(), out.group_start.end(), out.group_start.begin());
  std::vector<Index> next(out.group_start.begin(), out.group_start.end() - 1);
  for (Index i = 0; i < n; ++i) out.order[next[group[i] - 1]++] = static_cast<int>(i);
}

// A group never straddles blocks, so a block is as long as it must be.
void cut_groups(Index length, Partition& out) {
  const Index groups = static_cast<Index>(out.group_start.size()) - 1;
  for (Index first = 0; first < groups;) {
    Index last = first + 1;
    while (last < groups && out.group_start[last + 1] - out.group_start[first] <= length)
      ++last;
    out.blocks.push_back({out.group_start[first], out.group_start[last] - out.group_start[first],
                          first, last - first});
    first = last;
  }
}

void cut_rows(Index n, Index length, Partition& out) {
  for (Index first = 0; first < n; first += length)
    out.blocks.push_back({first, std::min(length, n - first), 0, 0});
}

// A lane ends with the block that brings it to `length` rows.
void cut_lanes(Index length, Partition& out) {
  const Index blocks = static_cast<Index>(out.blocks.size());
  for (Index first = 0; first < blocks;) {
    Index last = first + 1;
    for (Index rows = out.blocks[first].rows; last < blocks && rows < length; ++last)
      rows += out.blocks[last].rows;
    out.lanes.push_back({first, last});
    first = last;
  }
}

// A lane is worth a thread's start (about 2048 rows) and the addition of its sums.
Index lane_length(Index p) {
  Index length = 2048;
  for (Index worth = p * p >> 17; worth > 1; worth >>= 1) length *= 2;
  return length;
}

// Short enough for a prompt answer to an interrupt, long enough for the sums; not a power of two,
// which would put all packed panels at the same places of the processor's cache.
Index block_length(Index p) { return std::clamp<Index>(100000000 / (3 * p * p + 1), 16, 252); }

// What follows from the blocks.
void finish(Index p, Partition& out) {
  cut_lanes(lane_length(p), out);
  for (const BlockRange& b : out.blocks) {
    out.largest_block = std::max(out.largest_block, b.rows);
    out.most_groups = std::max(out.most_groups, b.groups);
  }
}

}  // namespace

Partition cut(const int* group, Index n, Index groups, Index p) {
  Partition out;
  out.order.resize(n);
  std::iota(out.order.begin(), out.order.end(), 0);
  if (group) {
    sort_by_group(group, n, groups, out);
    cut_groups(block_length(p), out);
  } else {
    cut_rows(n, block_length(p), out);
  }
  finish(p, out);
  return out;
}

Partition cut_levels(std::vector<Index> level_start, Index p) {
  Partition out;
  out.group_start = std::move(level_start);
  cut_groups(block_length(p), out);
  finish(p, out);
  return out;
}

Index lane_rows(Index p) {
  const Index block = block_length(p);
  return (lane_length(p) + block - 1) / block * block;
}

}  // namespace bsvm
