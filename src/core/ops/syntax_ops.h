// Ops that HLO text writes in ways of their own, so that its reader makes them: what stands between parentheses or behind
// a '#', and the parts of an async chain.
#pragma once

#include <string_view>

#include "core/ops/opcode.h"

namespace shoal::internal {

inline constexpr Opcode kParameterOp = Opcode::kParameter;     // parameter(0), and what a signature names
inline constexpr Opcode kElementOp = Opcode::kGetTupleElement;  // name#1
inline constexpr Opcode kUnknownOp = Opcode::kUnknown;          // of a name that HLO does not have

// dot-start is an async-start that wraps a dot.
inline constexpr Opcode kChainStart = Opcode::kAsyncStart, kChainUpdate = Opcode::kAsyncUpdate,
                        kChainDone = Opcode::kAsyncDone;
struct ChainSuffix {
  std::string_view text;
  Opcode opcode;
};
inline constexpr ChainSuffix kChainSuffixes[] = {
    {"-start", kChainStart}, {"-update", kChainUpdate}, {"-done", kChainDone}};
constexpr bool IsChainPart(Opcode opcode) {
  return opcode == kChainStart || opcode == kChainUpdate || opcode == kChainDone;
}

}  // namespace shoal::internal
