// Reads the protobuf form of a module: HloModuleProto, HloProto, HloSnapshot.
#pragma once

#include <memory>
#include <vector>

#include "core/base/diags.h"
#include "core/ir/module.h"

namespace shoal::internal {

// Infers the message type from the content. Collects errors and warnings in `diags`. They name the computation and
// instruction, because there is no text location. If strict, unknown but harmless content is an error too. Returns null
// if there were errors; else the module takes `source`.
std::unique_ptr<Module> ReadProto(std::unique_ptr<Source>& source, bool strict, Diags& diags);

// Also reads the arguments and the result that a snapshot recorded. The module owns these values.
struct ProtoInput {
  std::unique_ptr<Module> module;
  std::vector<const Literal*> arguments;
  const Literal* result = nullptr;
};
ProtoInput ReadProtoWithValues(std::unique_ptr<Source>& source, bool strict, Diags& diags);

}  // namespace shoal::internal
