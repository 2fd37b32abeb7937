#include "formats/proto/detect.h"

#include <algorithm>

#include "formats/proto/wire.h"

namespace shoal::internal {
namespace {

// A module has computations (3), which have instructions (2), which have an opcode (2).
bool IsModule(std::string_view bytes) {
  constexpr int kMaxInspected = 100;  // fields of computations; the first ones may be unusual
  int inspected = 0;
  for (Wire module(bytes); module.Next();) {
    if (module.number != 3 || !module.is_bytes()) continue;
    for (Wire computation(module.payload); computation.Next() && inspected++ < kMaxInspected;) {
      if (computation.number != 2 || !computation.is_bytes()) continue;
      if (IsOpcodeName(FirstPayload(computation.payload, 2))) return true;
    }
    if (inspected >= kMaxInspected) return false;
  }
  return false;
}

// The inputs of a partition have descriptors (2), or literals (1), whose shape (1) begins with its type (2). The other
// message that may be there is an order of 2018, which has names.
bool IsInputs(std::string_view bytes) {
  constexpr char kType = 0x10;
  for (Wire inputs(bytes); inputs.Next();) {
    if (inputs.number == 2) return true;
    if (inputs.number == 1 && inputs.is_bytes() && FirstPayload(inputs.payload, 1).starts_with(kType)) return true;
  }
  return false;
}

}  // namespace

bool IsOpcodeName(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

ProtoKind DetectProto(std::string_view bytes) {
  if (IsModule(bytes)) return ProtoKind::kModule;
  const std::string_view first = FirstPayload(bytes, 1);
  if (IsModule(first)) return IsInputs(FirstPayload(bytes, 2)) ? ProtoKind::kUnoptimizedSnapshot : ProtoKind::kHlo;
  if (IsModule(FirstPayload(first, 1))) return ProtoKind::kSnapshot;
  return ProtoKind::kNone;
}

DelimitedMessage SplitDelimited(std::string_view bytes) {
  uint64_t size = 0;
  size_t at = 0;
  for (int shift = 0; shift < 35 && at < bytes.size(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes[at++]);
    size |= uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) break;
  }
  constexpr char kModule = 0x0A;
  if (at >= bytes.size() || bytes[at] != kModule || size > bytes.size() - at) return {};
  const std::string_view message = bytes.substr(at, size);
  if (DetectProto(message) != ProtoKind::kUnoptimizedSnapshot) return {};
  return {message, bytes.substr(at + size)};
}

WireEnd CheckWire(std::string_view bytes) {
  Wire wire(bytes);
  while (wire.Next())
    if (wire.missing > 0) return {false, wire.start, wire.missing};
  return {wire.at_end(), wire.start, 0};
}

bool LooksLikeProto(std::string_view bytes) {
  if (!SplitDelimited(bytes).message.empty()) return true;
  // A module begins with its name (1) or, if it has none, with the entry's name (2) or the computations (3).
  constexpr char kFirst = 0x0A, kSecond = 0x12, kThird = 0x1A;
  // The module is field 1 of an HloProto, which is field 1 of an HloSnapshot.
  for (int level = 0; level < 3 && !bytes.empty(); ++level) {
    if (bytes[0] == kSecond || bytes[0] == kThird) return true;
    // 0x0A is also a line break, with which a text may start, but a text has no field tag after the supposed name.
    Wire wire(bytes);
    if (bytes[0] != kFirst || !wire.Next()) return false;
    const size_t next = static_cast<size_t>(wire.payload.data() - bytes.data()) + wire.payload.size();
    if (next < bytes.size()) return bytes[next] == kSecond || bytes[next] == kThird;
    bytes = wire.payload;
  }
  return false;
}

}  // namespace shoal::internal
