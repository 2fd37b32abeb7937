// Writes a module as an HloModuleProto.
#pragma once

#include <string>

#include "core/ir/module.h"

namespace shoal::internal {

// XLA reads the result, and ReadProto gives back the same module: what XLA has no field for stands in one of ours,
// which it skips. Names and stack frames are written in their canonical form, as XLA itself would have read them from
// the text. Fails if the module has holes: a computation that is called and nowhere defined, or that calls itself.
Result<std::string> WriteProto(const Module& module);

// The same message as JSON: XLA's field names, texts as texts, element types by name, raw bytes of literals in base64.
Result<std::string> WriteProtoAsJson(const Module& module);

}  // namespace shoal::internal
