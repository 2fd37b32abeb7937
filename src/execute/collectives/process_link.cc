#include "execute/collectives/process_link_message.h"

#include <algorithm>

#include "core/base/strings.h"
#include "execute/collectives/rendezvous.h"
#include "execute/collectives/fast_rendezvous.h"

namespace shoal::internal {
namespace {

// Of what stands before the blocks, as a rule.
constexpr size_t kBodyBytes = 128;

}  // namespace

// A collective between processes that has begun here.
struct ProcessLink::Exchanging {
  Key key;
  std::shared_ptr<Operation> operation;
  std::unique_ptr<Exchange> exchange;
  const GroupLayout* layout = nullptr;
  int round = 0;
  std::vector<ArrayTypes> types;      // of the contributions, by member
  std::vector<std::string> messages;  // of this round, by process, of those that wait until all have come
  size_t arrived = 0;                 // processes whose message of this round has come
  size_t received = 0;                // and of those, whose blocks have
};

ProcessLink::ProcessLink(Job& job, const Placement& placement, const Module& module)
    : job_(job), placement_(placement), run_([] {
        static int64_t runs = 0;
        return runs++;
      }()),
      is_crowded_(job.sharing_cores() > static_cast<int>(std::thread::hardware_concurrency())) {
  for (const Computation* computation : module.computations) {
    for (const Instruction* hlo : computation->instructions) {
      ordinals_[hlo] = std::ssize(instructions_);
      instructions_.push_back(hlo);
    }
  }
  standings_.resize(static_cast<size_t>(job.size()));
  answers_.resize(static_cast<size_t>(job.size()));
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
  layout->self = SIZE_MAX;  // no member is here: nobody will ask
  for (auto& [rank, those] : by_rank) {
    if (rank == placement_.rank) layout->self = layout->ranks.size();
    layout->ranks.push_back(rank);
    layout->members.push_back(std::move(those));
  }
  return layout;
}

void ProcessLink::Attach(CollectiveRuntime& world) {
  std::lock_guard lock(job_.mutex());
  world_ = &world;
  if (job_.fast_reduction) MakeGroups();
  job_.SetHandler([this](int from, std::string_view bytes) { return Take(from, bytes); });
  background_ = std::jthread([this] { Background(); });
}

ProcessLink::Key ProcessLink::KeyOf(const Operation& operation) { return {operation.rendezvous->hash, operation.number}; }

// A failure here is one of the run.
void ProcessLink::Check(const Status& status) {
  if (!status.ok()) world_->Stop(status.diag());
}

void ProcessLink::Begin(const std::shared_ptr<Operation>& operation, std::unique_ptr<Exchange> exchange) {
  std::lock_guard lock(job_.mutex());
  const FastRendezvous* meeting = std::exchange(soon_, nullptr);
  if (is_stopped_) return;
  auto exchanging = std::make_shared<Exchanging>();
  exchanging->key = KeyOf(*operation);
  exchanging->operation = operation;
  exchanging->exchange = std::move(exchange);
  exchanging->layout = operation->rendezvous->layout.get();
  exchanging->types.resize(exchanging->layout->count);
  for (size_t member : exchanging->layout->local())
    for (const Array& array : operation->contributions[member])
      exchanging->types[member].push_back({array.type(), ToDims(array.dims())});
  exchanging->exchange->Begin(*exchanging->layout, std::move(operation->contributions));
  exchanging_[exchanging->key] = exchanging;
  Check(meeting == nullptr ? SendRound(exchanging) : Resume(exchanging, *meeting));
}

// This round's blocks to all others; then what they have sent already.
Status ProcessLink::SendRound(const std::shared_ptr<Exchanging>& exchanging) {
  const GroupLayout& layout = *exchanging->layout;
  exchanging->messages.assign(layout.ranks.size(), {});
  exchanging->arrived = exchanging->received = 0;
  // The next one first, so that not all begin with the same.
  for (size_t i = 1; i < layout.ranks.size(); ++i) {
    const size_t process = (layout.self + i) % layout.ranks.size();
    SHOAL_ASSIGN(blocks, exchanging->exchange->OutgoingBlocks(exchanging->round, process));
    Writer body(kBodyBytes);
    body.Int(exchanging->round);
    if (exchanging->round == 0) {
      for (size_t member : layout.local()) {
        body.Int(OrdinalOf(*exchanging->operation->came[member]));
        WriteTypes(body, exchanging->types[member]);
      }
    }
    SendBlocks(layout.ranks[process], kPart, exchanging->key, std::move(body), std::move(blocks), exchanging);
  }
  return TakeEarly(exchanging->key);
}

// Goes on with what began as a small meeting: everything was sent.
Status ProcessLink::Resume(const std::shared_ptr<Exchanging>& exchanging, const FastRendezvous& meeting) {
  const GroupLayout& layout = *exchanging->layout;
  exchanging->messages.assign(layout.ranks.size(), {});
  for (size_t process = 0; process < layout.ranks.size(); ++process)
    if (const std::string_view message = meeting.message(process); !message.empty())
      SHOAL_TRY(TakePart(layout.ranks[process], Message(message)));
  return TakeEarly(exchanging->key);
}

Status ProcessLink::TakeEarly(const Key& key) {
  const auto early = early_.extract(key);
  if (early.empty()) return {};
  for (const auto& [from, bytes] : early.mapped()) SHOAL_TRY(TakePart(from, Message(bytes)));
  return {};
}

bool ProcessLink::Take(int from, std::string_view bytes) {
  if (soon_ != nullptr && soon_->Take(from, bytes)) return ++received_, true;
  Reader reader(bytes);
  const int64_t run = reader.Int();
  if (run != run_) return run < run_;  // of a later one: kept until this is over
  const int64_t kind = reader.Int();
  if (kind != kPart && kind != kDelivery) {
    TakeControl(from, kind, reader);
  } else {
    ++received_;
    Take(from, Message(bytes));
  }
  return true;
}

// Kept if nobody here has come to it yet.
void ProcessLink::Take(int from, const Message& message) {
  if (is_stopped_) return Discard(from, message);
  if (message.kind == kPart) return Check(TakePart(from, message));
  if (expected_.contains(message.key)) return TakeDelivery(from, message);
  early_[message.key].emplace_back(from, message.whole);
}

Status ProcessLink::TakePart(int from, const Message& message) {
  Reader reader(message.body);
  const int64_t round = reader.Int();
  const auto found = exchanging_.find(message.key);
  if (found == exchanging_.end() || found->second->round != round) {
    early_[message.key].emplace_back(from, message.whole);
    return {};
  }
  const std::shared_ptr<Exchanging> exchanging = found->second;
  const GroupLayout& layout = *exchanging->layout;
  const auto process =
      static_cast<size_t>(std::lower_bound(layout.ranks.begin(), layout.ranks.end(), from) - layout.ranks.begin());
  if (round == 0) {
    for (size_t member : layout.members[process]) {
      exchanging->operation->came[member] = InstructionAt(reader.Int());
      exchanging->types[member] = ReadTypes(reader);
    }
  }
  const bool is_last = ++exchanging->arrived + 1 == layout.ranks.size();
  // What goes to a place of its own need not wait for others.
  if (CanPlace(*exchanging, process)) SHOAL_TRY(Place(exchanging, process, message));
  else exchanging->messages[process] = std::string(message.whole);
  return is_last ? AllCame(exchanging) : Status();
}

// A process whose members came to the same instruction with the same types sends blocks as this one does.
bool ProcessLink::CanPlace(const Exchanging& exchanging, size_t process) {
  if (exchanging.round > 0) return true;
  const GroupLayout& layout = *exchanging.layout;
  const auto& came = exchanging.operation->came;
  const size_t own = layout.local()[0];
  const auto alike = [&](size_t member) { return came[member] == came[own] && exchanging.types[member] == exchanging.types[own]; };
  return std::ranges::all_of(layout.local(), alike) && std::ranges::all_of(layout.members[process], alike) &&
         exchanging.exchange->CanPrepost(exchanging.types[own]);
}

Status ProcessLink::Place(const std::shared_ptr<Exchanging>& exchanging, size_t process, const Message& message) {
  const int from = exchanging->layout->ranks[process];
  auto places = exchanging->exchange->IncomingBuffers(exchanging->round, process, BlockTypes(*exchanging, process, message));
  places.ok() ? ReceivePart(exchanging, from, message, *places) : Discard(from, message);
  return places.ok() ? Status() : places.diag();
}

// All processes have said what they send in this round.
Status ProcessLink::AllCame(const std::shared_ptr<Exchanging>& exchanging) {
  const std::vector<std::string> messages = std::exchange(exchanging->messages, {});
  Status status = exchanging->round == 0 ? Match(*exchanging) : Status();
  for (size_t process = 0; process < messages.size(); ++process) {
    if (messages[process].empty()) continue;
    if (status.ok()) status = Place(exchanging, process, Message(messages[process]));
    else Discard(exchanging->layout->ranks[process], Message(messages[process]));
  }
  if (status.ok() && exchanging->round == 0) status = exchanging->exchange->OverlapWork([this] { job_.Advance(); });
  if (!status.ok() || exchanging->received + 1 < exchanging->layout->ranks.size()) return status;
  return NextRound(exchanging);
}

Status ProcessLink::Match(const Exchanging& exchanging) {
  for (size_t member = 1; member < exchanging.layout->count; ++member)
    SHOAL_TRY(world_->CheckCompatible(*exchanging.operation, member));
  return exchanging.exchange->OnTypesAgreed(exchanging.types);
}

// Of the blocks that a process sends: they stand last in what it says.
ArrayTypes ProcessLink::BlockTypes(const Exchanging& exchanging, size_t process, const Message& message) {
  Reader body(message.body);
  body.Int();
  for (size_t i = 0; exchanging.round == 0 && i < exchanging.layout->members[process].size(); ++i) {
    body.Int();
    SkipTypes(body);
  }
  return ReadTypes(body);
}

void ProcessLink::ReceivePart(const std::shared_ptr<Exchanging>& exchanging, int from, const Message& message,
                       const std::vector<std::span<std::byte>>& places) {
  if (message.tag == 0) {
    Unpack(message, places);
    ++exchanging->received;
    return;
  }
  ReceiveBlocks(from, message, places, [this, exchanging] {
    if (++exchanging->received + 1 == exchanging->layout->ranks.size()) Check(NextRound(exchanging));
  });
}

Status ProcessLink::NextRound(const std::shared_ptr<Exchanging>& exchanging) {
  if (is_stopped_) return {};
  SHOAL_TRY(exchanging->exchange->OnRoundReceived(exchanging->round));
  if (++exchanging->round < exchanging->exchange->rounds()) return SendRound(exchanging);
  exchanging_.erase(exchanging->key);
  const std::vector<Exchange::Reduction> reductions = exchanging->exchange->Reductions();
  if (reductions.empty()) return Finish(exchanging);
  auto left = std::make_shared<size_t>(reductions.size());
  for (const Exchange::Reduction& each : reductions) {
    ++receiving_;
    job_.AllReduce(groups_.at(exchanging->key.rendezvous), each.op, each.type, each.data, each.count,
                   [this, left, exchanging] {
                     --receiving_;
                     if (--*left == 0) Check(Finish(exchanging));
                   });
  }
  return {};
}

Status ProcessLink::Finish(const std::shared_ptr<Exchanging>& exchanging) {
  SHOAL_ASSIGN(results, exchanging->exchange->Finish());
  world_->CompleteOperation(*exchanging->operation, std::move(results));
  return {};
}

// Nothing more is begun, and what has not been received is thrown away.
void ProcessLink::ExecutionError(const Diag& reason) {
  std::lock_guard lock(job_.mutex());
  if (std::exchange(is_stopped_, true)) return;
  Writer writer;
  Write(writer, reason);
  job_.is_root() ? BroadcastControl(kStop, writer.Take()) : SendControl(0, kStop, writer.Take());
  for (const auto& [key, exchanging] : exchanging_)
    for (size_t process = 0; process < exchanging->messages.size(); ++process)
      if (const std::string& message = exchanging->messages[process]; !message.empty())
        Discard(exchanging->layout->ranks[process], Message(message));
  DiscardEarly();
}

void ProcessLink::DiscardEarly() {
  for (const auto& [key, messages] : early_)
    for (const auto& [from, bytes] : messages) Discard(from, Message(bytes));
  early_.clear();
}

}  // namespace shoal::internal
