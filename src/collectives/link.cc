#include "collectives/link.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "base/strings.h"
#include "collectives/rendezvous.h"

namespace shoal {
namespace {

// Blocks of so few bytes together travel with their header.
constexpr int64_t kInline = 16 << 10;
constexpr size_t kMostGroups = 500;

void WriteTypes(Writer& writer, const ArrayTypes& types) {
  writer.Int(std::ssize(types));
  for (const ArrayType& each : types) writer.Int(static_cast<int64_t>(each.type)).Ints(each.dims);
}

ArrayTypes ReadTypes(Reader& reader) {
  ArrayTypes types(static_cast<size_t>(reader.Int()));
  for (ArrayType& each : types) {
    each.type = static_cast<ElementType>(reader.Int());
    const std::vector<int64_t> dims = reader.Ints();
    each.dims = Dims(dims.begin(), dims.end());
  }
  return types;
}

ArrayType TypeOf(const Block& block) {
  const Array& array = block.array;
  if (block.bytes == array.bytes()) return {array.type(), ToDims(array.dims())};
  return {array.type(), Dims{block.bytes / array.element_bytes()}};
}

}  // namespace

// A collective between processes that has begun here.
struct Link::Exchanging {
  Key key;
  std::shared_ptr<Operation> operation;
  std::unique_ptr<Exchange> exchange;
  const GroupLayout* layout = nullptr;
  int round = 0;
  bool is_matched = false;
  std::vector<ArrayTypes> types;                     // of the contributions, by member
  std::vector<std::optional<std::string>> messages;  // of this round, by process: those whose blocks are to be received
  size_t arrived = 0;                                // processes whose message of this round has come
  size_t received = 0;                               // and of those, whose blocks have
};

// A part of a collective or a delivery: which one, how large its blocks are and whether they follow by themselves.
struct Link::Message {
  explicit Message(std::string_view bytes) : whole(bytes) {
    Reader reader(bytes);
    reader.Int();
    kind = reader.Int();
    key.rendezvous = static_cast<uint64_t>(reader.Int());
    key.number = reader.Int();
    tag = static_cast<int>(reader.Int());
    sizes = reader.Ints();
    body = reader.String();
    inlined = reader.rest();
  }
  std::string_view whole;
  int64_t kind = 0;
  Key key;
  int tag = 0;  // 0: the bytes are here
  std::vector<int64_t> sizes;
  std::string_view body, inlined;
};

Link::Link(Job& job, const Placement& placement, const Module& module)
    : job_(job), placement_(placement), run_([] {
        static int64_t runs = 0;
        return runs++;
      }()) {
  for (const Computation* computation : module.computations) {
    for (const Instruction* hlo : computation->instructions) {
      ordinals_[hlo] = std::ssize(instructions_);
      instructions_.push_back(hlo);
    }
  }
  standings_.resize(static_cast<size_t>(job.size()));
  answers_.resize(static_cast<size_t>(job.size()));
}

Link::~Link() {
  is_over_ = true;
  if (background_.joinable()) background_.join();
  job_.SetHandler({});
}

const Instruction* Link::InstructionAt(int64_t ordinal) const {
  return ordinal >= 0 && ordinal < std::ssize(instructions_) ? instructions_[static_cast<size_t>(ordinal)] : nullptr;
}

std::unique_ptr<GroupLayout> Link::LayoutOf(const DeviceGroup& members) const {
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

void Link::Attach(World& world) {
  std::lock_guard lock(job_.mutex());
  world_ = &world;
  if (job_.fast_reduction) MakeGroups();
  job_.SetHandler([this](int from, std::string_view bytes) { return Take(from, bytes); });
  background_ = std::jthread([this] { Background(); });
}

// For every rendezvous at which the transport may have to reduce: up front, since all members make a group together.
void Link::MakeGroups() {
  std::vector<const Rendezvous*> all;
  for (const Instruction* hlo : instructions_) {
    if (KindOf(hlo->opcode) != Opcode::kAllReduce) continue;
    const Result<const Groups*> groups = world_->GroupsOf(*hlo);
    if (!groups.ok()) continue;  // whoever comes to it says why
    for (const Rendezvous* each : (*groups)->rendezvous)
      if (each->members.size() > 1) all.push_back(each);
  }
  std::set<uint64_t> hashes;
  for (const Rendezvous* each : all) hashes.insert(each->hash);
  // MPI has few of them. Beyond that the order is the members', which is right too.
  job_.fast_reduction = hashes.size() <= kMostGroups;
  if (!job_.fast_reduction) return;
  for (const Rendezvous* each : all)
    if (each->layout != nullptr && each->layout->ranks.size() > 1)
      groups_[each->hash] = job_.GroupNamed(each->hash, each->layout->ranks);
}

Link::Key Link::KeyOf(const Operation& operation) { return {operation.rendezvous->hash, operation.number}; }

// A failure here is one of the run.
void Link::Check(const Status& status) {
  if (!status.ok()) world_->Stop(status.diag());
}

void Link::Begin(const std::shared_ptr<Operation>& operation, std::unique_ptr<Exchange> exchange) {
  std::lock_guard lock(job_.mutex());
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
  Check(SendRound(exchanging));
}

// This round's blocks to all others; then what they have sent already.
Status Link::SendRound(const std::shared_ptr<Exchanging>& exchanging) {
  const GroupLayout& layout = *exchanging->layout;
  exchanging->messages.assign(layout.ranks.size(), std::nullopt);
  exchanging->arrived = exchanging->received = 0;
  for (size_t process = 0; process < layout.ranks.size(); ++process) {
    if (process == layout.self) continue;
    SHOAL_ASSIGN(blocks, exchanging->exchange->For(exchanging->round, process));
    Writer body;
    body.Int(exchanging->round);
    if (exchanging->round == 0) {
      for (size_t member : layout.local()) {
        body.Int(OrdinalOf(*exchanging->operation->came[member]));
        WriteTypes(body, exchanging->types[member]);
      }
    }
    SendBlocks(layout.ranks[process], kPart, exchanging->key, std::move(body), std::move(blocks), exchanging);
  }
  const auto early = early_.extract(exchanging->key);
  if (early.empty()) return {};
  for (const auto& [from, bytes] : early.mapped()) SHOAL_TRY(TakePart(from, Message(bytes)));
  return {};
}

// Few bytes travel with the message. `keep` lives until all have left.
void Link::SendBlocks(int to, int64_t kind, const Key& key, Writer body, std::vector<Block> blocks,
                      std::shared_ptr<void> keep) {
  ArrayTypes types;
  std::vector<int64_t> sizes;
  int64_t bytes = 0;
  for (const Block& block : blocks) {
    types.push_back(TypeOf(block));
    sizes.push_back(block.bytes);
    bytes += block.bytes;
  }
  WriteTypes(body, types);
  const int tag = bytes <= kInline ? 0 : job_.NextTag();
  Writer message;
  message.Int(run_).Int(kind).Int(static_cast<int64_t>(key.rendezvous)).Int(key.number).Int(tag).Ints(sizes);
  std::string text = message.String(body.Take()).Take();
  ++sent_;
  if (tag == 0)
    for (const Block& block : blocks)
      text.append(reinterpret_cast<const char*>(block.array.data()) + block.offset, static_cast<size_t>(block.bytes));
  job_.Post(to, text);
  if (tag == 0) return;
  for (Block& block : blocks) {
    ++moving_;
    const std::span<const std::byte> data(block.array.data() + block.offset, static_cast<size_t>(block.bytes));
    job_.Send(to, tag, data, [this, keep, array = std::move(block.array)] { --moving_; });
  }
}

void Link::ReceiveBlocks(int from, const Message& message, const std::vector<std::span<std::byte>>& places,
                         Job::Done done) {
  if (message.tag == 0) {
    std::string_view bytes = message.inlined;
    for (const std::span<std::byte>& place : places) {
      const size_t size = std::min(place.size(), bytes.size());
      if (size > 0) std::memcpy(place.data(), bytes.data(), size);
      bytes.remove_prefix(size);
    }
    return done();
  }
  auto left = std::make_shared<size_t>(places.size());
  for (const std::span<std::byte>& place : places) {
    ++moving_;
    job_.Receive(from, message.tag, place, [this, left, done] {
      --moving_;
      if (--*left == 0) done();
    });
  }
}

// After a stop: what was sent must be received for the sender to be rid of it.
void Link::Discard(int from, const Message& message) {
  if (message.tag == 0) return;
  for (int64_t size : message.sizes) {
    auto scratch = std::make_shared<std::vector<std::byte>>(static_cast<size_t>(size));
    ++moving_;
    job_.Receive(from, message.tag, *scratch, [this, scratch] { --moving_; });
  }
}

bool Link::Take(int from, std::string_view bytes) {
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
void Link::Take(int from, const Message& message) {
  if (is_stopped_) return Discard(from, message);
  if (message.kind == kPart) return Check(TakePart(from, message));
  if (expected_.contains(message.key)) return TakeDelivery(from, message);
  early_[message.key].emplace_back(from, message.whole);
}

Status Link::TakePart(int from, const Message& message) {
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
  exchanging->messages[process] = std::string(message.whole);
  if (++exchanging->arrived + 1 < layout.ranks.size()) return {};
  return Receive(exchanging);
}

// All processes have said what they send in this round.
Status Link::Receive(const std::shared_ptr<Exchanging>& exchanging) {
  const GroupLayout& layout = *exchanging->layout;
  Exchange& exchange = *exchanging->exchange;
  if (exchanging->round == 0) {
    for (size_t member = 1; member < layout.count; ++member)
      SHOAL_TRY(world_->CheckFit(*exchanging->operation, member));
    SHOAL_TRY(exchange.Matched(exchanging->types));
  }
  const std::vector<std::optional<std::string>> messages = exchanging->messages;
  for (size_t process = 0; process < layout.ranks.size(); ++process) {
    if (process == layout.self) continue;
    const Message message(*messages[process]);
    Reader body(message.body);
    body.Int();
    for (size_t i = 0; exchanging->round == 0 && i < layout.members[process].size(); ++i) {
      body.Int();
      ReadTypes(body);
    }
    SHOAL_ASSIGN(places, exchange.From(exchanging->round, process, ReadTypes(body)));
    exchanging->messages[process].reset();
    ReceiveBlocks(layout.ranks[process], message, places, [this, exchanging] {
      if (++exchanging->received + 1 == exchanging->layout->ranks.size()) Check(NextRound(exchanging));
    });
  }
  return {};
}

Status Link::NextRound(const std::shared_ptr<Exchanging>& exchanging) {
  if (is_stopped_) return {};
  SHOAL_TRY(exchanging->exchange->Came(exchanging->round));
  if (++exchanging->round < exchanging->exchange->rounds()) return SendRound(exchanging);
  exchanging_.erase(exchanging->key);
  const std::vector<Exchange::Reduction> reductions = exchanging->exchange->Reductions();
  if (reductions.empty()) return Finish(exchanging);
  auto left = std::make_shared<size_t>(reductions.size());
  for (const Exchange::Reduction& each : reductions) {
    ++moving_;
    job_.AllReduce(groups_.at(exchanging->key.rendezvous), each.op, each.type, each.data, each.count,
                   [this, left, exchanging] {
                     --moving_;
                     if (--*left == 0) Check(Finish(exchanging));
                   });
  }
  return {};
}

Status Link::Finish(const std::shared_ptr<Exchanging>& exchanging) {
  SHOAL_ASSIGN(results, exchanging->exchange->Finish());
  world_->Conclude(*exchanging->operation, std::move(results));
  return {};
}

void Link::Deliver(const Instruction& hlo, const Rendezvous& rendezvous, int64_t number, Arrays arrays) {
  std::lock_guard lock(job_.mutex());
  if (is_stopped_) return;
  Writer body;
  body.Int(OrdinalOf(hlo));
  std::vector<Block> blocks;
  for (Array& array : arrays) blocks.push_back(WholeBlock(std::move(array)));
  SendBlocks(placement_.RankOf(rendezvous.members[1]), kDelivery, {rendezvous.hash, number}, std::move(body),
             std::move(blocks), nullptr);
}

void Link::Expect(const std::shared_ptr<Operation>& operation) {
  std::lock_guard lock(job_.mutex());
  if (is_stopped_) return;
  const Key key = KeyOf(*operation);
  expected_[key] = operation;
  const auto early = early_.extract(key);
  if (!early.empty()) TakeDelivery(early.mapped()[0].first, Message(early.mapped()[0].second));
}

void Link::TakeDelivery(int from, const Message& message) {
  const std::shared_ptr<Operation> operation = expected_.extract(message.key).mapped();
  Reader body(message.body);
  const Instruction* source = InstructionAt(body.Int());
  auto arrays = std::make_shared<Arrays>();
  std::vector<std::span<std::byte>> places;
  for (const ArrayType& each : ReadTypes(body)) {
    Array& array = arrays->emplace_back(each.type, AsInts(each.dims));
    places.emplace_back(array.mutable_data(), static_cast<size_t>(array.bytes()));
  }
  ReceiveBlocks(from, message, places, [this, operation, source, arrays] {
    world_->Delivered(*operation, *source, std::move(*arrays));
  });
}

// Nothing more is begun, and what has not been received is thrown away.
void Link::Stopped(const Diag& reason) {
  std::lock_guard lock(job_.mutex());
  if (std::exchange(is_stopped_, true)) return;
  Writer writer;
  Write(writer, reason);
  job_.leads() ? TellOthers(kStop, writer.Take()) : Tell(0, kStop, writer.Take());
  for (const auto& [key, exchanging] : exchanging_)
    for (size_t process = 0; process < exchanging->messages.size(); ++process)
      if (const auto& message = exchanging->messages[process])
        Discard(exchanging->layout->ranks[process], Message(*message));
  for (const auto& [key, messages] : early_)
    for (const auto& [from, bytes] : messages) Discard(from, Message(bytes));
  early_.clear();
}

}  // namespace shoal
