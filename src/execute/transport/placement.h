// Which process of a job runs which devices.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"

namespace shoal::internal {

struct Placement {
  std::vector<int> rank_of;  // of each device: the process that runs it
  int rank = 0;              // this process

  bool IsLocal(int64_t device) const { return RankOf(device) == rank; }
  int RankOf(int64_t device) const { return rank_of[static_cast<size_t>(device)]; }
  std::vector<int64_t> DevicesOf(int rank) const;
  std::vector<int64_t> Local() const { return DevicesOf(rank); }
};

// All devices in this process.
Placement SingleProcessPlacement(int64_t devices);

// "block": each process has devices that follow each other; "cyclic": they are dealt out one by one; else a file with a
// line for each process, in the order of the ranks: "0-3,8".
Result<Placement> ParsePlacement(const std::string& how, int64_t devices, int ranks, int rank);

}  // namespace shoal::internal
