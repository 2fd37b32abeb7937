// What passes ask about an instruction.
#pragma once

#include "ops/families.h"

namespace shoal {

// Gives its value and does nothing else, the same every time: it may be dropped, shared and moved.
bool IsFunction(const Instruction& hlo);

// One loop nest of ours can compute it from its operands, element by element: elementwise ops and index maps of static
// arrays of numbers that have vector code.
bool IsLoopOp(const Instruction& hlo);
// Reads of elements at places that are data, which a loop nest can do on the way: dynamic-slice, gather.
bool IsIndexedRead(const Instruction& hlo);
// dynamic-update-slice of what a loop nest computes, into memory that is there.
bool IsLoopUpdate(const Instruction& hlo);
// The same of a reduction: one operand, one op that may be reordered, from a neutral initial value.
bool IsLoopReduction(const Instruction& hlo);
// A scalar constant, or one whose elements are all the same.
bool IsUniformConstant(const Instruction& hlo);
// The one op that `computation` applies to its two parameters; nothing if it is anything else.
const Instruction* OnlyOpOf(const Computation& computation);

// A function such as exp or tanh, a division or a power: dearer than reading a value that was written down.
bool IsDear(Opcode opcode);

// Numbers that vector code of ours computes with.
bool IsLoopType(ElementType type);

}  // namespace shoal
