// The private state of CollectiveRuntime: rendezvous, operations and devices. Its mutex guards all of them.
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
  int64_t missing = 0;  // members of this process that have not arrived
  std::vector<const Instruction*> instructions;  // for each member, where it has arrived; null: not arrived
  std::vector<Arrays> contributions;             // indexed by member
  Arrays sum;                                    // the folded contributions of the first folded_count members
  size_t folded_count = 0;
  bool is_folding = false;      // one thread is folding; only it accesses `sum`
  std::vector<Arrays> results;  // indexed by member; set on completion
  bool is_complete = false;
};

struct CollectiveRuntime::RendezvousKey {
  Opcode kind{};
  int64_t channel = 0;
  bool transfer = false;  // a transfer from members[0] to members[1], which may be equal
  DeviceGroup members;
  auto operator<=>(const RendezvousKey&) const = default;
};

struct Rendezvous {
  explicit Rendezvous(const DeviceGroup& members, bool transfer)
      : members(members), transfer(transfer), local_count(members.size()), arrivals(members.size()) {}

  const DeviceGroup members;
  const bool transfer;
  std::unique_ptr<GroupLayout> layout;            // null: all members are in this process
  size_t local_count = 0;                         // members in this process
  uint64_t hash = 0;                              // hash of the key; identical in every process
  std::vector<int64_t> arrivals;                  // for each member, number of arrivals so far
  std::deque<std::shared_ptr<Operation>> expected;  // operations with missing members, in order
  int64_t first_expected = 0;                     // sequence number of expected[0] among the group's operations
};

struct CollectiveRuntime::DeviceState {
  std::condition_variable changed;
  std::atomic<bool> has_run_slot = false;
  const Instruction* waits_at = nullptr;  // null: not waiting
  const Operation* waits_for = nullptr;
  const ControlFlowState* control_flow_state = nullptr;  // set while waiting and after the end
  bool finished = false;
  ControlFlowState final_state;                     // copy of the state at the end
  std::vector<std::pair<Opcode, Traffic>> traffic;  // for each op; few entries
};

// The line of the instruction in the text, as " (line 7)"; empty if there is no text.
std::string LineOf(const Instruction& hlo, const Source* source);

// The reason why two instructions at one rendezvous cannot form one collective; empty if they can.
std::string CollectiveMismatch(const Instruction& a, const Instruction& b);

}  // namespace shoal::internal
