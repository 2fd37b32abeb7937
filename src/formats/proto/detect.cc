#include "formats/proto/detect.h"

#include <algorithm>

namespace shoal::internal {
namespace {

// Walks the fields of one message without knowing its schema.
class Wire {
 public:
  explicit Wire(std::string_view bytes) : bytes_(bytes) {}

  uint64_t number = 0;       // field number of the current field
  bool is_bytes = false;     // length-delimited: a string, a message, a packed list
  std::string_view payload;  // content of a length-delimited field, up to the end of the data
  size_t start = 0;
  uint64_t missing = 0;  // bytes of the payload beyond the end

  // Returns false at the end, or if the bytes are not a valid field.
  bool Next() {
    start = at_;
    if (at_ == bytes_.size()) return false;
    uint64_t tag = 0, skipped = 0;
    if (!Varint(&tag) || tag >> 3 == 0 || tag >> 3 > kMaxNumber) return false;
    number = tag >> 3;
    is_bytes = false;
    switch (tag & 7) {
      case 0:
        return Varint(&skipped);
      case 1:
        return Take(8);
      case 2:
        is_bytes = true;
        return Varint(&skipped) && Take(skipped);
      case 5:
        return Take(4);
      default:
        return false;  // groups, which no XLA schema uses
    }
  }
  bool at_end() const { return start == bytes_.size(); }

 private:
  static constexpr uint64_t kMaxNumber = (1u << 29) - 1;

  bool Varint(uint64_t* value) {
    for (int shift = 0; shift < 64 && at_ < bytes_.size(); shift += 7) {
      const auto byte = static_cast<uint8_t>(bytes_[at_++]);
      *value |= uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }
  // Accepts a truncated payload, so that a truncated file is still recognised.
  bool Take(uint64_t size) {
    const uint64_t left = bytes_.size() - at_;
    missing = size > left ? size - left : 0;
    payload = bytes_.substr(at_, std::min(size, left));
    at_ += payload.size();
    return true;
  }

  std::string_view bytes_;
  size_t at_ = 0;
};

// Returns the content of the first field with that number, or an empty string.
std::string_view FieldOf(std::string_view bytes, uint64_t number) {
  for (Wire wire(bytes); wire.Next();)
    if (wire.number == number && wire.is_bytes) return wire.payload;
  return {};
}

// A module has computations (3), which have instructions (2), which have an opcode (2).
bool IsModule(std::string_view bytes) {
  constexpr int kMaxInspected = 100;  // fields of computations; the first ones may be unusual
  int inspected = 0;
  for (Wire module(bytes); module.Next();) {
    if (module.number != 3 || !module.is_bytes) continue;
    for (Wire computation(module.payload); computation.Next() && inspected++ < kMaxInspected;) {
      if (computation.number != 2 || !computation.is_bytes) continue;
      if (IsOpcodeName(FieldOf(computation.payload, 2))) return true;
    }
    if (inspected >= kMaxInspected) return false;
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
  const std::string_view first = FieldOf(bytes, 1);
  if (IsModule(first)) return ProtoKind::kHlo;
  if (IsModule(FieldOf(first, 1))) return ProtoKind::kSnapshot;
  return ProtoKind::kNone;
}

WireEnd CheckWire(std::string_view bytes) {
  Wire wire(bytes);
  while (wire.Next())
    if (wire.missing > 0) return {false, wire.start, wire.missing};
  return {wire.at_end(), wire.start, 0};
}

bool LooksLikeProto(std::string_view bytes) {
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
