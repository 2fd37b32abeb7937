#include "core/ir/device_groups.h"

#include <algorithm>
#include <numeric>

#include "core/base/strings.h"

namespace shoal::internal {
namespace {

int64_t Product(const std::vector<int64_t>& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

// Drops dimensions of size 1 from `dims` and `perm`.
void DropUnitDimensions(std::vector<int64_t>& dims, std::vector<int>& perm) {
  std::vector<int> renamed(dims.size(), -1);
  std::vector<int64_t> new_dims;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1) continue;
    renamed[i] = static_cast<int>(new_dims.size());
    new_dims.push_back(dims[i]);
  }
  std::vector<int> new_perm;
  for (int p : perm)
    if (renamed[p] >= 0) new_perm.push_back(renamed[p]);
  dims = std::move(new_dims);
  perm = std::move(new_perm);
}

// Merges runs of consecutive ascending entries of `perm` into one dimension; returns true if any were merged.
bool MergeRuns(std::vector<int64_t>& dims, const std::vector<int>& perm) {
  bool merged = false;
  for (size_t i = 1, base = 0; i < perm.size(); ++i) {
    if (perm[base] + static_cast<int>(i - base) == perm[i]) {
      dims[perm[base]] *= dims[perm[i]];
      dims[perm[i]] = 1;
      merged = true;
    } else {
      base = i;
    }
  }
  return merged;
}

}  // namespace

IotaTiles IotaTiles::Canonical(std::vector<int64_t> dims, std::vector<int64_t> reshape, std::vector<int> perm) {
  if (reshape.size() > 1) {
    do {
      DropUnitDimensions(reshape, perm);
    } while (MergeRuns(reshape, perm));
    if (reshape.empty()) {
      reshape = {1};
      perm = {0};
    }
  }
  return {std::move(dims), std::move(reshape), std::move(perm)};
}

IotaTiles IotaTiles::Plain(std::vector<int64_t> dims) {
  int64_t count = Product(dims);
  return {std::move(dims), {count}, {0}};
}

std::vector<int64_t> IotaTiles::Devices() const {
  std::vector<int64_t> strides(reshape.size(), 1);
  for (size_t i = reshape.size(); i-- > 1;) strides[i - 1] = strides[i] * reshape[i];
  const int64_t count = Product(reshape);
  std::vector<int64_t> devices;
  devices.reserve(static_cast<size_t>(count));
  std::vector<int64_t> index(perm.size(), 0);
  for (int64_t n = 0; n < count; ++n) {
    int64_t device = 0;
    for (size_t i = 0; i < perm.size(); ++i) device += index[i] * strides[perm[i]];
    devices.push_back(device);
    for (size_t i = perm.size(); i-- > 0;) {
      if (++index[i] < reshape[perm[i]]) break;
      index[i] = 0;
    }
  }
  return devices;
}

int64_t TileAssignment::DeviceCount() const {
  return iota ? Product(iota->reshape) : static_cast<int64_t>(devices.size());
}

void AppendIotaReshape(std::string& out, const IotaTiles& iota) {
  StrAppend(&out, "[", StrJoin(iota.reshape, ","), "]");
  if (iota.reshape.size() > 1) StrAppend(&out, "T(", StrJoin(iota.perm, ","), ")");
}

void AppendIota(std::string& out, const IotaTiles& iota) {
  StrAppend(&out, "[", StrJoin(iota.dims, ","), "]<=");
  AppendIotaReshape(out, iota);
}

void AppendMesh(std::string& out, const Mesh& mesh) {
  if (mesh.maximal) {
    StrAppend(&out, "single_device[device_id=", mesh.devices.devices[0], "]");
    return;
  }
  out += "mesh[";
  for (size_t i = 0; i < mesh.axis_names.size(); ++i)
    StrAppend(&out, i > 0 ? "," : "", "'", mesh.axis_names[i], "'=", mesh.devices.dims[i]);
  out += ']';
  const std::optional<IotaTiles>& iota = mesh.devices.iota;
  if (iota && iota->reshape.size() == 1) return;
  if (mesh.axis_names.empty()) return;
  out += ", device_ids=(";
  if (iota) {
    AppendIotaReshape(out, *iota);
  } else {
    StrAppend(&out, StrJoin(mesh.devices.devices, ","));
  }
  out += ')';
}

void AppendAxisRef(std::string& out, const AxisRef& axis, const Mesh& mesh) {
  StrAppend(&out, "'", mesh.axis_names[axis.axis], "'");
  if (axis.sub) StrAppend(&out, ":(", axis.sub->pre_size, ")", axis.sub->size);
}

