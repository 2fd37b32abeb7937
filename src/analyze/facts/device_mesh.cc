#include "analyze/facts/device_mesh.h"

#include <algorithm>

#include "analyze/facts/shardy.h"

namespace shoal::internal {
namespace {

// More devices than that are not looked at one by one.
constexpr int64_t kMaxMeshDevices = 1 << 16;

const Mesh* MeshOf(const Sharding& sharding) {
  if (sharding.mesh) return &*sharding.mesh;
  for (const Sharding& element : sharding.elements)
    if (const Mesh* mesh = MeshOf(element)) return mesh;
  return nullptr;
}

template <class Visit>
void ForEachTiling(const Sharding& sharding, Visit visit) {
  if (sharding.kind == Sharding::Kind::kTiled) visit(sharding.tiles);
  for (const Sharding& element : sharding.elements) ForEachTiling(element, visit);
}

// All names are the partitioner's: axis_0, axis_1, …
bool IsNumbered(const Mesh& mesh) {
  return std::all_of(mesh.axis_names.begin(), mesh.axis_names.end(), [](const std::string& name) {
    return name.starts_with("axis_") && name.find_first_not_of("0123456789", 5) == std::string::npos;
  });
}

// The strides at which the dimensions begin, the last one first.
std::vector<int64_t> StridesOf(const std::vector<int64_t>& dims) {
  std::vector<int64_t> cuts;
  int64_t stride = 1;
  for (auto dim = dims.rbegin(); dim != dims.rend() && stride <= kMaxMeshDevices; ++dim) cuts.push_back(stride *= *dim);
  return cuts;
}

}  // namespace

DeviceMesh::DeviceMesh(const Module& module, const ParticipantTable& memberships) {
  devices_ = memberships.grid().count();
  cuts_ = {1};
  if (devices_ > 1) cuts_.push_back(devices_);
  TakeNames(module, memberships.grid());
  std::vector<Participants*> groups, pairs;
  for (const std::unique_ptr<Participants>& each : memberships.all())
    (each->pairs.empty() ? groups : pairs).push_back(each.get());
  for (const Participants* each : groups) AddSteps(StepsOf(InMesh(each->groups)));
  TakeTiles(module);
  // Axes may still be split by permutes, which are therefore looked at before any is named.
  for (Participants* each : pairs) DescribePairs(*each);
  DropUnusedCuts();
  for (Participants* each : pairs) DescribePairs(*each);
  for (Participants* each : groups) each->axis = DescribeGroups(*each);
}

// A mesh with names, over all devices or all partitions: the first one that groups name, else that shardings or the
// header do. The partitioner's own names, axis_0, are taken only where there are no others.
void DeviceMesh::TakeNames(const Module& module, const DeviceGrid& grid) {
  std::vector<Mesh> of_groups, others;
  auto take = [&](const Mesh& mesh, std::vector<Mesh>& list) {
    const int64_t count = DevicesNamedBy(mesh.devices);
    const bool fits = !mesh.maximal && count > 1 && count <= kMaxMeshDevices && (count == grid.count() || count == grid.partitions);
    if (fits && (list.empty() || !(list.back() == mesh))) list.push_back(mesh);
  };
  for (const Computation* computation : module.computations) {
    for (const Instruction* hlo : computation->instructions) {
      const ReplicaGroups* groups = (*hlo)[kReplicaGroups];
      if (const auto* axes = groups == nullptr ? nullptr : std::get_if<ReplicaGroups::MeshAxes>(&groups->rep))
        take(axes->mesh, of_groups);
      const Sharding* sharding = (*hlo)[kSharding];
      if (const Mesh* mesh = sharding == nullptr ? nullptr : MeshOf(*sharding)) take(*mesh, others);
    }
  }
  for (const Mesh& mesh : StatedMeshes(module)) take(mesh, others);
  of_groups.insert(of_groups.end(), others.begin(), others.end());
  const auto named = std::find_if(of_groups.begin(), of_groups.end(), [](const Mesh& mesh) { return !IsNumbered(mesh); });
  if (named != of_groups.end()) return TakeMesh(*named, grid);
  if (!of_groups.empty()) TakeMesh(of_groups.front(), grid);
}

void DeviceMesh::TakeMesh(const Mesh& mesh, const DeviceGrid& grid) {
  const std::vector<int64_t> order = mesh.devices.Devices();
  const auto count = std::ssize(order);
  if (count != DevicesNamedBy(mesh.devices)) return;
  std::vector<int64_t> position(static_cast<size_t>(grid.count()));
  for (int64_t i = 0; i < count; ++i)
    for (int64_t device = order[static_cast<size_t>(i)]; device < grid.count(); device += count)
      if (device >= 0) position[static_cast<size_t>(device)] = device / count * count + i;
  if (!std::is_sorted(position.begin(), position.end())) position_ = std::move(position);
  int64_t stride = 1;
  for (int64_t axis = mesh.AxisCount() - 1; axis >= 0; --axis) {
    const int64_t size = mesh.devices.dims[static_cast<size_t>(axis)];
    if (size > 1) named_.push_back({mesh.axis_names[static_cast<size_t>(axis)], {size, stride}});
    AddCuts({stride *= size});
  }
  if (count < grid.count()) named_.push_back({"replica", {grid.count() / count, count}});
}

// Tiled shardings in the devices' own order speak of the mesh as well.
void DeviceMesh::TakeTiles(const Module& module) {
  if (!named_.empty()) return;
  auto take = [&](const TileAssignment& tiles) {
    if (!tiles.iota || DevicesNamedBy(tiles) != devices_) return;
    AddCuts(StridesOf(tiles.iota->reshape.size() == 1 ? tiles.iota->dims : tiles.iota->reshape));
  };
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions)
      if (const Sharding* sharding = (*hlo)[kSharding]) ForEachTiling(*sharding, take);
}

