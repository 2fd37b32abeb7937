// Whom the collectives of a module join, in device ids. Many collectives share one list of groups, which is kept once.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "analyze/facts/device_grid.h"

namespace shoal::internal {

struct Participants {
  // What a device is in it.
  struct MemberRank {
    int64_t group = -1;  // -1: the device is in none
    int64_t position = 0;
    int64_t sends = 0;     // pairs of which it is the source
    int64_t receives = 0;  // pairs of which it is the target, and not the source
  };

  std::vector<DeviceGroup> groups;  // empty for permutes, send and recv, and where there are too many devices to list
  std::vector<DevicePair> pairs;    // of permutes, send and recv
  int64_t group_size = 1;           // members of the largest group
  std::vector<MemberRank> seats;          // of each device
  std::string mismatch;               // why the ids as written do not fit the devices; empty: they do
  std::string axis;                 // in words: "all", "data=8", "{0,3} {1,2}"
  std::string pattern;              // how pairs move along it: "ring", "shift by -1", "exchange"; else empty

  // Where devices are not listed, that of any member but the first.
  MemberRank MemberRankOf(int64_t device) const;
};

class ParticipantTable {
 public:
  explicit ParticipantTable(const DeviceGrid& grid) : grid_(grid) {}

  // Of a collective, a send or a recv. Groups that do not fit the devices are listed as written.
  Participants& Of(const Instruction& hlo);
  // In the order in which they were asked for.
  const std::vector<std::unique_ptr<Participants>>& all() const { return all_; }
  const DeviceGrid& grid() const { return grid_; }

 private:
  void List(const Instruction& hlo, Participants& made);
  void ListGroups(const Instruction& hlo, Participants& made);
  void ListPairs(const Instruction& hlo, Participants& made);
  void MemberRank(Participants& made) const;

  DeviceGrid grid_;
  int64_t listed_ = 0;  // device ids in all of them
  std::vector<std::unique_ptr<Participants>> all_;
  std::unordered_map<std::string, Participants*> known_;
};

}  // namespace shoal::internal
