// MLIR's names of element types.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/ir/element_type.h"

namespace shoal::internal {

// The element type i32, ui8, f8E4M3FN, …; nullopt for other words.
std::optional<ElementType> ElementTypeFromMlir(std::string_view name);
std::string MlirNameOf(ElementType type);
// The complex type with parts of the given type; nullopt if there is none.
std::optional<ElementType> ComplexOf(ElementType part);

}  // namespace shoal::internal