// All of them, or none if they do not go together with those there are.
bool DeviceMesh::AddCuts(const std::vector<int64_t>& cuts) {
  std::vector<int64_t> all = cuts_;
  all.insert(all.end(), cuts.begin(), cuts.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  if (all.front() < 1 || all.back() > devices_) return false;
  for (size_t i = 1; i < all.size(); ++i)
    if (all[i] % all[i - 1] != 0) return false;
  cuts_ = std::move(all);
  return true;
}

bool DeviceMesh::AddSteps(const std::vector<StridedAxis>& steps) {
  std::vector<int64_t> cuts;
  for (const StridedAxis& step : steps) cuts.insert(cuts.end(), {step.stride, step.end()});
  if (steps.empty() || !AddCuts(cuts)) return false;
  used_.insert(cuts.begin(), cuts.end());
  return true;
}

// Axes that no collective tells apart are one, unless they have names.
void DeviceMesh::DropUnusedCuts() {
  if (!named_.empty() || used_.empty()) return;
  std::erase_if(cuts_, [&](int64_t cut) { return cut != 1 && cut != devices_ && !used_.contains(cut); });
}

std::vector<DeviceGroup> DeviceMesh::InMesh(std::vector<DeviceGroup> groups) const {
  for (DeviceGroup& group : groups) {
    for (int64_t& device : group)
      if (device < std::ssize(position_)) device = position_[static_cast<size_t>(device)];
    std::sort(group.begin(), group.end());
  }
  return groups;
}

std::vector<DevicePair> DeviceMesh::InMesh(std::vector<DevicePair> pairs) const {
  for (auto& [source, target] : pairs)
    for (int64_t* device : {&source, &target})
      if (*device < std::ssize(position_)) *device = position_[static_cast<size_t>(*device)];
  return pairs;
}

// Sizes and strides, the smallest stride first, if all groups are alike but for where they begin; else none.
std::vector<DeviceMesh::StridedAxis> DeviceMesh::StepsOf(const std::vector<DeviceGroup>& groups) {
  if (groups.empty() || groups[0].empty()) return {};
  std::vector<int64_t> offsets;
  for (int64_t device : groups[0]) offsets.push_back(device - groups[0][0]);
  for (const DeviceGroup& group : groups) {
    if (group.size() != offsets.size()) return {};
    for (size_t i = 0; i < group.size(); ++i)
      if (group[i] - group[0] != offsets[i]) return {};
  }
  return Decompose(offsets);
}

// 0,1,4,5 is 2 at stride 1, 2 at stride 4.
std::vector<DeviceMesh::StridedAxis> DeviceMesh::Decompose(const std::vector<int64_t>& offsets) {
  std::vector<StridedAxis> steps;
  size_t block = 1;
  while (block < offsets.size()) {
    StridedAxis step{1, offsets[block]};
    auto holds = [&](size_t copy) {
      for (size_t i = 0; i < block; ++i)
        if (offsets[copy * block + i] != static_cast<int64_t>(copy) * step.stride + offsets[i]) return false;
      return true;
    };
    while (static_cast<size_t>(step.size + 1) * block <= offsets.size() && holds(static_cast<size_t>(step.size)))
      ++step.size;
    if (step.size == 1 || step.stride == 0) return {};
    block *= static_cast<size_t>(step.size);
    steps.push_back(step);
  }
  if (block != offsets.size()) return {};
  return steps;
}

}  // namespace shoal::internal
