// World: where the devices of a run meet. A collective is a meeting: each member arrives with its contribution, the
// last one to arrive works out everybody's result, and each waits until that is done. Since the world knows who waits
// for whom, it notices at once when nobody can go on, and says why.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "collectives/device_grid.h"
#include "kernels/value.h"

namespace shoal {

// Where a device is in the program, for the explanation of a stall. Only its own thread writes it.
struct Whereabouts {
  std::map<const Instruction*, int64_t> branches;  // the branch a conditional took last
  std::map<const Instruction*, int64_t> rounds;    // how often a while went round, the last time it ran
};

using Arrays = std::vector<Array>;
// Everybody's contributions, in the order of the members, to everybody's results.
using Combine = std::function<Result<std::vector<Arrays>>(std::vector<Arrays> contributions)>;

class Meeting;

class World {
 public:
  explicit World(int64_t devices);
  ~World();

  // What makes a meeting the same for all members: the same kind of op, channel and members, and how often they met.
  struct Place {
    Opcode opcode{};
    int64_t channel = 0;
    DeviceGroup members;
    auto operator<=>(const Place&) const = default;
  };

  // Leaves `contribution` for the others. Does not wait.
  Result<std::shared_ptr<Meeting>> Arrive(int64_t device, const Instruction& hlo, const Place& place,
                                          Arrays contribution, const Combine& combine);
  // This device's part of the result, when all have come. Fails if the run was stopped or can never go on.
  Result<Arrays> Wait(int64_t device, const Instruction& hlo, const Whereabouts& whereabouts,
                      const std::shared_ptr<Meeting>& meeting);

  // A device has nothing more to do, or has failed, which stops all others.
  void Finish(int64_t device, const Whereabouts& whereabouts);
  void Stop(Diag reason);
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
  // Why the run was stopped: the first reason given.
  std::optional<Diag> reason() const;

 private:
  struct DeviceState;
  struct Queue;

  void StopLocked(Diag reason);
  void CheckForStall();
  Diag ExplainStall() const;
  std::string Describe(const DeviceState& state, int64_t device) const;

  mutable std::mutex mutex_;
  std::atomic<bool> stopped_ = false;
  std::optional<Diag> reason_;
  std::vector<std::unique_ptr<DeviceState>> devices_;
  int64_t running_ = 0;
  std::map<Place, Queue> queues_;
};

}  // namespace shoal
