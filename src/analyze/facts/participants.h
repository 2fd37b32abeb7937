// The devices that participate in each collective of a module. Collectives with equal groups share one table entry.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "analyze/facts/device_grid.h"

namespace shoal::internal {

struct Participants {
  // The role of one device in a collective.
  struct MemberRank {
    int64_t group = -1;  // index of the device's group, or -1 if the device is not in a group
    int64_t position = 0;
    int64_t sends = 0;     // number of pairs whose source is the device
    int64_t receives = 0;  // number of pairs whose target is the device and whose source is another device
  };

  size_t index = 0;                 // index of this entry in ParticipantTable::all
  std::vector<DeviceGroup> groups;  // empty for permutes, send and recv, or if there are too many devices to list
  std::vector<DevicePair> pairs;    // source-target pairs of a permute, send or recv
  int64_t group_size = 1;           // members of the largest group
  std::vector<MemberRank> ranks;    // role of each device
  std::string mismatch;             // error message if the module's ids do not fit the device grid; else empty
  std::string axis;                 // the groups as text: "all", "data=8", "{0,3} {1,2}"
  std::string pattern;              // pattern of pairs along an axis ("ring", "shift by -1", "exchange"); else empty

  // Returns the rank of a device. If devices are not listed, returns the rank of any member except the first.
  MemberRank MemberRankOf(int64_t device) const;
};

class ParticipantTable {
 public:
  explicit ParticipantTable(const DeviceGrid& grid) : grid_(grid) {}

  // The participants of a collective, send or recv. Groups that do not fit the device grid are listed as in the module.
  Participants& Of(const Instruction& hlo);
  // All entries, in the order in which Of created them.
  const std::vector<std::unique_ptr<Participants>>& all() const { return all_; }
  const DeviceGrid& grid() const { return grid_; }

 private:
  void List(const Instruction& hlo, Participants& participants);
  void ListGroups(const Instruction& hlo, Participants& participants);
  void ListPairs(const Instruction& hlo, Participants& participants);
  void AssignRanks(Participants& participants) const;

  DeviceGrid grid_;
  int64_t listed_ = 0;  // total number of device ids in groups
  std::vector<std::unique_ptr<Participants>> all_;
  std::unordered_map<std::string, Participants*> by_key_;
};

}  // namespace shoal::internal
