#include "analysis/device_mesh.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "base/strings.h"

namespace shoal {
namespace {

// More devices than that are not looked at one by one.
constexpr int64_t kMostDevices = 1 << 16;
constexpr size_t kMostShown = 4;

// {0,1,2,3,…60 more}
std::string ShortGroup(const DeviceGroup& group) {
  const size_t shown = std::min(group.size(), kMostShown);
  std::string text = StrCat("{", StrJoin(std::span(group).first(shown), ","));
  if (group.size() > shown) StrAppend(&text, ",…", group.size() - shown, " more");
  return text + "}";
}

template <class List, class Text>
std::string Shortened(const List& list, Text text_of) {
  std::string text;
  for (size_t i = 0; i < std::min<size_t>(list.size(), kMostShown); ++i)
    StrAppend(&text, i == 0 ? "" : " ", text_of(list[i]));
  if (list.size() > kMostShown) StrAppend(&text, " …", list.size() - kMostShown, " more");
  return text;
}

// Devices that the pairs connect, in whatever direction.
std::vector<DeviceGroup> Connected(const std::vector<DevicePair>& pairs) {
  std::map<int64_t, int64_t> leader;
  std::function<int64_t(int64_t)> find = [&](int64_t device) {
    int64_t at = leader.try_emplace(device, device).first->second;
    while (leader[at] != at) at = leader[at] = leader[leader[at]];
    return at;
  };
  for (auto [source, target] : pairs) leader[find(source)] = find(target);
  std::map<int64_t, DeviceGroup> groups;
  for (const auto& [device, unused] : std::map(leader)) groups[find(device)].push_back(device);
  std::vector<DeviceGroup> all;
  for (auto& [first, group] : groups) all.push_back(std::move(group));
  return all;
}

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

// The strides at which the dimensions begin, the last one first.
std::vector<int64_t> StridesOf(const std::vector<int64_t>& dims) {
  std::vector<int64_t> cuts;
  int64_t stride = 1;
  for (auto dim = dims.rbegin(); dim != dims.rend() && stride <= kMostDevices; ++dim) cuts.push_back(stride *= *dim);
  return cuts;
}

}  // namespace

DeviceMesh::DeviceMesh(const Module& module, const Memberships& memberships) {
  devices_ = memberships.grid().count();
  cuts_ = {1};
  if (devices_ > 1) cuts_.push_back(devices_);
  TakeNames(module, memberships.grid());
  std::vector<Membership*> groups, pairs;
  for (const std::unique_ptr<Membership>& each : memberships.all())
    (each->pairs.empty() ? groups : pairs).push_back(each.get());
  for (const Membership* each : groups) AddSteps(StepsOf(InMesh(each->groups)));
  TakeTiles(module);
  // Axes may still be split by permutes, which are therefore looked at before any is named.
  for (Membership* each : pairs) DescribePairs(*each);
  for (Membership* each : pairs) DescribePairs(*each);
  for (Membership* each : groups) each->axis = DescribeGroups(*each);
}

// A mesh with names, over all devices or all partitions: the first one that groups name, else that shardings do.
void DeviceMesh::TakeNames(const Module& module, const DeviceGrid& grid) {
  const Mesh* of_sharding = nullptr;
  auto fits = [&](const Mesh& mesh) {
    const int64_t count = DevicesNamedBy(mesh.devices);
    return !mesh.maximal && count > 1 && count <= kMostDevices && (count == grid.count() || count == grid.partitions);
  };
  for (const Computation* computation : module.computations) {
    for (const Instruction* hlo : computation->instructions) {
      const ReplicaGroups* groups = (*hlo)[kReplicaGroups];
      const auto* axes = groups == nullptr ? nullptr : std::get_if<ReplicaGroups::MeshAxes>(&groups->rep);
      if (axes != nullptr && fits(axes->mesh)) return TakeMesh(axes->mesh, grid);
      const Sharding* sharding = of_sharding == nullptr ? (*hlo)[kSharding] : nullptr;
      const Mesh* mesh = sharding == nullptr ? nullptr : MeshOf(*sharding);
      if (mesh != nullptr && fits(*mesh)) of_sharding = mesh;
    }
  }
  if (of_sharding != nullptr) TakeMesh(*of_sharding, grid);
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

bool DeviceMesh::AddSteps(const std::vector<Step>& steps) {
  std::vector<int64_t> cuts;
  for (const Step& step : steps) cuts.insert(cuts.end(), {step.stride, step.end()});
  return !steps.empty() && AddCuts(cuts);
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
std::vector<DeviceMesh::Step> DeviceMesh::StepsOf(const std::vector<DeviceGroup>& groups) {
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
std::vector<DeviceMesh::Step> DeviceMesh::Decompose(const std::vector<int64_t>& offsets) {
  std::vector<Step> steps;
  size_t block = 1;
  while (block < offsets.size()) {
    Step step{1, offsets[block]};
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

std::vector<DeviceMesh::Axis> DeviceMesh::Axes() const {
  std::vector<Axis> axes;
  for (size_t i = cuts_.size(); i-- > 1;) {
    const Step part{cuts_[i] / cuts_[i - 1], cuts_[i - 1]};
    const std::string name = NameOf(part);
    axes.push_back({name.substr(0, name.rfind('=')), part.size, part.stride});
  }
  return axes;
}

std::string DeviceMesh::ToText() const {
  return StrJoin(Axes(), ", ", [](std::string* out, const Axis& axis) { StrAppend(out, axis.name, "=", axis.size); });
}

// Of a run of neighbouring axes that lie within one named axis, or of a single axis.
std::string DeviceMesh::NameOf(const Step& part) const {
  for (const NamedAxis& axis : named_) {
    if (part.stride < axis.step.stride || part.end() > axis.step.end()) continue;
    if (part.size == axis.step.size) return StrCat(axis.name, "=", part.size);
    return StrCat(axis.name, ":(", axis.step.end() / part.end(), ")", part.size, "=", part.size);
  }
  const auto at = std::find(cuts_.begin(), cuts_.end(), part.end());
  return StrCat("d", cuts_.end() - at - 1, "=", part.size);
}

std::string DeviceMesh::Describe(const std::vector<Step>& steps) const {
  std::vector<std::string> names;
  int64_t size = 1;
  for (const Step& step : steps) {
    size *= step.size;
    std::vector<Step> parts;
    for (size_t i = 1; i < cuts_.size(); ++i) {
      if (cuts_[i - 1] < step.stride || cuts_[i] > step.end()) continue;
      const Step part{cuts_[i] / cuts_[i - 1], cuts_[i - 1]};
      const bool joins = !parts.empty() && std::any_of(named_.begin(), named_.end(), [&](const NamedAxis& axis) {
        return parts.back().stride >= axis.step.stride && part.end() <= axis.step.end();
      });
      if (joins) {
        parts.back().size *= part.size;
      } else {
        parts.push_back(part);
      }
    }
    int64_t covered = 1;
    for (const Step& part : parts) covered *= part.size;
    if (covered != step.size) return "";
    for (const Step& part : parts) names.push_back(NameOf(part));
  }
  if (size == devices_) return "all";
  std::reverse(names.begin(), names.end());
  return StrJoin(names, ",");
}

std::string DeviceMesh::DescribeGroups(const Membership& membership) const {
  if (membership.groups.empty())
    return membership.group_size == devices_ ? "all" : StrCat("groups of ", membership.group_size);
  if (membership.group_size == 1) return "each by itself";
  const std::vector<Step> steps = StepsOf(InMesh(membership.groups));
  if (!steps.empty() && membership.misfit.empty())
    if (std::string text = Describe(steps); !text.empty()) return text;
  if (steps.size() == 1) return StrCat(steps[0].size, " at stride ", steps[0].stride);
  return Shortened(membership.groups, ShortGroup);
}

// False if the pairs do not all move by one distance along the axis.
bool DeviceMesh::DescribeShift(const std::vector<DevicePair>& pairs, const Step& along, Membership& membership) const {
  auto place = [&](int64_t device) { return device / along.stride % along.size; };
  int64_t shift = 0;
  bool forward = false, back = false;
  for (auto [source, target] : pairs) {
    const int64_t moved = place(target) - place(source);
    if (target - source != moved * along.stride) return false;
    const int64_t distance = (moved + along.size) % along.size;
    if (shift != 0 && distance != shift) return false;
    shift = distance;
    (moved > 0 ? forward : back) = true;
  }
  if (shift == 0) return false;
  const bool everybody = std::ssize(pairs) == devices_;
  if (!forward || (back && shift > along.size / 2)) shift -= along.size;
  membership.axis = Describe({along});
  membership.pattern = everybody && along.size == 2 ? "exchange"
                       : everybody && shift == 1    ? "ring"
                                                    : StrCat(everybody ? "ring, " : "", "shift by ", shift);
  return true;
}

void DeviceMesh::DescribePairs(Membership& membership) {
  const std::vector<DevicePair> pairs = InMesh(membership.pairs);
  auto stays = [](const DevicePair& pair) { return pair.first == pair.second; };
  membership.pattern.clear();
  membership.axis = "each to itself";
  if (std::all_of(pairs.begin(), pairs.end(), stays)) return;
  if (membership.misfit.empty()) {
    for (size_t i = 1; i < cuts_.size(); ++i) {
      const Step axis{cuts_[i] / cuts_[i - 1], cuts_[i - 1]};
      if (axis.size != devices_ && DescribeShift(pairs, axis, membership)) return;
    }
    // Connected devices may be an axis that no groups show.
    const std::vector<Step> steps = StepsOf(Connected(pairs));
    if (steps.size() == 1 && AddSteps(steps) && DescribeShift(pairs, steps[0], membership)) return;
    if (DescribeShift(pairs, {devices_, 1}, membership)) return;
  }
  membership.axis = Shortened(membership.pairs, [](DevicePair pair) { return StrCat(pair.first, "→", pair.second); });
}

}  // namespace shoal
