// Recovers the device mesh from the device groups of a module. The ids of devices along a mesh axis are evenly spaced,
// so the strides and sizes of all groups determine the mesh. The axis names are those of meshes declared in the module.
#pragma once

#include <set>

#include "analyze/facts/participants.h"
#include "core/ir/module.h"

namespace shoal::internal {

class DeviceMesh {
 public:
  struct Axis {
    std::string name;  // from the module; 'x':(2)4 is a part of axis x; unnamed axes get the names d0, d1, …
    int64_t size = 1;
    int64_t stride = 1;  // distance of neighbours along the axis, in the mesh's device order
  };

  // Also sets `axis` and `pattern` of each entry of `table`.
  DeviceMesh(const Module& module, const ParticipantTable& table);

  // Returns the axes from the major-most to the minor-most. A single device has no axes.
  std::vector<Axis> Axes() const;
  // Returns text such as "data=2, model=4".
  std::string ToText() const;

 private:
  // An axis of `size` devices at a distance of `stride`.
  struct StridedAxis {
    int64_t size = 1, stride = 1;
    int64_t end() const { return size * stride; }
  };
  struct NamedAxis {
    std::string name;
    StridedAxis range;
  };

  void FindNamedMesh(const Module& module, const DeviceGrid& grid);
  void AdoptMesh(const Mesh& mesh, const DeviceGrid& grid);
  void AddTileBoundaries(const Module& module);
  bool AddBoundaries(const std::vector<int64_t>& boundaries);
  bool AddAxes(const std::vector<StridedAxis>& axes);
  void DropUnusedBoundaries();

  std::vector<DeviceGroup> InMesh(std::vector<DeviceGroup> groups) const;
  std::vector<DevicePair> InMesh(std::vector<DevicePair> pairs) const;
  static std::vector<StridedAxis> AxesOf(const std::vector<DeviceGroup>& groups);
  static std::vector<StridedAxis> Decompose(const std::vector<int64_t>& offsets);

  std::string Describe(const std::vector<StridedAxis>& axes) const;
  std::string DescribeGroups(const Participants& participants) const;
  void DescribePairs(Participants& participants);
  bool DescribeShift(const std::vector<DevicePair>& pairs, const StridedAxis& along, Participants& participants) const;
  std::string NameOf(const StridedAxis& part) const;

  int64_t devices_ = 1;
  // The strides at which axes begin, in ascending order from 1 to devices_. Each stride divides the next one.
  std::vector<int64_t> boundaries_;
  std::vector<int64_t> position_;  // position of each device in the mesh; empty if it always equals the device id
  std::set<int64_t> used_;         // boundaries at which the groups or pairs of a collective begin or end
  std::vector<NamedAxis> named_;
};

}  // namespace shoal::internal
