// The participants of a module's collectives, as device ids. Collectives with equal groups share one entry.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "analyze/facts/device_grid.h"

namespace shoal::internal {

struct Participants {
  // The role of one device.
  struct MemberRank {
    int64_t group = -1;  // -1: the device is not in a group
    int64_t position = 0;
    int64_t sends = 0;     // number of pairs with the device as source
    int64_t receives = 0;  // number of pairs with the device as target and another device as source
  };

  size_t index = 0;                 // in ParticipantTable::all
  std::vector<DeviceGroup> groups;  // empty for permutes, send and recv, and if there are too many devices to list
  std::vector<DevicePair> pairs;    // for permutes, send and recv
  int64_t group_size = 1;           // members of the largest group
  std::vector<MemberRank> ranks;    // by device
  std::string mismatch;             // error message if the ids are invalid for the devices; else empty
  std::string axis;                 // the groups as text: "all", "data=8", "{0,3} {1,2}"
  std::string pattern;              // for pairs along an axis: "ring", "shift by -1", "exchange"; else empty

  // Returns the rank of a device. If devices are not listed, returns the rank of any member except the first.
  MemberRank MemberRankOf(int64_t device) const;
};

class ParticipantTable {
 public:
  explicit ParticipantTable(const DeviceGrid& grid) : grid_(grid) {}

  // The participants of a collective, send or recv. Groups that are invalid for the devices are listed as written.
  Participants& Of(const Instruction& hlo);
  // All entries, in the order of the first call of Of.
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
