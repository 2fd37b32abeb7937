// Formats groups and pairs of devices as text.
#include <algorithm>
#include <functional>
#include <map>

#include "analyze/facts/device_mesh.h"
#include "core/base/strings.h"

namespace shoal::internal {
namespace {

constexpr size_t kMaxShown = 4;

// Formats a group as, for example, {0,1,2,3,…60 more}.
std::string ShortGroup(const DeviceGroup& group) {
  const size_t shown = std::min(group.size(), kMaxShown);
  std::string text = StrCat("{", StrJoin(std::span(group).first(shown), ","));
  if (group.size() > shown) StrAppend(&text, ",…", group.size() - shown, " more");
  return text + "}";
}

template <class List, class Text>
std::string Shortened(const List& list, Text text_of) {
  std::string text;
  for (size_t i = 0; i < std::min<size_t>(list.size(), kMaxShown); ++i)
    StrAppend(&text, i == 0 ? "" : " ", text_of(list[i]));
  if (list.size() > kMaxShown) StrAppend(&text, " …", list.size() - kMaxShown, " more");
  return text;
}

// Returns the connected components of the undirected graph whose edges are the pairs.
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

}  // namespace

std::vector<DeviceMesh::Axis> DeviceMesh::Axes() const {
  std::vector<Axis> axes;
  for (size_t i = boundaries_.size(); i-- > 1;) {
    const StridedAxis part{boundaries_[i] / boundaries_[i - 1], boundaries_[i - 1]};
    // A named axis of which some groups use only a part is still one axis.
    const auto named = std::find_if(named_.begin(), named_.end(), [&](const NamedAxis& axis) {
      return part.stride >= axis.range.stride && part.end() <= axis.range.end();
    });
    if (named != named_.end()) {
      if (axes.empty() || axes.back().name != named->name) axes.push_back({named->name, named->range.size, named->range.stride});
      continue;
    }
    const std::string name = NameOf(part);
    axes.push_back({name.substr(0, name.rfind('=')), part.size, part.stride});
  }
  return axes;
}

std::string DeviceMesh::ToText() const {
  return StrJoin(Axes(), ", ", [](std::string* out, const Axis& axis) { StrAppend(out, axis.name, "=", axis.size); });
}

// Names an axis, or a sequence of neighbouring axes within one named axis.
std::string DeviceMesh::NameOf(const StridedAxis& part) const {
  for (const NamedAxis& axis : named_) {
    if (part.stride < axis.range.stride || part.end() > axis.range.end()) continue;
    if (part.size == axis.range.size) return StrCat(axis.name, "=", part.size);
    return StrCat(axis.name, ":(", axis.range.end() / part.end(), ")", part.size, "=", part.size);
  }
  const auto at = std::find(boundaries_.begin(), boundaries_.end(), part.end());
  return StrCat("d", boundaries_.end() - at - 1, "=", part.size);
}

std::string DeviceMesh::Describe(const std::vector<StridedAxis>& axes) const {
  std::vector<std::string> names;
  int64_t size = 1;
  for (const StridedAxis& axis : axes) {
    size *= axis.size;
    std::vector<StridedAxis> parts;
    for (size_t i = 1; i < boundaries_.size(); ++i) {
      if (boundaries_[i - 1] < axis.stride || boundaries_[i] > axis.end()) continue;
      const StridedAxis part{boundaries_[i] / boundaries_[i - 1], boundaries_[i - 1]};
      const bool is_merged = !parts.empty() && std::any_of(named_.begin(), named_.end(), [&](const NamedAxis& named) {
        return parts.back().stride >= named.range.stride && part.end() <= named.range.end();
      });
      if (is_merged) {
        parts.back().size *= part.size;
      } else {
        parts.push_back(part);
      }
    }
    int64_t covered = 1;
    for (const StridedAxis& part : parts) covered *= part.size;
    if (covered != axis.size) return "";
    for (const StridedAxis& part : parts) names.push_back(NameOf(part));
  }
  if (size == devices_) return "all";
  std::reverse(names.begin(), names.end());
  return StrJoin(names, ",");
}

std::string DeviceMesh::DescribeGroups(const Participants& participants) const {
  if (participants.groups.empty())
    return participants.group_size == devices_ ? "all" : StrCat("groups of ", participants.group_size);
  if (participants.group_size == 1) return "groups of 1";
  const std::vector<StridedAxis> axes = AxesOf(InMesh(participants.groups));
  if (!axes.empty() && participants.mismatch.empty())
    if (std::string text = Describe(axes); !text.empty()) return text;
  if (axes.size() == 1) return StrCat(axes[0].size, " at stride ", axes[0].stride);
  return Shortened(participants.groups, ShortGroup);
}

// Returns false unless all pairs shift by the same distance along the axis.
bool DeviceMesh::DescribeShift(const std::vector<DevicePair>& pairs, const StridedAxis& along,
                               Participants& participants) const {
  auto coordinate = [&](int64_t device) { return device / along.stride % along.size; };
  int64_t shift = 0;
  bool forward = false, back = false;
  for (auto [source, target] : pairs) {
    const int64_t moved = coordinate(target) - coordinate(source);
    if (target - source != moved * along.stride) return false;
    const int64_t distance = (moved + along.size) % along.size;
    if (shift != 0 && distance != shift) return false;
    shift = distance;
    (moved > 0 ? forward : back) = true;
  }
  if (shift == 0) return false;
  const bool all_devices = std::ssize(pairs) == devices_;
  if (!forward || (back && shift > along.size / 2)) shift -= along.size;
  participants.axis = Describe({along});
  participants.pattern = all_devices && along.size == 2 ? "exchange"
                         : all_devices && shift == 1    ? "ring"
                                                        : StrCat(all_devices ? "ring, " : "", "shift by ", shift);
  return true;
}

void DeviceMesh::DescribePairs(Participants& participants) {
  const std::vector<DevicePair> pairs = InMesh(participants.pairs);
  auto is_self = [](const DevicePair& pair) { return pair.first == pair.second; };
  participants.pattern.clear();
  participants.axis = "each device to itself";
  if (std::all_of(pairs.begin(), pairs.end(), is_self)) return;
  if (participants.mismatch.empty()) {
    for (size_t i = 1; i < boundaries_.size(); ++i) {
      const StridedAxis axis{boundaries_[i] / boundaries_[i - 1], boundaries_[i - 1]};
      if (axis.size == devices_ || !DescribeShift(pairs, axis, participants)) continue;
      used_.insert({axis.stride, axis.end()});
      return;
    }
    // The connected components of the pairs may be groups along a new axis.
    const std::vector<StridedAxis> axes = AxesOf(Connected(pairs));
    if (axes.size() == 1 && AddAxes(axes) && DescribeShift(pairs, axes[0], participants)) return;
    if (DescribeShift(pairs, {devices_, 1}, participants)) return;
  }
  auto arrow = [](DevicePair pair) { return StrCat(pair.first, "→", pair.second); };
  participants.axis = Shortened(participants.pairs, arrow);
}

}  // namespace shoal::internal
