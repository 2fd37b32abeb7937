// Stalls across processes: each describes where its own devices are, and the first puts the picture together as if all
// were its own.
#include <algorithm>

#include "core/base/strings.h"
#include "execute/collectives/process_link.h"
#include "execute/collectives/rendezvous.h"
#include "execute/collectives/deadlock.h"

namespace shoal::internal {
namespace {

using Seen = std::map<const Instruction*, int64_t>;

void WriteSeen(Writer& writer, const ProcessLink& link, const Seen& seen) {
  writer.Int(std::ssize(seen));
  for (const auto& [hlo, answer] : seen) writer.Int(link.OrdinalOf(*hlo)).Int(answer);
}

Seen ReadSeen(Reader& reader, const ProcessLink& link) {
  Seen seen;
  for (int64_t n = reader.Int(); n > 0; --n) {
    const Instruction* hlo = link.InstructionAt(reader.Int());
    const int64_t answer = reader.Int();
    if (hlo != nullptr) seen[hlo] = answer;
  }
  return seen;
}

// Which machine has which devices, where there are several.
std::string WhereDevicesAre(ProcessLink& link) {
  std::string text;
  const Job& job = link.job();
  if (!job.spans_hosts()) return text;
  for (int rank = 0; rank < job.size(); ++rank)
    if (const std::vector<int64_t> devices = link.placement().DevicesOf(rank); !devices.empty())
      StrAppend(&text, "\n  ", DeviceList(devices), devices.size() == 1 ? " is on " : " are on ", job.host(rank), " (rank ",
                rank, ")");
  return text;
}

}  // namespace

CollectiveRuntime::DeviceStateCounts CollectiveRuntime::CountDeviceStates() const {
  std::lock_guard lock(mutex_);
  DeviceStateCounts census{running_, 0};
  for (const std::unique_ptr<DeviceState>& state : devices_)
    if (state->waits_for != nullptr) ++census.waiting;
  return census;
}

std::string CollectiveRuntime::DescribeWaiting() const {
  std::lock_guard lock(mutex_);
  Writer writer;
  // How often the members here came to each rendezvous that others come to as well.
  for (const auto& [key, rendezvous] : rendezvous_) {
    if (rendezvous->layout == nullptr || rendezvous->here == 0) continue;
    writer.Int(1).Int(static_cast<int64_t>(key.kind)).Int(key.channel).Int(key.transfer ? 1 : 0).Ints(key.members);
    writer.Ints(rendezvous->arrivals);
  }
  writer.Int(0);
  for (int64_t device : link_->placement().Local()) {
    const DeviceState& state = *devices_[static_cast<size_t>(device)];
    writer.Int(device).Int(state.finished ? 1 : 0).Int(state.waits_for == nullptr ? 0 : 1);
    if (state.waits_for != nullptr) {
      const Operation& operation = *state.waits_for;
      const auto place = std::find_if(rendezvous_.begin(), rendezvous_.end(),
                                      [&](const auto& each) { return each.second.get() == operation.rendezvous; });
      writer.Int(link_->OrdinalOf(*state.waits_at)).Int(static_cast<int64_t>(place->first.kind));
      writer.Int(place->first.channel).Int(place->first.transfer ? 1 : 0).Ints(place->first.members);
      writer.Int(operation.number);
    }
    writer.Int(state.control_flow_state == nullptr ? 0 : 1);
    if (state.control_flow_state == nullptr) continue;
    WriteSeen(writer, *link_, state.control_flow_state->branches);
    WriteSeen(writer, *link_, state.control_flow_state->iterations);
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
      operation->came.resize(operation->rendezvous->members.size());
      state.waits_for = operation.get();
      elsewhere_.push_back(std::move(operation));
    }
    state.control_flow_state = &state.last;
    if (reader.Int() == 0) continue;
    state.last.branches = ReadSeen(reader, *link_);
    state.last.iterations = ReadSeen(reader, *link_);
  }
}

void CollectiveRuntime::StopDeadlocked() {
  std::optional<Diag> stall;
  {
    std::lock_guard lock(mutex_);
    // Who came in which process is known now.
    for (const std::unique_ptr<DeviceState>& state : devices_) {
      if (state->waits_for == nullptr) continue;
      auto& operation = const_cast<Operation&>(*state->waits_for);
      for (size_t i = 0; i < operation.came.size(); ++i)
        operation.came[i] = operation.rendezvous->arrivals[i] > operation.number ? state->waits_at : nullptr;
    }
    stall = DeadlockReport(*this).Explain();
    for (const std::unique_ptr<DeviceState>& state : devices_)
      if (std::any_of(elsewhere_.begin(), elsewhere_.end(),
                      [&](const auto& each) { return each.get() == state->waits_for; }))
        state->waits_for = nullptr;  // nobody waits for it in this process
  }
  if (!stall) return;
  StrAppend(&stall->message, WhereDevicesAre(*link_));
  Stop(std::move(*stall));
}

}  // namespace shoal::internal
