// Writes a module as an HloModuleProto.
#pragma once

#include <string>

#include "core/ir/module.h"

namespace shoal::internal {

// XLA can read the result, and ReadProto restores the same module: data for which XLA has no field is in shoal's own
// fields, which XLA skips. Names and stack frames are written in canonical form, as XLA would read them from the text.
// Fails if a computation is called but not defined, or if it calls itself.
Result<std::string> WriteProto(const Module& module);

// Writes the message as JSON, with XLA's field names, readable strings, element types by name and literals in base64.
Result<std::string> WriteProtoAsJson(const Module& module);

}  // namespace shoal::internal
