// The opcodes, one per row of ops.def.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace shoal::internal {

enum class Opcode : uint8_t {
#define OP(Name, text, arity) k##Name,
#include "core/ops/ops.def"
#undef OP
  kUnknown,  // not an op of HLO; its name is in the attribute kUnknownOpcode
};

inline constexpr int kOpcodeCount = static_cast<int>(Opcode::kUnknown);

// The op's name in HLO text.
inline constexpr std::string_view kOpcodeTexts[] = {
#define OP(Name, text, arity) text,
#include "core/ops/ops.def"
#undef OP
    "unknown"};
constexpr std::string_view Text(Opcode opcode) { return kOpcodeTexts[static_cast<size_t>(opcode)]; }
std::optional<Opcode> ParseOpcode(std::string_view text);

}  // namespace shoal::internal
