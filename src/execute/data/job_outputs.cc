#include "execute/data/job_outputs.h"

#include <algorithm>
#include <bit>
#include <map>

#include "execute/transport/job.h"
#include "execute/transport/message_buffer.h"

namespace shoal::internal {
namespace {

// A 128-bit hash of an array's bytes.
std::pair<int64_t, int64_t> DigestOf(const Array& array) {
  uint64_t a = 0x9e3779b97f4a7c15u, b = 0xc2b2ae3d27d4eb4fu;
  auto mix = [&](uint64_t word) {
    a = std::rotl(a ^ word, 31) * 0xff51afd7ed558ccdu;
    b = (std::rotl(b, 27) + word) * 0xc4ceb9fe1a85ec53u + 0x165667b19e3779f9u;
  };
  const std::byte* data = array.data();
  int64_t remaining = array.bytes();
  for (; remaining >= 8; remaining -= 8, data += 8) {
    uint64_t word = 0;
    std::memcpy(&word, data, sizeof(word));
    mix(word);
  }
  uint64_t word = static_cast<uint64_t>(remaining);
  if (remaining > 0) std::memcpy(reinterpret_cast<char*>(&word) + 1, data, static_cast<size_t>(remaining));
  mix(word);
  return {static_cast<int64_t>(a ^ (a >> 32)), static_cast<int64_t>(b ^ (b >> 29))};
}

void Write(Writer& writer, const Output& output) {
  const auto [a, b] = DigestOf(output.array);
  const ArraySummary& summary = output.summary;
  writer.Int(output.number).Ints(output.devices).Int(static_cast<int64_t>(output.array.type()));
  writer.Ints(output.array.dims()).Int(a).Int(b);
  writer.Real(summary.min).Real(summary.max).Real(summary.mean);
  writer.Int(summary.finite).Int(summary.nans).Int(summary.infs).Int(summary.crc32);
}

// Arrays with equal keys count as identical.
struct Identity {
  int64_t number = 0, type = 0;
  std::vector<int64_t> dims;
  int64_t a = 0, b = 0;
  auto operator<=>(const Identity&) const = default;
};

Output Read(Reader& reader, Identity& identity) {
  Output output;
  output.number = identity.number = reader.Int();
  output.devices = reader.Ints();
  identity.type = reader.Int();
  identity.dims = reader.Ints();
  identity.a = reader.Int();
  identity.b = reader.Int();
  const auto type = static_cast<ElementType>(identity.type);
  const Dims dims(identity.dims.begin(), identity.dims.end());
  const auto bytes = static_cast<size_t>(ElementCount(AsInts(dims)) * StorageBytes(type));
  output.array = Array(type, dims, Buffer::AccountOnly(bytes));
  ArraySummary& summary = output.summary;
  summary.min = reader.Real();
  summary.max = reader.Real();
  summary.mean = reader.Real();
  summary.finite = reader.Int();
  summary.nans = reader.Int();
  summary.infs = reader.Int();
  summary.crc32 = static_cast<uint32_t>(reader.Int());
  return output;
}

// All arrays of a device's result are sent with this tag, and received in order.
constexpr int kTag = 1;

void SendLeaves(Job& job, const Value& result) {
  std::vector<Value> leaves;
  AppendLeaves(result, leaves);
  size_t remaining = 0;
  for (const Value& leaf : leaves) {
    if (!leaf.IsArray()) continue;
    ++remaining;
    job.Send(0, kTag, {leaf.array().data(), static_cast<size_t>(leaf.array().bytes())}, [&remaining] { --remaining; });
  }
  job.PollUntil([&] { return remaining == 0; });
}

std::string DescribeLeaves(const Value& result) {
  Writer writer;
  std::vector<Value> leaves;
  AppendLeaves(result, leaves);
  writer.Int(std::ssize(leaves));
  for (const Value& leaf : leaves) {
    writer.Int(leaf.IsArray() ? 1 : 0);
    if (leaf.IsArray()) writer.Int(static_cast<int64_t>(leaf.array().type())).Ints(leaf.array().dims());
  }
  return writer.Take();
}

Value ReceiveLeaves(Job& job, int from, std::string_view description, const Shape& shape) {
  Reader reader(description);
  std::vector<Value> leaves(static_cast<size_t>(reader.Int()));
  size_t remaining = 0;
  for (Value& leaf : leaves) {
    if (reader.Int() == 0) continue;
    const auto type = static_cast<ElementType>(reader.Int());
    const std::vector<int64_t> dims = reader.Ints();
    leaf = Array(type, Dims(dims.begin(), dims.end()));
    ++remaining;
    job.Receive(from, kTag, {leaf.array().mutable_data(), static_cast<size_t>(leaf.array().bytes())},
                [&remaining] { --remaining; });
  }
  job.PollUntil([&] { return remaining == 0; });
  size_t next = 0;
  return FromLeaves(shape, leaves, next);
}

}  // namespace

void GatherResults(Job& job, const Placement& placement, const Module& module, std::vector<Value>& results) {
  Writer writer;
  for (int64_t device : placement.Local())
    writer.Int(device).String(DescribeLeaves(results[static_cast<size_t>(device)]));
  const std::vector<std::string> all = job.Gather(writer.Take());
  if (!job.is_root())
    for (int64_t device : placement.Local()) SendLeaves(job, results[static_cast<size_t>(device)]);
  for (size_t rank = 1; rank < all.size(); ++rank) {
    for (Reader reader(all[rank]); !reader.rest().empty();) {
      const auto device = static_cast<size_t>(reader.Int());
      results[device] = ReceiveLeaves(job, static_cast<int>(rank), reader.String(), module.entry->result_shape());
    }
  }
}

std::vector<Output> GatherOutputs(Job& job, std::vector<Output> own) {
  Writer writer;
  for (const Output& output : own) Write(writer, output);
  const std::vector<std::string> all = job.Gather(writer.Take());
  if (!job.is_root()) return own;
  std::map<Identity, Output> by_identity;
  for (size_t rank = 0; rank < all.size(); ++rank) {
    size_t i = 0;
    for (Reader reader(all[rank]); !reader.rest().empty(); ++i) {
      Identity identity;
      Output output = Read(reader, identity);
      const std::vector<int64_t> devices = output.devices;
      if (rank == 0) output.array = own[i].array;
      const auto [it, is_new] = by_identity.try_emplace(identity, std::move(output));
      if (!is_new) it->second.devices.insert(it->second.devices.end(), devices.begin(), devices.end());
    }
  }
  std::vector<Output> outputs;
  for (auto& [identity, output] : by_identity) {
    std::sort(output.devices.begin(), output.devices.end());
    outputs.push_back(std::move(output));
  }
  std::sort(outputs.begin(), outputs.end(), [](const Output& a, const Output& b) {
    return std::pair(a.number, a.devices[0]) < std::pair(b.number, b.devices[0]);
  });
  return outputs;
}

}  // namespace shoal::internal
