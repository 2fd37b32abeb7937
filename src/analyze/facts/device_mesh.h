// The mesh behind a module's groups of devices. Groups along a mesh axis are devices at equal distances, so that the
// strides and sizes of all groups together give the mesh back; names of axes come from meshes that the text writes out.
#pragma once

#include <set>

#include "analyze/facts/participants.h"
#include "core/ir/module.h"

namespace shoal::internal {

class DeviceMesh {
 public:
  struct Axis {
    std::string name;  // as the text has it, 'x':(2)4 for a part of one; d0, d1, … where nothing names it
    int64_t size = 1;
    int64_t stride = 1;  // between neighbours along it, in the mesh's own order of devices
  };

  // Also gives each membership its axis in words.
  DeviceMesh(const Module& module, const ParticipantTable& memberships);

  // The most major first; empty for a single device.
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
    StridedAxis step;
  };

  void TakeNames(const Module& module, const DeviceGrid& grid);
  void TakeMesh(const Mesh& mesh, const DeviceGrid& grid);
  void TakeTiles(const Module& module);
  bool AddCuts(const std::vector<int64_t>& cuts);
  bool AddSteps(const std::vector<StridedAxis>& steps);
  void DropUnusedCuts();

  std::vector<DeviceGroup> InMesh(std::vector<DeviceGroup> groups) const;
  std::vector<DevicePair> InMesh(std::vector<DevicePair> pairs) const;
  static std::vector<StridedAxis> StepsOf(const std::vector<DeviceGroup>& groups);
  static std::vector<StridedAxis> Decompose(const std::vector<int64_t>& offsets);

  std::string Describe(const std::vector<StridedAxis>& steps) const;
  std::string DescribeGroups(const Participants& membership) const;
  void DescribePairs(Participants& membership);
  bool DescribeShift(const std::vector<DevicePair>& pairs, const StridedAxis& along, Participants& membership) const;
  std::string NameOf(const StridedAxis& part) const;

  int64_t devices_ = 1;
  std::vector<int64_t>
      cuts_;  // strides at which an axis begins, rising from 1, each a divisor of the next; last: devices_
  std::vector<int64_t> position_;  // of each device in the mesh; empty: its id
  std::set<int64_t> used_;  // cuts at which the groups or the pairs of some collective begin or end
  std::vector<NamedAxis> named_;
};

}  // namespace shoal::internal
