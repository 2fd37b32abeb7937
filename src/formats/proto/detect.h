// Distinguishes protobufs from text, and the kinds of protobufs from each other, by their bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace shoal::internal {

// True if `bytes` begin like one of the messages below and not like text. Reads only a few bytes.
bool LooksLikeProto(std::string_view bytes);

// The type of message in a file.
enum class ProtoKind : uint8_t {
  kNone,      // no message with a module
  kModule,    // HloModuleProto
  kHlo,       // HloProto, or another message whose first field is a module
  kSnapshot,  // HloSnapshot
  kUnoptimizedSnapshot,  // HloUnoptimizedSnapshot
};
ProtoKind DetectProto(std::string_view bytes);

// XLA writes the size of an HloUnoptimizedSnapshot before the message, and the values of its literals after it.
struct DelimitedMessage {
  std::string_view message, values;
};
// The parts of such a file; empty for any other file.
DelimitedMessage SplitDelimited(std::string_view bytes);

// True if `text` can be the name of an op: letters, digits, '-', '_'.
bool IsOpcodeName(std::string_view text);

// The end of the valid outermost fields of a message. In a truncated file, the last field extends past the end.
struct WireEnd {
  bool is_complete = true;
  size_t at = 0;         // offset of the truncated or invalid field
  uint64_t missing = 0;  // number of bytes of that field past the end
};
WireEnd CheckWire(std::string_view bytes);

}  // namespace shoal::internal
