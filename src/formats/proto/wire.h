// Walks the bytes of a protobuf without a schema. Private to formats/proto.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace shoal::internal {

// The fields of one message. Every field after the first invalid one is lost.
class Wire {
 public:
  enum Type : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

  explicit Wire(std::string_view bytes) : bytes_(bytes) {}

  uint64_t number = 0;  // field number of the current field
  Type type = kVarint;
  uint64_t varint = 0;       // value, if the type is kVarint
  std::string_view payload;  // content of a string, a message or a packed list, up to the end of the data
  size_t start = 0;
  uint64_t missing = 0;  // bytes of the payload beyond the end

  bool is_bytes() const { return type == kBytes; }
  // Returns false at the end, or if the bytes are not a valid field.
  bool Next() {
    start = at_;
    if (at_ == bytes_.size()) return false;
    uint64_t tag = 0;
    if (!ReadVarint(&tag) || tag >> 3 == 0 || tag >> 3 > kMaxNumber) return false;
    number = tag >> 3;
    type = static_cast<Type>(tag & 7);
    varint = 0;
    uint64_t size = 0;
    switch (tag & 7) {
      case kVarint:
        return ReadVarint(&varint);
      case kFixed64:
        return Take(8);
      case kBytes:
        return ReadVarint(&size) && Take(size);
      case kFixed32:
        return Take(4);
      default:
        return false;  // groups, which no XLA schema uses
    }
  }
  bool at_end() const { return start == bytes_.size(); }

 private:
  static constexpr uint64_t kMaxNumber = (1u << 29) - 1;

  bool ReadVarint(uint64_t* value) {
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
    payload = bytes_.substr(at_, size < left ? size : left);
    at_ += payload.size();
    return true;
  }

  std::string_view bytes_;
  size_t at_ = 0;
};

// Returns the content of the first field with that number, or an empty string.
inline std::string_view FirstPayload(std::string_view bytes, uint64_t number) {
  for (Wire wire(bytes); wire.Next();)
    if (wire.number == number && wire.is_bytes()) return wire.payload;
  return {};
}

}  // namespace shoal::internal
