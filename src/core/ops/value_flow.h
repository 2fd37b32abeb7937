// Forwarding: ops that return a value of an operand, and the instruction that defines such a value. Used by analyses
// that trace values: verifier, trip counts, async pairs, diff, memory.
#pragma once

#include "core/ir/module.h"

namespace shoal::internal {

// The way in which an op forwards an operand. These are flags: each search states the ops that it looks through.
enum class Forwarding : uint16_t {
  kNothing = 0,             // the op computes its result
  kSame = 1 << 0,           // operand 0 itself: opt-barrier, annotation custom calls
  kAddDependency = 1 << 1,  // operand 0, available only after a token: add-dependency
  kDomain = 1 << 2,         // operand 0 at a change of the sharding: domain
  kAsyncUpdate = 1 << 3,    // operand 0, a pending async op: async-update
  kBitcast = 1 << 4,        // operand 0's bytes with another shape: bitcast
  kReshaped = 1 << 5,       // operand 0's elements in the same order: reshape
  kRearranged = 1 << 6,     // operand 0's elements at other indices: broadcast, transpose
  kCopied = 1 << 7,         // operand 0 in other memory: copy
  kConverted = 1 << 8,      // operand 0 in another type: convert
  kTupleElement = 1 << 9,   // an element of operand 0: get-tuple-element
  kTuple = 1 << 10,         // all operands: tuple
  kArgument = 1 << 11,      // the argument that a caller passes: parameter
  kCalled = 1 << 12,        // the root of the computation it runs: call
  kFused = 1 << 13,         // the root of the computation it runs: fusion
  kLoopState = 1 << 14,     // operand 0 or the root of its body: while
  kBranch = 1 << 15,        // the root of one of its branches: conditional
};
constexpr Forwarding operator|(Forwarding a, Forwarding b) {
  return static_cast<Forwarding>(static_cast<uint16_t>(a) | static_cast<uint16_t>(b));
}
constexpr bool Has(Forwarding set, Forwarding one) { return (static_cast<uint16_t>(set) & static_cast<uint16_t>(one)) != 0; }

Forwarding ForwardingOf(const Instruction& hlo);

// The forwarding ops that XLA allows between the parts of an async op.
inline constexpr Forwarding kCarriesAsync =
    Forwarding::kSame | Forwarding::kCopied | Forwarding::kTupleElement | Forwarding::kTuple;

// A value: the result of an instruction, or a part of it.
struct ValueRef {
  const Instruction* hlo = nullptr;
  ShapeIndex path;
  auto operator<=>(const ValueRef&) const = default;
};

// If the op of `value` forwards an operand value of the same computation, in one of the ways in `through`, replaces
// `value` with that operand value and returns true. Otherwise leaves `value` unchanged.
bool TraceToOperand(ValueRef& value, Forwarding through);
// Applies TraceToOperand as often as possible.
ValueRef DefiningValue(ValueRef value, Forwarding through);

// The operand that becomes parameter `number` of `callee` when `caller` runs it; null if the parameter is not simply an
// operand (the state of a while after its first iteration, the elements of a reduce).
const Instruction* ArgumentOf(const Instruction& caller, const Computation& callee, int64_t number);
// The computation that call, fusion and async-start run once; null for other ops, and if loose text omits it.
const Computation* CalleeRunOnce(const Instruction& hlo);

}  // namespace shoal::internal
