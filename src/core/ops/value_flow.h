// Who hands a value on: where the value that an op gives was made, if not by the op itself. Asked by whoever follows
// values: verifier, trip counts, pairs of start and done, diff, memory.
#pragma once

#include "core/ir/module.h"

namespace shoal::internal {

// How an op's result is one of its operands' values. Values of a set, so that each search says what it looks through.
enum class Forwarding : uint16_t {
  kNothing = 0,          // the op makes its result
  kSame = 1 << 0,        // operand 0 itself: opt-barrier, custom calls that only remark
  kAddDependency = 1 << 1,     // operand 0, not before a token: add-dependency
  kDomain = 1 << 2,      // operand 0 where the sharding changes: domain
  kAsyncUpdate = 1 << 3,   // operand 0, of an async op that goes on: async-update
  kBitcast = 1 << 4,     // operand 0's bytes under another shape
  kReshaped = 1 << 5,    // operand 0's elements in the same order
  kRearranged = 1 << 6,      // operand 0's elements elsewhere: broadcast, transpose
  kCopied = 1 << 7,      // operand 0 in other memory: copy
  kConverted = 1 << 8,   // operand 0 in another type: convert
  kTupleElement = 1 << 9,        // an element of operand 0: get-tuple-element
  kTuple = 1 << 10,     // all operands: tuple
  kArgument = 1 << 11,   // what the callers pass: parameter
  kCalled = 1 << 12,     // the root of the computation it runs: call
  kFused = 1 << 13,      // the same: fusion
  kLoopState = 1 << 14,  // operand 0 or the root of its body: while
  kBranch = 1 << 15,     // the root of one of its branches: conditional
};
constexpr Forwarding operator|(Forwarding a, Forwarding b) {
  return static_cast<Forwarding>(static_cast<uint16_t>(a) | static_cast<uint16_t>(b));
}
constexpr bool Has(Forwarding set, Forwarding one) { return (static_cast<uint16_t>(set) & static_cast<uint16_t>(one)) != 0; }

Forwarding ForwardingOf(const Instruction& hlo);

// What XLA lets stand between the parts of an async op.
inline constexpr Forwarding kCarriesAsync = Forwarding::kSame | Forwarding::kCopied | Forwarding::kTupleElement | Forwarding::kTuple;

// A value: what an instruction gives, or a part of it.
struct ValueRef {
  const Instruction* hlo = nullptr;
  ShapeIndex path;
  auto operator<=>(const ValueRef&) const = default;
};

// Goes back to the operand whose value stands at `place`, if its op hands it on in one of the ways of `through` and it
// lies in the same computation. False, and `place` as it was, otherwise.
bool TraceToOperand(ValueRef& place, Forwarding through);
// As far back as it goes.
ValueRef DefiningValue(ValueRef place, Forwarding through);

// The operand that becomes parameter `number` of `callee` when `caller` runs it; null where it is not an operand as it
// stands (the state of a while after its first round, the elements a reduce folds).
const Instruction* ArgumentOf(const Instruction& caller, const Computation& callee, int64_t number);
// What call, fusion and async-start run, once; null for other ops and where loose text does not say.
const Computation* RunOnceBy(const Instruction& hlo);

}  // namespace shoal::internal
