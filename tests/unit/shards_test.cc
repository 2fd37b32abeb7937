#include "execute/data/shards.h"

#include <gtest/gtest.h>

#include <numeric>

#include "execute/data/output_shards.h"

namespace shoal::internal {
namespace {

Array Counting(std::vector<int64_t> dims) {
  Array array(ElementType::kS32, Ints(dims));
  std::span<int32_t> elements = array.Mutable<int32_t>();
  std::iota(elements.begin(), elements.end(), 0);
  return array;
}

std::vector<int32_t> Elements(const Array& array) { return {array.As<int32_t>().begin(), array.As<int32_t>().end()}; }

Sharding Tiles(std::vector<int64_t> dims, std::vector<int64_t> devices, bool replicate_last = false) {
  Sharding sharding;
  sharding.kind = Sharding::Kind::kTiled;
  sharding.tiles.dims = std::move(dims);
  sharding.tiles.devices = std::move(devices);
  sharding.replicate_last_dim = replicate_last;
  return sharding;
}

TEST(Shards, TiledInAnyDeviceOrder) {
  const auto grid = ShardGridOf(Tiles({2, 2}, {3, 2, 1, 0}), 2, 4);
  ASSERT_TRUE(grid.has_value());
  EXPECT_EQ(Elements(ShardOf(Counting({2, 4}), *grid, 3)), (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(Elements(ShardOf(Counting({2, 4}), *grid, 0)), (std::vector<int32_t>{6, 7}));
}

TEST(Shards, PartiallyReplicated) {
  const auto grid = ShardGridOf(Tiles({2, 2}, {0, 2, 1, 3}, /*replicate_last=*/true), 1, 4);
  ASSERT_TRUE(grid.has_value());
  EXPECT_EQ(Elements(ShardOf(Counting({4}), *grid, 2)), (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(Elements(ShardOf(Counting({4}), *grid, 1)), (std::vector<int32_t>{2, 3}));
}

TEST(Shards, PaddedAtTheEnd) {
  const auto grid = ShardGridOf(Tiles({4}, {0, 1, 2, 3}), 1, 4);
  ASSERT_TRUE(grid.has_value());
  const Array whole = Counting({5});
  std::vector<Array> shards;
  for (int64_t i = 0; i < 4; ++i) shards.push_back(ShardOf(whole, *grid, i));
  EXPECT_EQ(Elements(shards[2]), (std::vector<int32_t>{4, 0}));
  EXPECT_EQ(Elements(shards[3]), (std::vector<int32_t>{0, 0}));
  EXPECT_EQ(Elements(JoinShards(shards, *grid, whole.dims())), Elements(whole));
}

TEST(Shards, ByAxesOfAMesh) {
  Sharding sharding;
  sharding.kind = Sharding::Kind::kNamed;
  sharding.mesh = Mesh{{"x", "y"}, {{2, 4}, IotaTiles::Plain({2, 4}), {}}, false};
  // The minor half of y, then x.
  sharding.dimensions = {{{AxisRef{1, SubAxis{2, 2}}, AxisRef{0, {}}}, true}};
  const auto grid = ShardGridOf(sharding, 1, 8);
  ASSERT_TRUE(grid.has_value());
  EXPECT_EQ(grid->tiles[0], 4);
  std::vector<int64_t> positions;
  for (const Dims& position : grid->positions) positions.push_back(position[0]);
  EXPECT_EQ(positions, (std::vector<int64_t>{0, 2, 0, 2, 1, 3, 1, 3}));
}

TEST(Shards, NoShardGrid) {
  Sharding manual;
  manual.kind = Sharding::Kind::kManual;
  EXPECT_FALSE(ShardGridOf(manual, 1, 4).has_value());
  EXPECT_FALSE(ShardGridOf(Tiles({2}, {0, 1}), 1, 4).has_value());
  EXPECT_FALSE(ShardGridOf(Tiles({2}, {0, 9}), 1, 2).has_value());
  EXPECT_TRUE(ShardGridOf(Sharding(), 3, 4)->replicated());
}

TEST(Shards, DuplicateDevice) { EXPECT_FALSE(ShardGridOf(Tiles({2, 2}, {3, 2, 3, 0}), 2, 4).has_value()); }

TEST(DefaultShards, InDeviceOrder) {
  const std::vector<int64_t> whole{8, 4}, rows{4, 4}, both{4, 2}, odd{3, 4};
  auto first = [&](const std::vector<int64_t>& shard, int64_t devices) {
    std::vector<int64_t> rows_of;
    const std::optional<ShardGrid> grid = DefaultShards(whole, shard, devices);
    for (const Dims& position : grid->positions) rows_of.push_back(position[0]);
    return rows_of;
  };
  EXPECT_EQ(first(rows, 4), (std::vector<int64_t>{0, 0, 1, 1}));
  EXPECT_EQ(first(both, 4), (std::vector<int64_t>{0, 0, 1, 1}));
  EXPECT_EQ(first(odd, 3), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_TRUE(DefaultShards(whole, whole, 8)->replicated());
  EXPECT_FALSE(DefaultShards(whole, odd, 8).has_value());
  EXPECT_FALSE(DefaultShards(rows, whole, 8).has_value());
}

}  // namespace
}  // namespace shoal::internal
