#include "execute/collectives/process_link_message.h"

#include <algorithm>
#include <new>

#include "core/base/threads.h"
#include "execute/collectives/rendezvous.h"
#include "execute/collectives/fast_rendezvous.h"

namespace shoal::internal {
namespace {

// Typical size of the body of a message.
constexpr size_t kBodyBytes = 128;

}  // namespace

// A collective between processes that has started in this process.
struct ProcessLink::PendingExchange {
  Key key;
  std::shared_ptr<Operation> operation;
  std::unique_ptr<Exchange> exchange;
  const GroupLayout* layout = nullptr;
  int round = 0;
  std::vector<ArrayTypes> types;      // types of the contributions, indexed by member
  std::vector<std::string> messages;  // indexed by process: messages of this round that wait until all have arrived
  size_t arrived = 0;                 // number of processes whose message of this round has arrived
  size_t received = 0;                // number of processes whose blocks have been received
};

ProcessLink::ProcessLink(Job& job, const Placement& placement, const Module& module)
    : job_(job), placement_(placement), run_([] {
        static std::atomic<int64_t> runs = 0;
        return runs++;
      }()),
      is_crowded_(job.sharing_cores() > static_cast<int>(std::thread::hardware_concurrency())) {
  for (const Computation* computation : module.computations) {
    for (const Instruction* hlo : computation->instructions) {
      ordinals_[hlo] = std::ssize(instructions_);
      instructions_.push_back(hlo);
    }
  }
  idle_reports_.resize(static_cast<size_t>(job.size()));
  probe_replies_.resize(static_cast<size_t>(job.size()));
}

ProcessLink::~ProcessLink() {
  is_over_ = true;
  if (background_.joinable()) background_.join();
  job_.SetHandler({});
}

const Instruction* ProcessLink::InstructionAt(int64_t ordinal) const {
  return ordinal >= 0 && ordinal < std::ssize(instructions_) ? instructions_[static_cast<size_t>(ordinal)] : nullptr;
}

std::unique_ptr<GroupLayout> ProcessLink::LayoutOf(const DeviceGroup& members) const {
  std::map<int, std::vector<size_t>> by_rank;
  for (size_t i = 0; i < members.size(); ++i) by_rank[placement_.RankOf(members[i])].push_back(i);
  if (by_rank.size() == 1 && by_rank.begin()->first == placement_.rank) return nullptr;
  auto layout = std::make_unique<GroupLayout>();
  layout->count = members.size();
  layout->self = SIZE_MAX;  // keeps this value if this process has no member
  for (auto& [rank, indices] : by_rank) {
    if (rank == placement_.rank) layout->self = layout->ranks.size();
    layout->ranks.push_back(rank);
    layout->members.push_back(std::move(indices));
  }
  return layout;
}

void ProcessLink::Attach(CollectiveRuntime& runtime) {
  std::lock_guard lock(job_.mutex());
  runtime_ = &runtime;
  if (job_.fast_reduction) MakeGroups();
  job_.SetHandler([this](int from, std::string_view bytes) { return Take(from, bytes); });
  std::optional<std::jthread> background = StartThread([this] { Background(); });
  if (!background) throw std::bad_alloc();  // the caller ends the job, because the other processes wait for this one
  background_ = std::move(*background);
}

ProcessLink::Key ProcessLink::KeyOf(const Operation& operation) {
  return {operation.rendezvous->hash, operation.number};
}

// Stops the run on a failure.
void ProcessLink::Check(const Status& status) {
  if (!status.ok()) runtime_->Stop(status.diag());
}

void ProcessLink::Begin(const std::shared_ptr<Operation>& operation, std::unique_ptr<Exchange> exchange) {
  std::lock_guard lock(job_.mutex());
  const FastRendezvous* fast = std::exchange(fast_, nullptr);
  if (is_stopped_) return;
  auto pending = std::make_shared<PendingExchange>();
  pending->key = KeyOf(*operation);
  pending->operation = operation;
  pending->exchange = std::move(exchange);
  pending->layout = operation->rendezvous->layout.get();
  pending->types.resize(pending->layout->count);
  for (size_t member : pending->layout->local())
    for (const Array& array : operation->contributions[member])
      pending->types[member].push_back({array.type(), ToDims(array.dims())});
  pending->exchange->Begin(*pending->layout, std::move(operation->contributions));
  pending_exchanges_[pending->key] = pending;
  Check(fast == nullptr ? SendRound(pending) : Resume(pending, *fast));
}

// Sends this round's blocks to all other processes, then handles their messages that have already arrived.
Status ProcessLink::SendRound(const std::shared_ptr<PendingExchange>& pending) {
  const GroupLayout& layout = *pending->layout;
  pending->messages.assign(layout.ranks.size(), {});
  pending->arrived = pending->received = 0;
  // Start with the next process, so that not all processes send to the same process first.
  for (size_t i = 1; i < layout.ranks.size(); ++i) {
    const size_t process = (layout.self + i) % layout.ranks.size();
    SHOAL_ASSIGN(blocks, pending->exchange->OutgoingBlocks(pending->round, process));
    Writer body(kBodyBytes);
    body.Int(pending->round);
    if (pending->round == 0) {
      for (size_t member : layout.local()) {
        body.Int(OrdinalOf(*pending->operation->instructions[member]));
        WriteTypes(body, pending->types[member]);
      }
    }
    SendBlocks(layout.ranks[process], kPart, pending->key, std::move(body), std::move(blocks), pending);
  }
  return TakeEarly(pending->key);
}

// Continues a collective that started as a fast rendezvous and has already sent its parts.
Status ProcessLink::Resume(const std::shared_ptr<PendingExchange>& pending, const FastRendezvous& fast) {
  const GroupLayout& layout = *pending->layout;
  pending->messages.assign(layout.ranks.size(), {});
  for (size_t process = 0; process < layout.ranks.size(); ++process)
    if (const std::string_view message = fast.message(process); !message.empty())
      SHOAL_TRY(TakePart(layout.ranks[process], Message(message)));
  return TakeEarly(pending->key);
}

Status ProcessLink::TakeEarly(const Key& key) {
  const auto early = early_messages_.extract(key);
  if (early.empty()) return {};
  for (const auto& [from, bytes] : early.mapped()) SHOAL_TRY(TakePart(from, Message(bytes)));
  return {};
}

bool ProcessLink::Take(int from, std::string_view bytes) {
  if (fast_ != nullptr && fast_->Take(from, bytes)) return ++received_, true;
  Reader reader(bytes);
  const int64_t run = reader.Int();
  if (run != run_) return run < run_;  // keep messages of later runs, drop those of earlier runs
  const int64_t kind = reader.Int();
  if (kind != kPart && kind != kDelivery) {
    TakeControl(from, kind, reader);
  } else {
    ++received_;
    Take(from, Message(bytes));
  }
  return true;
}

// Keeps the message for later if its operation has not started in this process.
void ProcessLink::Take(int from, const Message& message) {
  if (is_stopped_) return Discard(from, message);
  if (message.kind == kPart) return Check(TakePart(from, message));
  if (expected_.contains(message.key)) return TakeDelivery(from, message);
  early_messages_[message.key].emplace_back(from, message.whole);
}

Status ProcessLink::TakePart(int from, const Message& message) {
  Reader reader(message.body);
  const int64_t round = reader.Int();
  const auto found = pending_exchanges_.find(message.key);
  if (found == pending_exchanges_.end() || found->second->round != round) {
    early_messages_[message.key].emplace_back(from, message.whole);
    return {};
  }
  const std::shared_ptr<PendingExchange> pending = found->second;
  const GroupLayout& layout = *pending->layout;
  const auto process =
      static_cast<size_t>(std::lower_bound(layout.ranks.begin(), layout.ranks.end(), from) - layout.ranks.begin());
  if (round == 0) {
    for (size_t member : layout.members[process]) {
      pending->operation->instructions[member] = InstructionAt(reader.Int());
      pending->types[member] = ReadTypes(reader);
    }
  }
  const bool is_last = ++pending->arrived + 1 == layout.ranks.size();
  // If the receive buffers are known, start the receive without waiting for other processes.
  if (CanReceiveNow(*pending, process)) SHOAL_TRY(StartReceive(pending, process, message));
  else pending->messages[process] = std::string(message.whole);
  return is_last ? OnAllArrived(pending) : Status();
}

// True if the blocks of `process` have the same layout as this process's blocks, because its members are at the same
// instruction with the same types.
bool ProcessLink::CanReceiveNow(const PendingExchange& pending, size_t process) {
  if (pending.round > 0) return true;
  const GroupLayout& layout = *pending.layout;
  const auto& instructions = pending.operation->instructions;
  const size_t own = layout.local()[0];
  const auto is_equal = [&](size_t member) {
    return instructions[member] == instructions[own] && pending.types[member] == pending.types[own];
  };
  return std::ranges::all_of(layout.local(), is_equal) && std::ranges::all_of(layout.members[process], is_equal) &&
         pending.exchange->CanPrepost(pending.types[own]);
}

Status ProcessLink::StartReceive(const std::shared_ptr<PendingExchange>& pending, size_t process,
                                 const Message& message) {
  const int from = pending->layout->ranks[process];
  const ArrayTypes types = BlockTypes(*pending, process, message);
  auto buffers = pending->exchange->IncomingBuffers(pending->round, process, types);
  buffers.ok() ? ReceivePart(pending, from, message, *buffers) : Discard(from, message);
  return buffers.ok() ? Status() : buffers.diag();
}

Status ProcessLink::OnAllArrived(const std::shared_ptr<PendingExchange>& pending) {
  const std::vector<std::string> messages = std::exchange(pending->messages, {});
  Status status = pending->round == 0 ? CheckArrivals(*pending) : Status();
  for (size_t process = 0; process < messages.size(); ++process) {
    if (messages[process].empty()) continue;
    if (status.ok()) status = StartReceive(pending, process, Message(messages[process]));
    else Discard(pending->layout->ranks[process], Message(messages[process]));
  }
  if (status.ok() && pending->round == 0) status = pending->exchange->OverlapWork([this] { job_.Advance(); });
  if (!status.ok() || pending->received + 1 < pending->layout->ranks.size()) return status;
  return NextRound(pending);
}

Status ProcessLink::CheckArrivals(const PendingExchange& pending) {
  for (size_t member = 1; member < pending.layout->count; ++member)
    SHOAL_TRY(runtime_->CheckCompatible(*pending.operation, member));
  return pending.exchange->OnTypesAgreed(pending.types);
}

// Reads the types of the blocks that a process sends, which are at the end of its message's body.
ArrayTypes ProcessLink::BlockTypes(const PendingExchange& pending, size_t process, const Message& message) {
  Reader body(message.body);
  body.Int();
  for (size_t i = 0; pending.round == 0 && i < pending.layout->members[process].size(); ++i) {
    body.Int();
    SkipTypes(body);
  }
  return ReadTypes(body);
}

void ProcessLink::ReceivePart(const std::shared_ptr<PendingExchange>& pending, int from, const Message& message,
                              const std::vector<std::span<std::byte>>& buffers) {
  if (message.tag == 0) {
    Unpack(message, buffers);
    ++pending->received;
    return;
  }
  ReceiveBlocks(from, message, buffers, [this, pending] {
    if (++pending->received + 1 == pending->layout->ranks.size()) Check(NextRound(pending));
  });
}

Status ProcessLink::NextRound(const std::shared_ptr<PendingExchange>& pending) {
  if (is_stopped_) return {};
  SHOAL_TRY(pending->exchange->OnRoundReceived(pending->round));
  if (++pending->round < pending->exchange->rounds()) return SendRound(pending);
  pending_exchanges_.erase(pending->key);
  const std::vector<Exchange::Reduction> reductions = pending->exchange->Reductions();
  if (reductions.empty()) return Finish(pending);
  auto remaining = std::make_shared<size_t>(reductions.size());
  for (const Exchange::Reduction& each : reductions) {
    ++receiving_;
    job_.AllReduce(groups_.at(pending->key.rendezvous), each.op, each.type, each.data, each.count,
                   [this, remaining, pending] {
                     --receiving_;
                     if (--*remaining == 0) Check(Finish(pending));
                   });
  }
  return {};
}

Status ProcessLink::Finish(const std::shared_ptr<PendingExchange>& pending) {
  SHOAL_ASSIGN(results, pending->exchange->Finish());
  runtime_->CompleteOperation(*pending->operation, std::move(results));
  return {};
}

// Prevents further exchanges, and discards all messages that have not been received.
void ProcessLink::OnStopped(const Diag& reason) {
  std::lock_guard lock(job_.mutex());
  if (std::exchange(is_stopped_, true)) return;
  Writer writer;
  Write(writer, reason);
  job_.is_root() ? BroadcastControl(kStop, writer.Take()) : SendControl(0, kStop, writer.Take());
  for (const auto& [key, pending] : pending_exchanges_)
    for (size_t process = 0; process < pending->messages.size(); ++process)
      if (const std::string& message = pending->messages[process]; !message.empty())
        Discard(pending->layout->ranks[process], Message(message));
  DiscardEarly();
}

void ProcessLink::DiscardEarly() {
  for (const auto& [key, messages] : early_messages_)
    for (const auto& [from, bytes] : messages) Discard(from, Message(bytes));
  early_messages_.clear();
}

}  // namespace shoal::internal
