// Groups of devices: iota tile assignments, meshes, and the three notations of replica groups.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/ir/shape.h"

namespace shoal::internal {

// [2,4]<=[4,2]T(1,0): the numbers 0, 1, 2, … arranged as `reshape`, transposed by `perm`, reshaped to `dims`.
struct IotaTiles {
  std::vector<int64_t> dims;
  std::vector<int64_t> reshape;
  std::vector<int> perm;

  // Merges and drops dimensions of `reshape` as XLA does: [1,3,4]T(0,1,2) becomes [12].
  static IotaTiles Canonical(std::vector<int64_t> dims, std::vector<int64_t> reshape, std::vector<int> perm);
  // Devices in ascending order: dims<=[n].
  static IotaTiles Plain(std::vector<int64_t> dims);
  // The same devices with the dimensions of the result permuted; nullopt if an iota cannot express that.
  std::optional<IotaTiles> Transposed(const std::vector<int>& order) const;
  std::vector<int64_t> Devices() const;
  bool operator==(const IotaTiles&) const = default;
};
void AppendIota(std::string& out, const IotaTiles& iota);         // [2,4]<=[4,2]T(1,0)
void AppendIotaReshape(std::string& out, const IotaTiles& iota);  // [4,2]T(1,0)

// An array of devices, given as an iota or as an explicit list.
struct TileAssignment {
  std::vector<int64_t> dims;
  std::optional<IotaTiles> iota;
  std::vector<int64_t> devices;  // row-major; empty if `iota` is set

  std::vector<int64_t> Devices() const { return iota ? iota->Devices() : devices; }
  int64_t DeviceCount() const;
  bool operator==(const TileAssignment&) const = default;
};

// mesh['x'=4,'y'=2], device_ids=(...), or single_device[device_id=0] (maximal_mesh in older versions of XLA).
struct Mesh {
  std::vector<std::string> axis_names;
  TileAssignment devices;  // dims are the axis sizes
  bool maximal = false;    // one device: devices.devices[0]

  int64_t AxisCount() const { return static_cast<int64_t>(axis_names.size()); }
  bool operator==(const Mesh&) const = default;
};
void AppendMesh(std::string& out, const Mesh& mesh);

// An axis of a mesh, or a sub-axis: the part of size `size` that follows `pre_size` more major parts, as in 'x':(2)4.
struct SubAxis {
  int64_t pre_size = 1;
  int64_t size = 1;
  bool operator==(const SubAxis&) const = default;
};
struct AxisRef {
  int64_t axis = 0;
  std::optional<SubAxis> sub;

  int64_t Size(const Mesh& mesh) const { return sub ? sub->size : mesh.devices.dims[axis]; }
  bool operator==(const AxisRef&) const = default;
};
void AppendAxisRef(std::string& out, const AxisRef& axis, const Mesh& mesh);

// replica_groups=. The instruction determines the meaning of the ids (replicas, partitions, both).
struct ReplicaGroups {
  struct Lists {  // {{0,1},{2,3}}: all ids concatenated, and the end of each group
    std::vector<int64_t> ids;
    std::vector<size_t> ends;
    bool operator==(const Lists&) const = default;
  };
  struct MeshAxes {  // mesh['x'=4,'y'=2] {'y'}
    Mesh mesh;
    std::vector<AxisRef> axes;
    bool operator==(const MeshAxes&) const = default;
  };
  std::variant<Lists, IotaTiles, MeshAxes> rep;

  bool empty() const;  // {}: one group of all devices
  std::vector<std::vector<int64_t>> Expand() const;
  bool operator==(const ReplicaGroups&) const = default;
};
void AppendReplicaGroups(std::string& out, const ReplicaGroups& groups);

}  // namespace shoal::internal
