// Blocks of arrays on their way between processes, and deliveries, which are nothing else.
#include "execute/collectives/process_link_message.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "execute/collectives/rendezvous.h"

namespace shoal::internal {
namespace {

// Blocks of so few bytes together travel with their header.
constexpr int64_t kInline = 16 << 10;

ArrayType TypeOf(const Block& block) {
  const Array& array = block.array;
  if (block.bytes == array.bytes()) return {array.type(), ToDims(array.dims())};
  return {array.type(), Dims{block.bytes / array.element_bytes()}};
}

void WriteType(Writer& writer, const ArrayType& type) { writer.Int(static_cast<int64_t>(type.type)).Ints(type.dims); }

// Of a message, about.
constexpr size_t kHeaderBytes = 80;

}  // namespace

void WriteTypes(Writer& writer, const ArrayTypes& types) {
  writer.Int(std::ssize(types));
  for (const ArrayType& each : types) WriteType(writer, each);
}

ArrayTypes ReadTypes(Reader& reader) {
  ArrayTypes types(static_cast<size_t>(reader.Int()));
  for (ArrayType& each : types) {
    each.type = static_cast<ElementType>(reader.Int());
    each.dims.resize(static_cast<size_t>(reader.Int()));
    for (int64_t& size : each.dims) size = reader.Int();
  }
  return types;
}

void SkipTypes(Reader& reader) {
  for (int64_t types = reader.Int(); types > 0; --types) {
    reader.Int();
    for (int64_t dims = reader.Int(); dims > 0; --dims) reader.Int();
  }
}

// All that stands before the bytes of the blocks.
std::string ProcessLink::HeadOf(const Header& header, std::span<const int64_t> sizes, const ArrayTypes& blocks, Writer body) {
  WriteTypes(body, blocks);
  const std::string text = body.Take();
  Writer head(kHeaderBytes + 8 * sizes.size() + text.size());
  head.Int(header.run).Int(header.kind);
  head.Int(static_cast<int64_t>(header.key.rendezvous)).Int(header.key.number).Int(header.tag);
  head.Int(8 * std::ssize(sizes));
  for (int64_t size : sizes) head.Int(size);
  head.String(text);
  return head.Take();
}

// Few bytes travel with the message. `keep` lives until all have left.
void ProcessLink::SendBlocks(int to, int64_t kind, const Key& key, Writer body, std::vector<Block> blocks,
                      std::shared_ptr<void> keep) {
  ArrayTypes types;
  std::vector<int64_t> sizes;
  for (const Block& block : blocks) {
    types.push_back(TypeOf(block));
    sizes.push_back(block.bytes);
  }
  const int64_t bytes = std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
  const int tag = bytes <= kInline ? 0 : job_.NextTag();
  const std::string head = HeadOf({run_, kind, key, tag}, sizes, types, std::move(body));
  std::string inlined;
  if (tag == 0)
    for (const Block& block : blocks)
      inlined.append(reinterpret_cast<const char*>(block.array.data()) + block.offset, static_cast<size_t>(block.bytes));
  ++sent_;
  job_.Post(to, head, inlined);
  if (tag == 0) return;
  for (Block& block : blocks) {
    ++sending_;
    const std::span<const std::byte> data(block.array.data() + block.offset, static_cast<size_t>(block.bytes));
    job_.Send(to, tag, data, [this, keep, array = std::move(block.array)] { --sending_; });
  }
}

void ProcessLink::Unpack(const Message& message, const std::vector<std::span<std::byte>>& places) {
  std::string_view bytes = message.inlined;
  for (const std::span<std::byte>& place : places) {
    const size_t size = std::min(place.size(), bytes.size());
    if (size > 0) std::memcpy(place.data(), bytes.data(), size);
    bytes.remove_prefix(size);
  }
}

void ProcessLink::ReceiveBlocks(int from, const Message& message, const std::vector<std::span<std::byte>>& places,
                         Job::Done done) {
  auto left = std::make_shared<size_t>(places.size());
  for (const std::span<std::byte>& place : places) {
    ++receiving_;
    job_.Receive(from, message.tag, place, [this, left, done] {
      --receiving_;
      if (--*left == 0) done();
    });
  }
}

// After a stop: what was sent must be received for the sender to be rid of it.
void ProcessLink::Discard(int from, const Message& message) {
  if (message.tag == 0) return;
  for (Reader sizes(message.sizes); !sizes.rest().empty();) {
    auto scratch = std::make_shared<std::vector<std::byte>>(static_cast<size_t>(sizes.Int()));
    ++receiving_;
    job_.Receive(from, message.tag, *scratch, [this, scratch] { --receiving_; });
  }
}

void ProcessLink::Deliver(const Instruction& hlo, const Rendezvous& rendezvous, int64_t number, Arrays arrays) {
  std::lock_guard lock(job_.mutex());
  if (is_stopped_) return;
  Writer body;
  body.Int(OrdinalOf(hlo));
  std::vector<Block> blocks;
  for (Array& array : arrays) {
    body.Int(array.unique() ? 1 : 0);
    blocks.push_back(WholeBlock(std::move(array)));
  }
  SendBlocks(placement_.RankOf(rendezvous.members[1]), kDelivery, {rendezvous.hash, number}, std::move(body),
             std::move(blocks), nullptr);
}

void ProcessLink::Expect(const std::shared_ptr<Operation>& operation) {
  std::lock_guard lock(job_.mutex());
  if (is_stopped_) return;
  const Key key = KeyOf(*operation);
  expected_[key] = operation;
  const auto early = early_.extract(key);
  if (!early.empty()) TakeDelivery(early.mapped()[0].first, Message(early.mapped()[0].second));
}

void ProcessLink::TakeDelivery(int from, const Message& message) {
  const std::shared_ptr<Operation> operation = expected_.extract(message.key).mapped();
  Reader body(message.body);
  const Instruction* source = InstructionAt(body.Int());
  // As in one process: what the source still holds is not written by the target.
  std::vector<bool> may_write;
  for (Reader sizes(message.sizes); !sizes.rest().empty(); sizes.Int()) may_write.push_back(body.Int() != 0);
  auto arrays = std::make_shared<Arrays>();
  std::vector<std::span<std::byte>> places;
  for (const ArrayType& each : ReadTypes(body)) {
    Array& array = arrays->emplace_back(each.type, AsInts(each.dims));
    places.emplace_back(array.mutable_data(), static_cast<size_t>(array.bytes()));
  }
  const Job::Done done = [this, operation, source, arrays, may_write] {
    for (size_t i = 0; i < arrays->size(); ++i)
      if (!may_write[i]) (*arrays)[i].Freeze();
    world_->Delivered(*operation, *source, std::move(*arrays));
  };
  if (message.tag != 0) return ReceiveBlocks(from, message, places, done);
  Unpack(message, places);
  done();
}

}  // namespace shoal::internal
