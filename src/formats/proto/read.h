// Reads the protobuf form of a module: HloModuleProto, HloProto, HloSnapshot.
#pragma once

#include <memory>
#include <vector>

#include "core/base/diags.h"
#include "core/ir/module.h"

namespace shoal::internal {

// Which message it is, the content tells. Errors and warnings are collected in `diags`; they have no place in a text,
// so they name computation and instruction. If strict, what is unknown but harmless is an error too. Null if there
// were errors; else the module takes `source`.
std::unique_ptr<Module> ReadProto(std::unique_ptr<Source>& source, bool strict, Diags& diags);

// The same, with what a snapshot says the program was given and what it gave. The module owns the values.
struct ProtoInput {
  std::unique_ptr<Module> module;
  std::vector<const Literal*> arguments;
  const Literal* result = nullptr;
};
ProtoInput ReadProtoWithValues(std::unique_ptr<Source>& source, bool strict, Diags& diags);

}  // namespace shoal::internal
