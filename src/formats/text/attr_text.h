// Visits the attributes of an instruction, formatted as the printer writes them.
#pragma once

#include <functional>

#include "core/ops/op.h"

namespace shoal::internal {

// `def` is null for an unknown attribute. `text` is valid until the next call.
using AttrVisitor = std::function<void(const AttrDef* def, std::string_view name, std::string_view text)>;

// Visits the printed attributes, the op's own first. Skips attributes that a text may omit without a change of meaning,
// so that two instructions with equal attributes yield equal texts, however they were written. Also skips attributes
// that do not affect the program (metadata, original values, statistics) or that name computations or instructions.
void ForEachAttr(const Module& module, const Instruction& hlo, const AttrVisitor& visit);

}  // namespace shoal::internal
