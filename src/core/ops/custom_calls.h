// Facts about custom calls: the rows of custom_calls.def.
#pragma once

#include <optional>
#include <string_view>

#include "core/ir/module.h"

namespace shoal::internal {

// The compiler that emits a call.
enum class CustomCallBackend : uint8_t { kAny, kCpu, kGpu, kTpu, kNeuron };

enum CallTrait : uint16_t {
  kNothing = 0,
  kAnnotation = 1,        // forwards its operand and annotates it
  kAddsThirdOperand = 2,  // D = alpha * A * B + beta * C, where D may be written over C
  kCommunicates = 4,      // communicates with other devices in a way that shoal does not model
  kReturnsOperand = 8,    // returns its operand, or a tuple of its operands
  kReshards = 16,         // converts between global and local shape; after partitioning, returns its operand
  kStartsChain = 32,      // takes the results of the collectives that start a TPU async collective fusion
  kEndsChain = 64,        // takes the results of the collectives that end such a fusion
  kGlobalToLocal = 128,   // converts from the global shape to the per-device shape
  kStatesSharding = 256,       // states the sharding of its operand before partitioning
  kHostTransfer = 512,    // copies to or from the host's memory
  // Kinds of pure calls: gradients of attention, and gradients of a convolution with respect to filter and input.
  kGradient = 1024,
  kFilterGradient = 2048,
  kInputGradient = 4096,
  kHostCallback = 8192,   // calls a function of the process that compiled the module
};

struct CallCost {
  double flops = 0;
  double transcendentals = 0;
  double bytes_read = 0, bytes_written = 0;
  bool is_estimate = false;  // stated in the backend_config of the call
};

struct CustomCallFacts {
  std::string_view target;
  bool is_free = false;  // the call does no work, such as an annotation
  // Computes a call's cost; no value if its shapes and backend_config are not sufficient. Null if free or unknown.
  std::optional<CallCost> (*cost)(const Instruction&) = nullptr;
  CustomCallBackend backend = CustomCallBackend::kAny;
  uint16_t traits = kNothing;
  bool Has(CallTrait trait) const { return (traits & trait) != 0; }
};

// True if the target matches the pattern: '?' is any character, '*' any number of characters.
bool MatchesTarget(std::string_view pattern, std::string_view target);

// The facts about a target; null if there are none.
const CustomCallFacts* FactsOf(std::string_view target);
// The facts about a custom call's target; null for other ops.
const CustomCallFacts* FactsOf(const Instruction& hlo);

// True for a known custom call that only computes a value from its operands, without side effects or special traits.
bool IsKnownPureCall(const Instruction& hlo);
// True if the target of a custom call has the trait.
bool HasTrait(const Instruction& hlo, CallTrait trait);
// True for a call of an NVIDIA library, whose second result is a workspace.
bool IsCudaLibraryCall(const Instruction& hlo);
// True for a custom call that only orders other instructions.
bool IsControlDependency(const Instruction& hlo);
// True for a custom call that does no work, such as an annotation.
bool IsFreeCall(const Instruction& hlo);
// Cost of a custom call from its row, or else from the estimate in its backend_config; no value if unknown.
std::optional<CallCost> CallCostOf(const Instruction& hlo);
// Adds the minimum memory traffic of a custom call: its operands and its results, without a workspace.
void AddCallMemory(const Instruction& hlo, CallCost& cost);

// True if a custom call moves data between devices according to its row, its attributes or its backend_config.
bool MayCommunicate(const Instruction& hlo);

}  // namespace shoal::internal
