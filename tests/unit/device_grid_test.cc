#include "analyze/facts/device_grid.h"

#include "analyze/facts/infer_devices.h"
#include "hlo_text.h"

namespace shoal::internal {
namespace {

using Groups = std::vector<DeviceGroup>;

std::unique_ptr<Module> AllReduce(const std::string& attributes, const std::string& header = "") {
  return ModuleFrom("HloModule m" + header + R"(
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
ENTRY e { p = f32[4] parameter(0) ROOT r = f32[4] all-reduce(p), to_apply=add)" +
                    attributes + " }");
}

Groups GroupsOf(const std::string& attributes, const DeviceGrid& grid) {
  const auto module = AllReduce(attributes);
  Result<Groups> groups = DeviceGroupsOf(*module->entry->root, grid);
  EXPECT_TRUE(groups.ok()) << groups.diag().message;
  return groups.ok() ? *groups : Groups();
}

std::string ErrorOf(const std::string& attributes, const DeviceGrid& grid) {
  const auto module = AllReduce(attributes);
  Result<Groups> groups = DeviceGroupsOf(*module->entry->root, grid);
  return groups.ok() ? "" : groups.diag().message;
}

TEST(DeviceGrid, IdsAreReplicasWithoutAChannel) {
  EXPECT_EQ(GroupsOf(", replica_groups={{1,0},{2}}", {3, 2}), (Groups{{2, 0}, {4}, {3, 1}, {5}}));
  EXPECT_EQ(GroupsOf(", replica_groups={}", {2, 2}), (Groups{{0, 2}, {1, 3}}));
}

TEST(DeviceGrid, AChannelAddsAllPartitions) {
  EXPECT_EQ(GroupsOf(", channel_id=1, replica_groups={{1},{0}}", {2, 2}), (Groups{{2, 3}, {0, 1}}));
  EXPECT_EQ(GroupsOf(", channel_id=1, replica_groups={}", {2, 2}), (Groups{{0, 1, 2, 3}}));
}

TEST(DeviceGrid, GlobalIdsAreDevices) {
  EXPECT_EQ(GroupsOf(", channel_id=1, use_global_device_ids=true, replica_groups={{0,3},{2,1}}", {2, 2}),
            (Groups{{0, 3}, {2, 1}}));
}

TEST(DeviceGrid, AllThreeNotationsOfGroups) {
  const std::string flat = ", channel_id=1, use_global_device_ids=true, replica_groups=";
  const Groups strided{{0, 2}, {1, 3}};
  EXPECT_EQ(GroupsOf(flat + "{{0,2},{1,3}}", {1, 4}), strided);
  EXPECT_EQ(GroupsOf(flat + "[2,2]<=[2,2]T(1,0)", {1, 4}), strided);
  EXPECT_EQ(GroupsOf(flat + "mesh['x'=2,'y'=2] {'x'}", {1, 4}), strided);
}

TEST(DeviceGrid, AnAllToAllWithAChannelWithoutGlobalIdsUsesPartitions) {
  const auto module = ModuleFrom(
      "ENTRY e { p = f32[4] parameter(0) ROOT r = f32[4] all-to-all(p), channel_id=1, replica_groups={{1,0}}, "
      "dimensions={0} }");
  EXPECT_EQ(*DeviceGroupsOf(*module->entry->root, {2, 2}), (Groups{{1, 0}, {3, 2}}));
}

TEST(DeviceGrid, RejectsInvalidGroups) {
  EXPECT_EQ(ErrorOf(", replica_groups={{0,5}}", {2, 1}),
            "replica_groups of r name replica 5, but the run has 2 replicas");
  EXPECT_EQ(ErrorOf(", replica_groups=[1,100000]<=[100000]", {2, 1}),
            "replica_groups of r name replica 99999, but the run has 2 replicas");
  EXPECT_EQ(ErrorOf(", replica_groups={{0}}", {2, 1}), "replica_groups of r must name every device, but omit device 1");
  EXPECT_EQ(ErrorOf(", replica_groups={{0,0},{1}}", {2, 1}), "replica_groups of r name device 0 twice");
}

std::vector<DevicePair> PairsOf(const std::string& instruction, const DeviceGrid& grid) {
  const auto module =
      ModuleFrom("ENTRY e { p = f32[4] parameter(0) t = token[] after-all() ROOT r = " + instruction + " }");
  Result<std::vector<DevicePair>> pairs = DevicePairsOf(*module->entry->root, grid);
  EXPECT_TRUE(pairs.ok()) << pairs.diag().message;
  return pairs.ok() ? *pairs : std::vector<DevicePair>();
}

TEST(DeviceGrid, Pairs) {
  const std::string permute = "f32[4] collective-permute(p), source_target_pairs={{0,1},{1,0}}";
  EXPECT_EQ(PairsOf(permute, {2, 2}), (std::vector<DevicePair>{{0, 2}, {2, 0}, {1, 3}, {3, 1}}));
  EXPECT_EQ(PairsOf(permute + ", channel_id=1", {2, 2}), (std::vector<DevicePair>{{0, 1}, {1, 0}, {2, 3}, {3, 2}}));
  const std::string send =
      "(f32[4], u32[], token[]) send(p, t), frontend_attributes={_xla_send_recv_source_target_pairs=\"{{0,1}}\"}";
  EXPECT_EQ(PairsOf(send + ", channel_id=0", {2, 1}), (std::vector<DevicePair>{{0, 1}}));
  EXPECT_EQ(PairsOf(send + ", channel_id=3", {2, 2}), (std::vector<DevicePair>{{0, 1}, {2, 3}}));
}

std::string Inferred(const std::string& attributes, const std::string& header = "") {
  return InferDevices(*AllReduce(attributes, header)).from;
}

TEST(InferDevices, NamesTheSource) {
  EXPECT_EQ(Inferred(""), "1 device, since nothing in the module names more");
  EXPECT_EQ(Inferred("", ", replica_count=2, num_partitions=3"),
            "6 devices (2 replicas of 3 partitions), from the header");
  EXPECT_EQ(Inferred(", replica_groups={{0,1},{3,2}}"), "4 devices, from replica_groups of r");
  EXPECT_EQ(Inferred(", channel_id=1, replica_groups=[2,4]<=[8], use_global_device_ids=true"),
            "8 devices, from replica_groups of r");
  EXPECT_EQ(Inferred(", channel_id=1, replica_groups={{0}}, sharding={devices=[4]0,1,2,3}"),
            "4 devices, from sharding of r");
}

TEST(InferDevices, IsFastForLargeNumbers) {
  EXPECT_EQ(InferDevices(*AllReduce(", replica_groups={{9000000000000}}")).grid.replicas, kMaxIds);
  EXPECT_EQ(InferDevices(*AllReduce("", ", replica_count=9000000000000, num_partitions=9000000000000")).grid,
            (DeviceGrid{kMaxIds, kMaxIds}));
}

TEST(InferDevices, CountsReplicasAndPartitions) {
  const auto module = AllReduce(", channel_id=1, replica_groups={{0,1,2,3,4,5}}, use_global_device_ids=true");
  EXPECT_EQ(InferDevices(*module).grid, (DeviceGrid{1, 6}));
  EXPECT_EQ(InferDevices(*module, 2).grid, (DeviceGrid{2, 3}));
  EXPECT_EQ(InferDevices(*module, {}, 2).grid, (DeviceGrid{3, 2}));
  EXPECT_EQ(InferDevices(*module, 5, 7).grid, (DeviceGrid{5, 7}));
}

}  // namespace
}  // namespace shoal::internal
