// Operands that an op overwrites with its result, on every backend.
#pragma once

#include <vector>

#include "core/ir/module.h"

namespace shoal::internal {

// Part `result_index` of the result uses the buffer of part `operand_index` of an operand.
struct InPlace {
  int64_t operand = 0;
  ShapeIndex operand_index, result_index;
};
std::vector<InPlace> InPlaceOf(const Instruction& hlo);

// Reuse of operands without other users when shoal executes an op. buffer_reuse.h has XLA's policy.
enum class ReuseKind : uint8_t {
  kNothing,       // new memory, allocated while the operands are live
  kOperand,       // operand 0 itself: a copy, a reshape
  kResized,       // operand 0 itself, whose valid part may be smaller
  kRelaidOut,     // operand 0 itself if no element of a row-major array moves: a bitcast
  kOperands,      // the operands themselves, one for each result: a sort of one element
  kOverwrites,    // the operands of InPlaceOf are overwritten
  kState,         // operand 0, the state of a generator, becomes the first part of the result
  kAnySameSize,   // any operand of the result's size: elementwise
  kAfterOperands  // new memory, allocated after the operands are freed: sort
};
ReuseKind ReuseOf(const Instruction& hlo);
// True if the elements of a bitcast-convert and of its operand are whole bytes, or have the same type: no byte moves.
bool HasWholeByteElements(const Instruction& bitcast_convert);

// Buffers that the members of a collective receive when shoal executes it.
enum class ReceivedBuffer : uint8_t {
  kOwn,             // each member has a new array
  kOwnUnlessSingle,  // like kOwn, but a group's only member receives its operand
  kOneForAll,       // all members share one array
  kFromOthers,      // the arrays that are operands of the other members
  kFromSource,      // the array that is the operand of the source
};
ReceivedBuffer ReceivedFrom(const Instruction& collective);

}  // namespace shoal::internal
