// Rewriting a Module: a private copy, new instructions, one value in place of another, computations inlined and
// dropped. What a rewrite makes takes the place in the text of what it replaces, so that messages still have a caret.
//
// A pass goes through a computation once, notes what stands for what in a Replacements, and applies them together:
// replacing one use at a time would cost a walk each.
#pragma once

#include "absl/container/flat_hash_map.h"
#include "core/ir/module.h"

namespace shoal::internal {

// A copy that may be rewritten. Names, literals and other attributes are shared with the original, which must outlive
// it; shapes are its own. It has a copy of the text, for messages.
std::unique_ptr<Module> CloneModule(const Module& module);

// A new instruction at the end of the computation (see SortTopologically), in the place and with the metadata of `instead_of`.
Instruction* NewInstruction(Module& module, Computation& computation, Opcode opcode, const Shape* shape,
                            std::span<Instruction* const> operands, const Instruction& instead_of);
// A copy of an instruction with other operands, at the end of `computation`. Called computations are shared.
Instruction* CopyInstruction(Module& module, Computation& computation, const Instruction& hlo,
                             std::span<Instruction* const> operands);

void DropAttr(Instruction& hlo, Module& module, uint32_t id);

// What stands for what. An instruction that is replaced may be replaced by one that is replaced itself.
using Replacements = absl::flat_hash_map<const Instruction*, Instruction*>;
// What stands for `hlo` in the end.
Instruction* ResolveReplacement(const Replacements& replacements, Instruction* hlo);
// In operands, control predecessors and the root. The replaced instructions stay, unused: RemoveUnused drops them.
void Apply(const Replacements& replacements, Module& module, Computation& computation);
// The same, and takes the replaced instructions out, whatever they do; the new ones are put in order.
void ApplyReplacements(const Replacements& replacements, Module& module, Computation& computation);

// Copies the callee's instructions into `computation` with `arguments` for its parameters; its root's copy.
Instruction* Inline(const Computation& callee, std::span<Instruction* const> arguments, Module& module,
                    Computation& computation);

// Operands before users, otherwise in the order there was; numbers the instructions.
void SortTopologically(Computation& computation);

// Drops the instructions that do not lead to the root and that `is_kept` does not ask for; parameters stay. True if any.
bool RemoveUnused(Computation& computation, bool (*is_kept)(const Instruction&));
// Drops the computations that the entry does not reach. True if any.
bool RemoveUncalled(Module& module);

}  // namespace shoal::internal
