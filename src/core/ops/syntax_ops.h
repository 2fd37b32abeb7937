// Ops with special syntax in HLO text, which the text parser must name: parameters, tuple elements after a '#', unknown
// ops, and the parts of an async chain.
#pragma once

#include <string_view>

#include "core/ops/opcode.h"

namespace shoal::internal {

inline constexpr Opcode kParameterOp = Opcode::kParameter;      // parameter(0), and the parameters in a signature
inline constexpr Opcode kElementOp = Opcode::kGetTupleElement;  // name#1
inline constexpr Opcode kUnknownOp = Opcode::kUnknown;          // a name that is not an op of HLO

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
