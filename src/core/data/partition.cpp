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

// Lanes of about equal numbers of rows, `count` at the most.
void cut_lanes(Index n, Index count, Partition& out) {
  const Index blocks = static_cast<Index>(out.blocks.size());
  Index first = 0;
  for (Index lane = 1; lane <= count && first < blocks; ++lane) {
    Index last = first + 1;
    while (last < blocks && (lane == count || out.blocks[last].first_row < n * lane / count))
      ++last;
    out.lanes.push_back({first, last});
    first = last;
  }
}

}  // namespace

Partition cut(const int* group, Index n, Index groups, Index p) {
  Partition out;
  out.order.resize(n);
  std::iota(out.order.begin(), out.order.end(), 0);
  // Short enough for a prompt answer to an interrupt, long enough for the sums; not a power of two,
  // which would put all packed panels at the same places of the processor's cache.
  const Index length = std::clamp<Index>(100000000 / (3 * p * p + 1), 16, 252);
  if (group) {
    sort_by_group(group, n, groups, out);
    cut_groups(length, out);
  } else {
    cut_rows(n, length, out);
  }
  // A lane is worth a thread's start (about 2048 rows) and its own sums (at
  // most 256 MB together).
  const Index by_memory = std::max<Index>(1, (Index(1) << 24) / (p * p + 1));
  cut_lanes(n, std::clamp<Index>(n / 2048, 1, std::min<Index>(16, by_memory)), out);
  for (const BlockRange& b : out.blocks) {
    out.largest_block = std::max(out.largest_block, b.rows);
    out.most_groups = std::max(out.most_groups, b.groups);
  }
  return out;
}

}  // namespace bsvm
