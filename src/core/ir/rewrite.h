// Rewriting a Module: clone it, create instructions, replace values, inline and remove computations. A new instruction
// takes the text location of the one it replaces, so that messages still have a caret.
//
// A pass scans a computation once, records all replacements in a Replacements, and applies them together: replacing one
// use at a time would cost a scan each.
#pragma once

#include "absl/container/flat_hash_map.h"
#include "core/ir/module.h"

namespace shoal::internal {

// A copy that may be rewritten. It shares names, literals and other attributes with the original, which must outlive
// it. It owns its shapes and, for messages, a copy of the text.
std::unique_ptr<Module> CloneModule(const Module& module);

// Appends a new instruction with the text location and the metadata of `instead_of`. See SortTopologically.
Instruction* NewInstruction(Module& module, Computation& computation, Opcode opcode, const Shape* shape,
                            std::span<Instruction* const> operands, const Instruction& instead_of);
// Appends a copy of an instruction with other operands to `computation`. Called computations are shared.
Instruction* CopyInstruction(Module& module, Computation& computation, const Instruction& hlo,
                             std::span<Instruction* const> operands);

void DropAttr(Instruction& hlo, Module& module, uint32_t id);

// Maps instructions to their replacements. A replacement may itself be replaced.
using Replacements = absl::flat_hash_map<const Instruction*, Instruction*>;
// The final replacement of `hlo`, or `hlo` itself.
Instruction* ResolveReplacement(const Replacements& replacements, Instruction* hlo);
// Rewrites operands, control predecessors and the root. The replaced instructions stay, unused, until RemoveUnused.
void Apply(const Replacements& replacements, Module& module, Computation& computation);
// Like Apply, but also removes the replaced instructions, even those with side effects, and sorts the computation.
void ApplyReplacements(const Replacements& replacements, Module& module, Computation& computation);

// Copies the callee's instructions into `computation`, with `arguments` as parameters. Returns the copy of the root.
Instruction* Inline(const Computation& callee, std::span<Instruction* const> arguments, Module& module,
                    Computation& computation);

// Sorts operands before users and otherwise keeps the existing order. Renumbers the instructions.
void SortTopologically(Computation& computation);

// Removes instructions that neither the root nor an `is_kept` one needs, except parameters. True if it removed any.
bool RemoveUnused(Computation& computation, bool (*is_kept)(const Instruction&));
// Removes the computations that are not reachable from the entry. True if it removed any.
bool RemoveUncalled(Module& module);

}  // namespace shoal::internal
