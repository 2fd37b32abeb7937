// entry_computation_layout matches the entry computation.
#include "core/ops/rules.h"
#include "core/ops/traits.h"
#include "core/verify/checks.h"

namespace shoal::internal {

void CheckEntry(VerifierContext& context) {
  const Module& module = context.module();
  if (module.entry == nullptr || module.entry->root == nullptr) return;
  const Computation& entry = *module.entry;
  for (const Instruction* caller : context.CallersOf(entry))
    if (IsFusion(*caller))
      context.Add(*caller, "entry.C1", StrCat("a fusion must not call the entry computation, got ", entry.name));
  if (!module.entry_layout) return;

  const EntryLayout& layout = *module.entry_layout;
  if (layout.parameters.size() != entry.parameters.size())
    return context.Add(entry, "entry.C2",
                       StrCat("entry_computation_layout must have as many parameters as the entry computation, ",
                              entry.parameters.size(), ", got ", layout.parameters.size()));
  for (size_t i = 0; i < layout.parameters.size(); ++i) {
    const Instruction* parameter = entry.parameters[i];
    if (parameter == nullptr || Compatible(parameter->shape(), *layout.parameters[i])) continue;
    context.Add(*parameter, "entry.C3",
                StrCat("parameter ", i, " is ", Str(parameter->shape()), ", but ", Str(*layout.parameters[i]),
                       " in entry_computation_layout"));
  }
  if (layout.result != nullptr && !Compatible(entry.root->shape(), *layout.result))
    context.Add(*entry.root, "entry.C4",
                StrCat("the result is ", Str(entry.root->shape()), ", but ", Str(*layout.result),
                       " in entry_computation_layout"));
}

}  // namespace shoal::internal
