// What is known of custom calls: the rows of custom_calls.def.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "core/ir/module.h"

namespace shoal::internal {

// Whose compiler writes a call.
enum class CustomCallBackend : uint8_t { kAny, kCpu, kGpu, kTpu, kNeuron };

enum CallTrait : uint8_t {
  kNothing = 0,
  kAnnotation = 1,            // says something about its operand, which is its result
  kAddsThirdOperand = 2,  // D = alpha * A * B + beta * C, where D may be written over C
  kCommunicates = 4,      // with other devices, in a way that nobody here understands
  kReturnsOperand = 8,         // its result is its operand, or a tuple of its operands
  kReshards = 16,         // the same after partitioning; before, between the shapes of all devices and of one
  kStartsChain = 32,      // takes the results of collectives that begin a TPU's async collective fusion
  kEndsChain = 64,        // and of those that end it
};

struct CallCost {
  double flops = 0;
  double transcendentals = 0;
  double bytes_read = 0, bytes_written = 0;
  bool is_estimate = false;  // the call's own, from its backend_config
};

struct CustomCallFacts {
  std::string_view target;
  bool is_free = false;  // it only says something about a value
  // Of an instruction with this target: its flops, or nothing if its shapes and backend_config do not say. Null: nobody
  // can say.
  std::optional<CallCost> (*cost)(const Instruction&) = nullptr;
  CustomCallBackend writer = CustomCallBackend::kAny;
  uint8_t traits = kNothing;
  bool Has(CallTrait trait) const { return (traits & trait) != 0; }
};

// Whether a target is of the pattern: '?' is any character, '*' any characters.
bool MatchesTarget(std::string_view pattern, std::string_view target);

// The facts about a target; null if there are none.
const CustomCallFacts* FactsOf(std::string_view target);
// Of a custom call; null for other ops.
const CustomCallFacts* FactsOf(const Instruction& hlo);

// A custom call that gives a value of its operands, is known, and means nothing to what stands around it.
bool IsKnownPureCall(const Instruction& hlo);
// A custom call that only says something about a value.
bool IsFreeCall(const Instruction& hlo);
// What a custom call comes to: what its row says, or else an estimate in its backend_config. Nothing if nobody can say.
std::optional<CallCost> CallCostOf(const Instruction& hlo);
// The memory that a custom call reads and writes at least: its operands and its results, without a workspace.
void AddCallMemory(const Instruction& hlo, CallCost& cost);

// Whether a custom call moves data between devices and is no op of HLO: its row says so, or it has the attributes or the
// backend_config of one that does.
bool MayCommunicate(const Instruction& hlo);

}  // namespace shoal::internal
