#include <doctest/doctest.h>

#include <set>

#include "data/partition.hpp"
#include "simulate.hpp"

using namespace bsvm_test;

namespace {

void check_cover(const Partition& cut, Index n) {
  CHECK(std::set<int>(cut.order.begin(), cut.order.end()).size() == static_cast<size_t>(n));
  Index row = 0, block = 0;
  for (const BlockRange& range : cut.blocks) {
    CHECK(range.first_row == row);
    CHECK(range.rows <= cut.largest_block);
    CHECK(range.groups <= cut.most_groups);
    row += range.rows;
  }
  for (const Lane& lane : cut.lanes) {
    CHECK(lane.first == block);
    CHECK(lane.last > lane.first);
    block = lane.last;
  }
  CHECK(row == n);
  CHECK(block == static_cast<Index>(cut.blocks.size()));
}

}  // namespace

TEST_CASE("rows without groups are cut once each, in order, into short blocks") {
  for (Index n : {1, 15, 256, 257, 5000, 100000}) {
    const Partition partition = cut(nullptr, n, 0, 10);
    check_cover(partition, n);
    CHECK(partition.largest_block <= 256);
    CHECK(std::is_sorted(partition.order.begin(), partition.order.end()));
  }
}

TEST_CASE("lanes depend on rows and columns alone") {
  CHECK(lane_rows(10) == 9 * 252);
  CHECK(cut(nullptr, 9 * 252, 0, 10).lanes.size() == 1);
  CHECK(cut(nullptr, 9 * 252 + 1, 0, 10).lanes.size() == 2);
  CHECK(cut(nullptr, 1000000, 0, 10).lanes.size() == 441);
  CHECK(cut(nullptr, 100000, 0, 3000).lanes.size() == 1);  // sums of 72 MB each
}

TEST_CASE("rows from the start of a lane on are cut as they are in the whole") {
  Shape shape;
  shape.n = 30000;
  shape.q = 1;
  shape.groups = 2000;
  shape.large = 4000;
  const Partition all = cut(simulate(shape).group.data(), shape.n, shape.groups, 10);
  const BlockRange& start = all.blocks[static_cast<size_t>(all.lanes[3].first)];
  std::vector<Index> rest;
  for (Index g = start.first_group; g <= shape.groups; ++g)
    rest.push_back(all.group_start[g] - start.first_row);
  const Partition part = cut_levels(rest, 10);
  REQUIRE(part.lanes.size() == all.lanes.size() - 3);
  for (size_t k = 0; k < part.lanes.size(); ++k)
    CHECK(part.blocks[static_cast<size_t>(part.lanes[k].first)].first_row + start.first_row ==
          all.blocks[static_cast<size_t>(all.lanes[k + 3].first)].first_row);
}

TEST_CASE("wide designs get short blocks, for a prompt answer to an interrupt") {
  CHECK(cut(nullptr, 5000, 0, 1000).largest_block == 33);
  CHECK(cut(nullptr, 5000, 0, 100000).largest_block == 16);
}

TEST_CASE("a group's rows adjoin in their order and never straddle blocks") {
  Shape shape;
  shape.n = 6000;
  shape.q = 1;
  shape.groups = 700;
  shape.large = 300;
  const std::vector<int> group = simulate(shape).group;
  const Partition partition = cut(group.data(), shape.n, shape.groups, 10);
  check_cover(partition, shape.n);
  CHECK(partition.largest_block == 300);  // the large group, alone
  for (const BlockRange& range : partition.blocks)
    CHECK(range.rows == partition.group_start[range.first_group + range.groups] -
                            partition.group_start[range.first_group]);
  for (Index g = 0; g < shape.groups; ++g)
    for (Index i = partition.group_start[g]; i < partition.group_start[g + 1]; ++i) {
      CHECK(group[partition.order[i]] == g + 1);
      if (i > partition.group_start[g]) CHECK(partition.order[i] > partition.order[i - 1]);
    }
}

TEST_CASE("a level without rows has its place in a block") {
  const int group[] = {1, 3, 3};
  const Partition partition = cut(group, 3, 4, 2);
  check_cover(partition, 3);
  CHECK(partition.group_start == std::vector<Index>{0, 1, 1, 3, 3});
  CHECK(partition.blocks.back().first_group + partition.blocks.back().groups == 4);
}

TEST_CASE("levels without rows after a long group are not lost") {
  const std::vector<int> group(5000, 1);
  check_cover(cut(group.data(), 5000, 4, 3), 5000);
}
