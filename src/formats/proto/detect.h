// Tells protobufs from text, and one kind of protobuf from another, by their bytes alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace shoal::internal {

// Whether `bytes` begin like one of the messages below and not like text. Cheap.
bool LooksLikeProto(std::string_view bytes);

// Which message a file holds.
enum class ProtoKind : uint8_t {
  kNone,      // nothing that has a module in it
  kModule,    // HloModuleProto
  kHlo,       // HloProto, or another message whose first field is a module
  kSnapshot,  // HloSnapshot
};
ProtoKind DetectProto(std::string_view bytes);

// Could name an op: letters, digits, '-', '_'.
bool IsOpcodeName(std::string_view text);

// Where the outermost fields of a message stop making sense. In a file that was cut short, the last reaches past its
// end.
struct WireEnd {
  bool whole = true;
  size_t at = 0;         // of the field that does not fit or makes no sense
  uint64_t missing = 0;  // bytes it wanted beyond the end
};
WireEnd CheckWire(std::string_view bytes);

}  // namespace shoal::internal
