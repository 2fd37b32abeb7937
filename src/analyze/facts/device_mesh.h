// Recovers the device mesh from a module's device groups. The devices in a group along a mesh axis are evenly spaced,
// so the strides and sizes of all groups determine the mesh. Axis names come from the meshes declared in the module.
#pragma once

#include <set>

#include "analyze/facts/participants.h"
#include "core/ir/module.h"

namespace shoal::internal {

class DeviceMesh {
 public:
  struct Axis {
    std::string name;  // as in the module, 'x':(2)4 for a part of an axis; d0, d1, … for an unnamed axis
    int64_t size = 1;
    int64_t stride = 1;  // between neighbours along the axis, in the mesh's device order
  };

  // Also sets `axis` and `pattern` of each entry of `table`.
  DeviceMesh(const Module& module, const ParticipantTable& table);

  // Most major axis first; empty for a single device.
  std::vector<Axis> Axes() const;
  // "data=2, model=4"
  std::string ToText() const;

 private:
  // `size` devices, `stride` apart.
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
  // Strides at which an axis begins, ascending from 1 to devices_; each divides the next.
  std::vector<int64_t> boundaries_;
  std::vector<int64_t> position_;  // of each device in the mesh; empty: equal to the device id
  std::set<int64_t> used_;         // boundaries at which the groups or pairs of a collective begin or end
  std::vector<NamedAxis> named_;
};

}  // namespace shoal::internal
