// What groups and pairs of devices are called.
#include <algorithm>
#include <functional>
#include <map>

#include "analyze/facts/device_mesh.h"
#include "core/base/strings.h"

namespace shoal::internal {
namespace {

constexpr size_t kMaxShown = 4;

// {0,1,2,3,…60 more}
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

}  // namespace

std::vector<DeviceMesh::Axis> DeviceMesh::Axes() const {
  std::vector<Axis> axes;
  for (size_t i = cuts_.size(); i-- > 1;) {
    const StridedAxis part{cuts_[i] / cuts_[i - 1], cuts_[i - 1]};
    const std::string name = NameOf(part);
    axes.push_back({name.substr(0, name.rfind('=')), part.size, part.stride});
  }
  return axes;
}

std::string DeviceMesh::ToText() const {
  return StrJoin(Axes(), ", ", [](std::string* out, const Axis& axis) { StrAppend(out, axis.name, "=", axis.size); });
}

// Of a run of neighbouring axes that lie within one named axis, or of a single axis.
std::string DeviceMesh::NameOf(const StridedAxis& part) const {
  for (const NamedAxis& axis : named_) {
    if (part.stride < axis.step.stride || part.end() > axis.step.end()) continue;
    if (part.size == axis.step.size) return StrCat(axis.name, "=", part.size);
    return StrCat(axis.name, ":(", axis.step.end() / part.end(), ")", part.size, "=", part.size);
  }
  const auto at = std::find(cuts_.begin(), cuts_.end(), part.end());
  return StrCat("d", cuts_.end() - at - 1, "=", part.size);
}

std::string DeviceMesh::Describe(const std::vector<StridedAxis>& steps) const {
  std::vector<std::string> names;
  int64_t size = 1;
  for (const StridedAxis& step : steps) {
    size *= step.size;
    std::vector<StridedAxis> parts;
    for (size_t i = 1; i < cuts_.size(); ++i) {
      if (cuts_[i - 1] < step.stride || cuts_[i] > step.end()) continue;
      const StridedAxis part{cuts_[i] / cuts_[i - 1], cuts_[i - 1]};
      const bool participants = !parts.empty() && std::any_of(named_.begin(), named_.end(), [&](const NamedAxis& axis) {
        return parts.back().stride >= axis.step.stride && part.end() <= axis.step.end();
      });
      if (participants) {
        parts.back().size *= part.size;
      } else {
        parts.push_back(part);
      }
    }
    int64_t covered = 1;
    for (const StridedAxis& part : parts) covered *= part.size;
    if (covered != step.size) return "";
    for (const StridedAxis& part : parts) names.push_back(NameOf(part));
  }
  if (size == devices_) return "all";
  std::reverse(names.begin(), names.end());
  return StrJoin(names, ",");
}

std::string DeviceMesh::DescribeGroups(const Participants& membership) const {
  if (membership.groups.empty())
    return membership.group_size == devices_ ? "all" : StrCat("groups of ", membership.group_size);
  if (membership.group_size == 1) return "each by itself";
  const std::vector<StridedAxis> steps = StepsOf(InMesh(membership.groups));
  if (!steps.empty() && membership.mismatch.empty())
    if (std::string text = Describe(steps); !text.empty()) return text;
  if (steps.size() == 1) return StrCat(steps[0].size, " at stride ", steps[0].stride);
  return Shortened(membership.groups, ShortGroup);
}

// False if the pairs do not all move by one distance along the axis.
bool DeviceMesh::DescribeShift(const std::vector<DevicePair>& pairs, const StridedAxis& along, Participants& membership) const {
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

void DeviceMesh::DescribePairs(Participants& membership) {
  const std::vector<DevicePair> pairs = InMesh(membership.pairs);
  auto stays = [](const DevicePair& pair) { return pair.first == pair.second; };
  membership.pattern.clear();
  membership.axis = "each to itself";
  if (std::all_of(pairs.begin(), pairs.end(), stays)) return;
  if (membership.mismatch.empty()) {
    for (size_t i = 1; i < cuts_.size(); ++i) {
      const StridedAxis axis{cuts_[i] / cuts_[i - 1], cuts_[i - 1]};
      if (axis.size == devices_ || !DescribeShift(pairs, axis, membership)) continue;
      used_.insert({axis.stride, axis.end()});
      return;
    }
    // Connected devices may be an axis that no groups show.
    const std::vector<StridedAxis> steps = StepsOf(Connected(pairs));
    if (steps.size() == 1 && AddSteps(steps) && DescribeShift(pairs, steps[0], membership)) return;
    if (DescribeShift(pairs, {devices_, 1}, membership)) return;
  }
  membership.axis = Shortened(membership.pairs, [](DevicePair pair) { return StrCat(pair.first, "→", pair.second); });
}

}  // namespace shoal::internal
