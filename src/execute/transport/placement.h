// The assignment of devices to the processes of a job.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"

namespace shoal::internal {

struct Placement {
  std::vector<int> rank_of;  // for each device, the rank of the process that runs it
  int rank = 0;              // rank of this process

  bool IsLocal(int64_t device) const { return RankOf(device) == rank; }
  int RankOf(int64_t device) const { return rank_of[static_cast<size_t>(device)]; }
  std::vector<int64_t> DevicesOf(int rank) const;
  std::vector<int64_t> Local() const { return DevicesOf(rank); }
};

Placement SingleProcessPlacement(int64_t devices);

// Fails if `spec` is neither "block" nor "cyclic" nor a file that can be read.
Status CheckPlacement(const std::string& spec);

// `spec` is "block" (consecutive devices on each process), "cyclic" (device d on rank d modulo the number of ranks), or
// the path of a file with one line per process in rank order, such as "0-3,8".
Result<Placement> ParsePlacement(const std::string& spec, int64_t devices, int ranks, int rank);

}  // namespace shoal::internal