bool ReplicaGroups::empty() const {
  const Lists* lists = std::get_if<Lists>(&rep);
  return lists != nullptr && lists->ends.empty();
}

namespace {

std::vector<std::vector<int64_t>> ExpandMeshAxes(const ReplicaGroups::MeshAxes& groups) {
  // Splits every axis into (before, part, after). Referenced parts vary within a group, all others between groups.
  const Mesh& mesh = groups.mesh;
  std::vector<int64_t> sizes;  // sizes of the split axes, major to minor
  std::vector<int> part_of_ref(groups.axes.size(), -1);
  for (int64_t axis = 0; axis < mesh.AxisCount(); ++axis) {
    // Split points of this axis, from all references to it.
    std::vector<int64_t> splits{1, mesh.devices.dims[axis]};
    for (const AxisRef& ref : groups.axes) {
      if (ref.axis != axis || !ref.sub) continue;
      splits.push_back(ref.sub->pre_size);
      splits.push_back(ref.sub->pre_size * ref.sub->size);
    }
    std::sort(splits.begin(), splits.end());
    splits.erase(std::unique(splits.begin(), splits.end()), splits.end());
    for (size_t c = 0; c + 1 < splits.size(); ++c) {
      for (size_t r = 0; r < groups.axes.size(); ++r) {
        const AxisRef& ref = groups.axes[r];
        int64_t from = ref.sub ? ref.sub->pre_size : 1;
        if (ref.axis == axis && from == splits[c]) part_of_ref[r] = static_cast<int>(sizes.size());
      }
      sizes.push_back(splits[c] > 0 ? splits[c + 1] / splits[c] : 0);
    }
  }
  std::vector<int64_t> devices = mesh.devices.Devices();
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
  std::vector<int> inner, outer;
  for (int part : part_of_ref)
    if (part >= 0) inner.push_back(part);
  for (int i = 0; i < static_cast<int>(sizes.size()); ++i)
    if (std::find(inner.begin(), inner.end(), i) == inner.end()) outer.push_back(i);

  auto offsets = [&](const std::vector<int>& parts) {
    std::vector<int64_t> all{0};
    for (int part : parts) {
      std::vector<int64_t> next;
      for (int64_t base : all)
        for (int64_t i = 0; i < sizes[part]; ++i) next.push_back(base + i * strides[part]);
      all = std::move(next);
    }
    return all;
  };
  std::vector<std::vector<int64_t>> expanded;
  for (int64_t base : offsets(outer)) {
    expanded.emplace_back();
    for (int64_t offset : offsets(inner))
      if (base + offset < static_cast<int64_t>(devices.size())) expanded.back().push_back(devices[base + offset]);
  }
  return expanded;
}

}  // namespace

std::vector<std::vector<int64_t>> ReplicaGroups::Expand() const {
  if (const auto* axes = std::get_if<MeshAxes>(&rep)) return ExpandMeshAxes(*axes);
  std::vector<std::vector<int64_t>> groups;
  if (const auto* lists = std::get_if<Lists>(&rep)) {
    size_t start = 0;
    for (size_t end : lists->ends) {
      groups.emplace_back(lists->ids.begin() + static_cast<ptrdiff_t>(start),
                          lists->ids.begin() + static_cast<ptrdiff_t>(end));
      start = end;
    }
    return groups;
  }
  const auto& iota = std::get<IotaTiles>(rep);
  std::vector<int64_t> devices = iota.Devices();
  for (int64_t g = 0; g < iota.dims[0]; ++g)
    groups.emplace_back(devices.begin() + g * iota.dims[1], devices.begin() + (g + 1) * iota.dims[1]);
  return groups;
}

void AppendReplicaGroups(std::string& out, const ReplicaGroups& groups) {
  if (const auto* iota = std::get_if<IotaTiles>(&groups.rep)) return AppendIota(out, *iota);
  if (const auto* axes = std::get_if<ReplicaGroups::MeshAxes>(&groups.rep)) {
    AppendMesh(out, axes->mesh);
    out += " {";
    for (size_t i = 0; i < axes->axes.size(); ++i) {
      if (i > 0) out += ',';
      AppendAxisRef(out, axes->axes[i], axes->mesh);
    }
    out += '}';
    return;
  }
  const auto& lists = std::get<ReplicaGroups::Lists>(groups.rep);
  out += '{';
  size_t at = 0;
  for (size_t end : lists.ends) {
    out += at == 0 && out.back() == '{' ? "{" : ",{";
    for (size_t i = at; i < end; ++i) StrAppend(&out, i > at ? "," : "", lists.ids[i]);
    out += '}';
    at = end;
  }
  out += '}';
}

}  // namespace shoal::internal
