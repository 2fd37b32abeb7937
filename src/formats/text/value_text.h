// Reads single shapes, literals and attributes from HLO text, for a module that is built rather than read.
#pragma once

#include <string_view>
#include <vector>

#include "core/ir/module.h"

namespace shoal::internal {

// All fail if the text has anything else, or a deviation from XLA's grammar. The results point into the module.
Result<const Shape*> ReadShapeText(Module& module, std::string_view text);
// The value of a constant: "1", "{1, 2}", "{ { 1 }, { 2 } }".
Result<const Literal*> ReadLiteralText(Module& module, const Shape& shape, std::string_view text);
// "dimensions={1}, to_apply=add". Called computations are those of the module. Fails for attributes that the op does not
// have, and for those that name instructions.
Result<std::vector<NamedAttr>> ReadAttrsText(Module& module, Opcode opcode, std::string_view text);

}  // namespace shoal::internal
