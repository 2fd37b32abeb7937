// Operands that an op writes its result over, whatever its back end.
#pragma once

#include <vector>

#include "core/ir/module.h"

namespace shoal::internal {

// Part `result_index` of the result has the place of part `operand_index` of an operand.
struct InPlace {
  int64_t operand = 0;
  ShapeIndex operand_index, result_index;
};
std::vector<InPlace> InPlaceOf(const Instruction& hlo);

// What a run of ours makes of an op's operands, where nobody else holds them: our policy, as overwrite.h has XLA's.
enum class ReuseKind : uint8_t {
  kNothing,       // new memory, while the operands are still there
  kOperand,       // operand 0 itself: a copy, a reshape
  kResized,       // the same, of which less may be there
  kRelaidOut,     // operand 0 if no element of a row-major array moves: a bitcast
  kOperands,      // the operands themselves, as many as there are results: a sort of one
  kWritesOver,    // the operands of InPlaceOf
  kState,         // operand 0, the state of a generator, becomes the first part of the result
  kAnySameSize,  // an operand of the result's size: elementwise
  kAfterOperands  // new memory, once the operands are gone: sort
};
ReuseKind ReuseOf(const Instruction& hlo);
// Of a bitcast-convert: its elements, as its operand's, are whole bytes, which stay where they are.
bool SeesWholeBytes(const Instruction& bitcast_convert);

// What the members of a collective receive in a run of ours.
enum class ReceivedBuffer : uint8_t {
  kOwn,             // each a new array
  kOwnUnlessAlone,  // but a member without others what it gave
  kOneForAll,       // all the same array
  kFromOthers,      // the arrays that others gave
  kFromSource,      // the array that one other gave
};
ReceivedBuffer ReceivedFrom(const Instruction& collective);

}  // namespace shoal::internal
