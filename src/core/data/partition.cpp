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

// Other groups never straddle blocks, so a block is as long as it must be.
void cut_groups(Index length, const std::vector<Index>& large, Partition& out) {
  const Index groups = static_cast<Index>(out.group_start.size()) - 1;
  auto next = large.begin();
  for (Index first = 0; first < groups;) {
    const Index start = out.group_start[first];
    Index last = first + 1;
    if (next != large.end() && *next == first) {
      const Index end = out.group_start[last];
      for (Index row = start; row < end; row += length)
        out.blocks.push_back({row, std::min(length, end - row), first, 1, true});
      ++next;
    } else {
      const Index end = next == large.end() ? groups : *next;
      while (last < end && out.group_start[last + 1] - start <= length) ++last;
      out.blocks.push_back({start, out.group_start[last] - start, first, last - first});
    }
    first = last;
  }
}

void cut_rows(Index n, Index length, Partition& out) {
  for (Index first = 0; first < n; first += length)
    out.blocks.push_back({first, std::min(length, n - first), 0, 0});
}

bool may_adjoin(const BlockRange& a, const BlockRange& b) {
  return a.piece == b.piece && (!a.piece || a.first_group == b.first_group);
}

// A lane ends with the block that brings it to `length` rows, or before pieces of another group.
void cut_lanes(Index length, Partition& out) {
  const Index blocks = static_cast<Index>(out.blocks.size());
  for (Index first = 0; first < blocks;) {
    Index last = first + 1;
    for (Index rows = out.blocks[first].rows;
         last < blocks && rows < length && may_adjoin(out.blocks[first], out.blocks[last]); ++last)
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

Partition cut(const int* group, Index n, Index groups, Index p, const std::vector<Index>& large) {
  Partition out;
  out.order.resize(n);
  std::iota(out.order.begin(), out.order.end(), 0);
  if (group) {
    sort_by_group(group, n, groups, out);
    cut_groups(block_length(p), large, out);
  } else {
    cut_rows(n, block_length(p), out);
  }
  finish(p, out);
  return out;
}

Partition cut_levels(std::vector<Index> level_start, Index p, const std::vector<Index>& large) {
  Partition out;
  out.group_start = std::move(level_start);
  cut_groups(block_length(p), large, out);
  finish(p, out);
  return out;
}

Index lane_rows(Index p) {
  const Index block = block_length(p);
  return (lane_length(p) + block - 1) / block * block;
}

}  // namespace bsvm
