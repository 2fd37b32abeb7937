// Sends and receives blocks of arrays between processes, for collectives and for deliveries.
#include "execute/collectives/process_link_message.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "execute/collectives/rendezvous.h"

namespace shoal::internal {
namespace {

// Maximum total size of blocks that are sent inside their message.
constexpr int64_t kMaxInlineBytes = 16 << 10;

ArrayType TypeOf(const Block& block) {
  const Array& array = block.array;
  if (block.bytes == array.bytes()) return {array.type(), ToDims(array.dims())};
  return {array.type(), Dims{block.bytes / array.element_bytes()}};
}

void WriteType(Writer& writer, const ArrayType& type) { writer.Int(static_cast<int64_t>(type.type)).Ints(type.dims); }

// Approximate size of a message's header.
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

// The bytes of a message that precede the blocks.
std::string ProcessLink::HeadOf(const Header& header, std::span<const int64_t> sizes, const ArrayTypes& blocks,
                                Writer body) {
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

// Sends small blocks inside the message. Holds `keep` until all blocks have been sent.
void ProcessLink::SendBlocks(int to, int64_t kind, const Key& key, Writer body, std::vector<Block> blocks,
                             std::shared_ptr<void> keep) {
  ArrayTypes types;
  std::vector<int64_t> sizes;
  for (const Block& block : blocks) {
    types.push_back(TypeOf(block));
    sizes.push_back(block.bytes);
  }
  const int64_t bytes = std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
  const int tag = bytes <= kMaxInlineBytes ? 0 : job_.NextTag();
  const std::string head = HeadOf({run_, kind, key, tag}, sizes, types, std::move(body));
  std::string inlined;
  if (tag == 0)
    for (const auto& [array, offset, size] : blocks)
      inlined.append(reinterpret_cast<const char*>(array.data()) + offset, static_cast<size_t>(size));
  ++sent_;
  job_.Post(to, head, inlined);
  if (tag == 0) return;
  for (Block& block : blocks) {
    ++sending_;
    const std::span<const std::byte> data(block.array.data() + block.offset, static_cast<size_t>(block.bytes));
    job_.Send(to, tag, data, [this, keep, array = std::move(block.array)] { --sending_; });
  }
}

void ProcessLink::Unpack(const Message& message, const std::vector<std::span<std::byte>>& buffers) {
  std::string_view bytes = message.inlined;
  for (const std::span<std::byte>& buffer : buffers) {
    const size_t size = std::min(buffer.size(), bytes.size());
    if (size > 0) std::memcpy(buffer.data(), bytes.data(), size);
    bytes.remove_prefix(size);
  }
}

void ProcessLink::ReceiveBlocks(int from, const Message& message, const std::vector<std::span<std::byte>>& buffers,
                                Job::Done done) {
  auto remaining = std::make_shared<size_t>(buffers.size());
  for (const std::span<std::byte>& buffer : buffers) {
    ++receiving_;
    job_.Receive(from, message.tag, buffer, [this, remaining, done] {
      --receiving_;
      if (--*remaining == 0) done();
    });
  }
}

// After the run has stopped, sent blocks must still be received, so that the sender can complete.
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
  const auto early = early_messages_.extract(key);
  if (!early.empty()) TakeDelivery(early.mapped()[0].first, Message(early.mapped()[0].second));
}

void ProcessLink::TakeDelivery(int from, const Message& message) {
  const std::shared_ptr<Operation> operation = expected_.extract(message.key).mapped();
  Reader body(message.body);
  const Instruction* source = InstructionAt(body.Int());
  // As with devices of one process, the target must not write to arrays that the source still uses.
  std::vector<bool> may_write;
  for (Reader sizes(message.sizes); !sizes.rest().empty(); sizes.Int()) may_write.push_back(body.Int() != 0);
  auto arrays = std::make_shared<Arrays>();
  std::vector<std::span<std::byte>> buffers;
  for (const ArrayType& each : ReadTypes(body)) {
    Array& array = arrays->emplace_back(each.type, AsInts(each.dims));
    buffers.emplace_back(array.mutable_data(), static_cast<size_t>(array.bytes()));
  }
  const Job::Done done = [this, operation, source, arrays, may_write] {
    for (size_t i = 0; i < arrays->size(); ++i)
      if (!may_write[i]) (*arrays)[i].Freeze();
    runtime_->CompleteTransfer(*operation, *source, std::move(*arrays));
  };
  if (message.tag != 0) return ReceiveBlocks(from, message, buffers, done);
  Unpack(message, buffers);
  done();
}

}  // namespace shoal::internal
