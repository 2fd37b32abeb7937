// Reads the numbers of MLIR bytecode. After the end of the data, or after an error, all reads return 0.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace shoal::internal {

class BytecodeStream {
 public:
  BytecodeStream() = default;
  explicit BytecodeStream(std::string_view bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool failed() const { return failed_; }
  bool AtEnd() const { return at_ == end_; }
  size_t left() const { return static_cast<size_t>(end_ - at_); }
  const char* position() const { return at_; }
  void Fail() {
    failed_ = true;
    at_ = end_;
  }

  uint8_t Byte() {
    if (at_ == end_) {
      Fail();
      return 0;
    }
    return static_cast<uint8_t>(*at_++);
  }
  // The number of trailing zeros of the first byte is the number of bytes that follow.
  uint64_t Varint() {
    const uint8_t first = Byte();
    if (first & 1) return first >> 1;
    if (first == 0) return failed_ ? 0 : Little(8);
    const int more = __builtin_ctz(first);
    if (static_cast<size_t>(end_ - at_) < static_cast<size_t>(more)) {
      Fail();
      return 0;
    }
    uint64_t rest = 0;
    for (int i = 0; i < more; ++i) rest |= uint64_t{static_cast<uint8_t>(at_[i])} << (8 * i);
    at_ += more;
    return (first >> (more + 1)) | (rest << (7 - more));
  }
  int64_t SignedVarint() {
    const uint64_t value = Varint();
    return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
  }
  uint64_t VarintWithFlag(bool* flag) {
    const uint64_t value = Varint();
    *flag = (value & 1) != 0;
    return value >> 1;
  }
  std::string_view Bytes(uint64_t size) {
    if (size > left()) {
      Fail();
      return {};
    }
    const std::string_view bytes(at_, size);
    at_ += size;
    return bytes;
  }
  // A number of elements that each take at least one byte; larger numbers are malformed.
  uint64_t Count() {
    const uint64_t count = Varint();
    if (count <= left()) return count;
    Fail();
    return 0;
  }
  std::string_view CString() {
    const void* zero = at_ == end_ ? nullptr : std::memchr(at_, 0, left());
    if (zero == nullptr) {
      Fail();
      return {};
    }
    const auto size = static_cast<size_t>(static_cast<const char*>(zero) - at_);
    const std::string_view text(at_, size);
    at_ += size + 1;
    return text;
  }
  uint64_t Little(size_t bytes) {
    const std::string_view data = Bytes(bytes);
    uint64_t value = 0;
    if (data.size() == bytes) std::memcpy(&value, data.data(), bytes);
    return value;
  }

 private:
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  bool failed_ = false;
};

}  // namespace shoal::internal
