// The attributes of an instruction one by one, as the printer writes them.
#pragma once

#include <functional>

#include "core/ops/op.h"

namespace shoal::internal {

// `def` is null for an attribute nobody knows. The text lasts until the next one.
using AttrVisitor = std::function<void(const AttrDef* def, std::string_view name, std::string_view text)>;

// Those that are printed, the op's own first: what a text may leave out without a change of meaning is left out, so
// that two instructions with the same attributes have the same texts, however they were written. Left out are also what
// says nothing about the program (metadata, original values, statistics) and what names computations or instructions.
void ForEachAttr(const Module& module, const Instruction& hlo, const AttrVisitor& visit);

}  // namespace shoal::internal
