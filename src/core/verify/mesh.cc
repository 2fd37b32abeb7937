#include "core/verify/mesh.h"

#include <algorithm>

#include "core/base/strings.h"

namespace shoal::internal {
namespace {

std::string NameOf(const AxisRef& axis, const Mesh& mesh) {
  std::string name;
  AppendAxisRef(name, axis, mesh);
  return name;
}

// The part of its axis that a reference covers: `from` is the product of the more major sizes, `to` includes its own.
struct Range {
  int64_t from = 1, to = 1;
};
Range RangeOf(const AxisRef& axis, const Mesh& mesh) {
  if (!axis.sub) return {1, mesh.devices.dims[static_cast<size_t>(axis.axis)]};
  return {axis.sub->pre_size, axis.sub->pre_size * axis.sub->size};
}

}  // namespace

std::optional<int64_t> FirstRepeated(Ints ids) {
  std::vector<bool> seen(ids.size());
  std::vector<int64_t> outside;
  for (int64_t id : ids) {
    if (id < 0 || id >= std::ssize(ids)) {
      outside.push_back(id);
      continue;
    }
    if (seen[static_cast<size_t>(id)]) return id;
    seen[static_cast<size_t>(id)] = true;
  }
  std::sort(outside.begin(), outside.end());
  auto repeated = std::adjacent_find(outside.begin(), outside.end());
  return repeated == outside.end() ? std::nullopt : std::optional(*repeated);
}

std::string CheckMesh(const Mesh& mesh) {
  if (mesh.maximal) return {};
  std::vector<std::string> names = mesh.axis_names;
  std::sort(names.begin(), names.end());
  auto repeated = std::adjacent_find(names.begin(), names.end());
  if (repeated != names.end())
    return StrCat("axes of a mesh must have distinct names, got '", *repeated, "' twice");
  const std::vector<int64_t>& ids = mesh.devices.devices;
  if (mesh.devices.iota) return {};
  for (int64_t id : ids)
    if (id < 0 || id >= std::ssize(ids)) return StrCat("device_ids must lie in [0, ", ids.size(), "), got ", id);
  if (std::optional<int64_t> id = FirstRepeated(ids)) return StrCat("device_ids must be distinct, got ", *id, " twice");
  return {};
}

std::string CheckAxes(const std::vector<AxisRef>& axes, const Mesh& mesh) {
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t whole = mesh.devices.dims[static_cast<size_t>(axes[i].axis)];
    const Range range = RangeOf(axes[i], mesh);
    if (axes[i].sub && (axes[i].sub->size >= whole || range.to <= 0 || whole % range.to != 0))
      return StrCat("a part of an axis must divide the size of the axis, ", whole, ", got ", NameOf(axes[i], mesh));
    for (size_t j = 0; j < i; ++j) {
      const Range other = RangeOf(axes[j], mesh);
      const bool disjoint = axes[i].axis != axes[j].axis ||
                            (axes[i].sub && axes[j].sub && (range.to <= other.from || other.to <= range.from));
      if (!disjoint)
        return StrCat("an axis must be used only once, got ", NameOf(axes[j], mesh), " and ", NameOf(axes[i], mesh));
    }
  }
  return {};
}

}  // namespace shoal::internal
