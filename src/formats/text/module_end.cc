// Checks that need the complete module.

#include "core/ops/families.h"
#include "core/ops/order.h"
#include "core/ops/traits.h"
#include "formats/text/module_parser.h"

namespace shoal::internal {

bool Parser::Finish() {
  if (module_.computations.empty()) return diags_.errors() == 0 && Error({0, 0}, "the module has no computations");
  if (module_.entry == nullptr) {
    module_.entry = module_.computations.back();
    if (!options_.strict && module_.has_header && !FitsEntryLayout(*module_.entry))
      diags_.Warn(module_.entry->at, kTruncatedRule,
                  StrCat("the text is truncated: it has no ENTRY, and its last computation, ", module_.entry->name,
                         ", does not match entry_computation_layout"));
  }
  if (!module_.has_header && !single_instruction_)
    module_.name = module_.arena.CopyString(StrCat("module_", module_.entry->name));
  if (diags_.errors() > 0 || !CheckAliases() || !CheckAsyncComputations()) return false;
  OrderInstructions(module_);
  return true;
}

bool Parser::FitsEntryLayout(const Computation& computation) const {
  const std::optional<EntryLayout>& layout = module_.entry_layout;
  if (!layout || layout->result == nullptr || computation.root == nullptr) return true;
  if (layout->parameters.size() != computation.parameters.size()) return false;
  return Compatible(*layout->result, computation.root->shape());
}

bool Parser::CheckAliases() {
  const Shape* result = module_.entry_layout ? module_.entry_layout->result : &module_.entry->root->shape();
  for (const InputOutputAlias& alias : module_.input_output_alias) {
    if (result->At(alias.output_index) == nullptr &&
        !TolerateDeviation(aliases_at_, "loose.alias",
                 StrCat("input_output_alias refers to output ", ToString(alias.output_index), ", but the result is ",
                        ToString(*result))))
      return false;
  }
  return true;
}

// Checks that a computation wrapped by an async-start has no other callers.
bool Parser::CheckAsyncComputations() {
  if (!saw_async_) return true;
  absl::flat_hash_map<const Computation*, const Instruction*> others;
  absl::flat_hash_set<const Computation*> async;
  for (const Computation* computation : module_.computations) {
    for (const Instruction* hlo : computation->instructions) {
      if (!CallsComputations(*hlo)) continue;
      bool is_async = IsAsyncChain(*hlo);
      for (const Computation* called : CalledComputations(*hlo)) {
        if (is_async) async.insert(called);
        if (!is_async) others.emplace(called, hlo);
      }
    }
  }
  for (const Computation* wrapped : async) {
    auto caller = others.find(wrapped);
    if (caller != others.end() &&
        !TolerateDeviation(caller->second->at, "loose.async",
                 StrCat("async computation ", wrapped->name, " is also called by ", caller->second->name)))
      return false;
  }
  return true;
}

}  // namespace shoal::internal
