// Deadlock reports across processes: each process serializes the state of its devices. The first process adds these
// states to its own and reports on all devices as if they were local.
#include <algorithm>

#include "core/base/strings.h"
#include "execute/collectives/process_link.h"
#include "execute/collectives/rendezvous.h"
#include "execute/collectives/deadlock.h"

namespace shoal::internal {
namespace {

using Counts = std::map<const Instruction*, int64_t>;

void WriteCounts(Writer& writer, const ProcessLink& link, const Counts& counts) {
  writer.Int(std::ssize(counts));
  for (const auto& [hlo, count] : counts) writer.Int(link.OrdinalOf(*hlo)).Int(count);
}

Counts ReadCounts(Reader& reader, const ProcessLink& link) {
  Counts counts;
  for (int64_t n = reader.Int(); n > 0; --n) {
    const Instruction* hlo = link.InstructionAt(reader.Int());
    const int64_t count = reader.Int();
    if (hlo != nullptr) counts[hlo] = count;
  }
  return counts;
}

// Lists the host of each device if there are several hosts.
std::string DescribeHosts(ProcessLink& link) {
  std::string text;
  const Job& job = link.job();
  if (!job.spans_hosts()) return text;
  for (int rank = 0; rank < job.size(); ++rank)
    if (const std::vector<int64_t> devices = link.placement().DevicesOf(rank); !devices.empty())
      StrAppend(&text, "\n  ", DeviceList(devices), devices.size() == 1 ? " is on " : " are on ", job.host(rank),
                " (rank ", rank, ")");
  return text;
}

}  // namespace

CollectiveRuntime::DeviceStateCounts CollectiveRuntime::CountDeviceStates() const {
  std::lock_guard lock(mutex_);
  DeviceStateCounts counts{running_, 0};
  for (const std::unique_ptr<DeviceState>& state : devices_)
    if (state->waits_for != nullptr) ++counts.waiting;
  return counts;
}

std::string CollectiveRuntime::DescribeWaiting() const {
  std::lock_guard lock(mutex_);
  Writer writer;
  // Writes the arrival counts of local members at each rendezvous with members in other processes.
  for (const auto& [key, rendezvous] : rendezvous_) {
    if (rendezvous->layout == nullptr || rendezvous->local_count == 0) continue;
    writer.Int(1).Int(static_cast<int64_t>(key.kind)).Int(key.channel).Int(key.transfer ? 1 : 0).Ints(key.members);
    writer.Ints(rendezvous->arrivals);
  }
  writer.Int(0);
  for (int64_t device : link_->placement().Local()) {
    const DeviceState& state = *devices_[static_cast<size_t>(device)];
    writer.Int(device).Int(state.finished ? 1 : 0).Int(state.waits_for == nullptr ? 0 : 1);
    if (state.waits_for != nullptr) {
      const Operation& operation = *state.waits_for;
      const auto entry = std::find_if(rendezvous_.begin(), rendezvous_.end(),
                                      [&](const auto& each) { return each.second.get() == operation.rendezvous; });
      writer.Int(link_->OrdinalOf(*state.waits_at)).Int(static_cast<int64_t>(entry->first.kind));
      writer.Int(entry->first.channel).Int(entry->first.transfer ? 1 : 0).Ints(entry->first.members);
      writer.Int(operation.number);
    }
    writer.Int(state.control_flow_state == nullptr ? 0 : 1);
    if (state.control_flow_state == nullptr) continue;
    WriteCounts(writer, *link_, state.control_flow_state->branches);
    WriteCounts(writer, *link_, state.control_flow_state->iterations);
  }
  return writer.Take();
}

void CollectiveRuntime::AddWaiting(std::string_view description) {
  Reader reader(description);
  auto read_rendezvous = [&] {
    const auto kind = static_cast<Opcode>(reader.Int());
    const int64_t channel = reader.Int();
    const bool transfer = reader.Int() != 0;
    return FindOrCreateRendezvous({kind, channel, transfer, reader.Ints()});
  };
  while (reader.Int() != 0) {
    Rendezvous& rendezvous = *read_rendezvous();
    const std::vector<int64_t> arrivals = reader.Ints();
    std::lock_guard lock(mutex_);
    for (size_t i = 0; i < arrivals.size() && i < rendezvous.arrivals.size(); ++i)
      rendezvous.arrivals[i] = std::max(rendezvous.arrivals[i], arrivals[i]);
  }
  while (!reader.rest().empty()) {
    const int64_t device = reader.Int();
    if (device < 0 || device >= grid_.count()) return;
    DeviceState& state = *devices_[static_cast<size_t>(device)];
    state.finished = reader.Int() != 0;
    if (reader.Int() != 0) {
      state.waits_at = link_->InstructionAt(reader.Int());
      auto operation = std::make_shared<Operation>();
      operation->rendezvous = read_rendezvous();
      operation->number = reader.Int();
      operation->instructions.resize(operation->rendezvous->members.size());
      state.waits_for = operation.get();
      remote_operations_.push_back(std::move(operation));
    }
    state.control_flow_state = &state.final_state;
    if (reader.Int() == 0) continue;
    state.final_state.branches = ReadCounts(reader, *link_);
    state.final_state.iterations = ReadCounts(reader, *link_);
  }
}

void CollectiveRuntime::StopDeadlocked() {
  std::optional<Diag> deadlock;
  {
    std::lock_guard lock(mutex_);
    // The arrival counts of all processes are available now.
    for (const std::unique_ptr<DeviceState>& state : devices_) {
      if (state->waits_for == nullptr) continue;
      auto& operation = const_cast<Operation&>(*state->waits_for);
      for (size_t i = 0; i < operation.instructions.size(); ++i)
        operation.instructions[i] = operation.rendezvous->arrivals[i] > operation.number ? state->waits_at : nullptr;
    }
    deadlock = DeadlockReport(*this).Explain();
    for (const std::unique_ptr<DeviceState>& state : devices_)
      if (std::any_of(remote_operations_.begin(), remote_operations_.end(),
                      [&](const auto& each) { return each.get() == state->waits_for; }))
        state->waits_for = nullptr;  // no local thread waits on behalf of a device of another process
  }
  if (!deadlock) return;
  StrAppend(&deadlock->message, DescribeHosts(*link_));
  Stop(std::move(*deadlock));
}

}  // namespace shoal::internal
