// What World keeps of rendezvous, operations and devices. World's own: everything here is guarded by its mutex.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>

#include "execute/collectives/exchange.h"
#include "execute/collectives/collective_runtime.h"

namespace shoal::internal {

struct Operation {
  const Rendezvous* rendezvous = nullptr;
  int64_t number = 0;
  int64_t missing = 0;                   // members of this process who must still come
  std::vector<const Instruction*> came;  // with which instruction each member came; null: not yet
  std::vector<Arrays> contributions;     // of each member
  Arrays sum;                            // where contributions are folded: of the first members
  size_t folded = 0;                     // how many of them
  bool is_folding = false;               // somebody is at it, and alone touches sum
  std::vector<Arrays> results;           // of each member, once it is over
  bool over = false;
};

struct CollectiveRuntime::RendezvousKey {
  Opcode kind{};
  int64_t channel = 0;
  bool transfer = false;  // from members[0] to members[1], who may be the same
  DeviceGroup members;
  auto operator<=>(const RendezvousKey&) const = default;
};

struct Rendezvous {
  explicit Rendezvous(const DeviceGroup& members, bool transfer)
      : members(members), transfer(transfer), here(members.size()), arrivals(members.size()) {}

  const DeviceGroup members;
  const bool transfer;
  std::unique_ptr<GroupLayout> layout;            // null: all members are in this process
  size_t here = 0;                                // members in this process
  uint64_t hash = 0;                              // of its key: the same in every process
  std::vector<int64_t> arrivals;                  // of each member so far
  std::deque<std::shared_ptr<Operation>> expected;  // those to which somebody must still come, in order
  int64_t first_expected = 0;                     // the number of expected[0]
};

struct CollectiveRuntime::DeviceState {
  std::condition_variable changed;
  std::atomic<bool> has_turn = false;
  const Instruction* waits_at = nullptr;  // null: it does not wait
  const Operation* waits_for = nullptr;
  const ControlFlowState* control_flow_state = nullptr;  // of one that waits or has finished
  bool finished = false;
  ControlFlowState last;
  std::vector<std::pair<Opcode, Traffic>> traffic;  // of a few kinds
};

// The instruction's line in the text, as " (line 7)"; nothing if it came from no text.
std::string LineOf(const Instruction& hlo, const Source* source);

// Says why two instructions that meet cannot be one collective; empty if they can.
std::string CollectiveMismatch(const Instruction& a, const Instruction& b);

}  // namespace shoal::internal
