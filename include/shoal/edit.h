// Rewrites a module. A pass that removes pairs of negations:
//
//     Result<ModuleEditor> editor = ModuleEditor::Of(module);
//     for (const Computation& computation : editor->computations())
//       for (const Instruction& hlo : computation.instructions()) {
//         if (hlo.opcode() != "negate" || hlo.operands()[0].opcode() != "negate") continue;
//         if (Status done = editor->Replace(hlo, hlo.operands()[0].operands()[0]); !done) return done.error();
//       }
//     Result<Module> rewritten = editor->Finish();
#pragma once

#include <initializer_list>

#include "shoal/builder.h"

namespace shoal::internal {
struct EditState;
}  // namespace shoal::internal

namespace shoal::inline v0_1 {

// Edits a copy of a module; the module itself does not change. Computations and instructions of the copy show its current
// state, and those of the module stand for their copies. An editor and the objects of its copy belong to one thread until
// Finish. A failed call changes nothing.
class SHOAL_API ModuleEditor {
 public:
  // Fails if the module breaks a rule.
  static Result<ModuleEditor> Of(const Module& module);

  std::vector<Computation> computations() const;
  std::optional<Computation> entry() const;
  // The instruction of this name (without %), in any computation.
  std::optional<Instruction> Find(std::string_view name) const;

  // Adds an instruction to the computation of its operands. `attributes`, `shape` and `name` are as for
  // ComputationBuilder::Add. The instruction takes its origin (metadata and location) from `at`, by default its first
  // operand; without operands, `at` also chooses the computation.
  Result<Instruction> Add(std::string_view opcode, std::span<const Instruction> operands, std::string_view attributes = {},
                          std::string_view shape = {}, std::string_view name = {},
                          const std::optional<Instruction>& at = std::nullopt);
  Result<Instruction> Add(std::string_view opcode, std::initializer_list<Instruction> operands,
                          std::string_view attributes = {}, std::string_view shape = {}, std::string_view name = {},
                          const std::optional<Instruction>& at = std::nullopt) {
    return Add(opcode, std::span(operands.begin(), operands.size()), attributes, shape, name, at);
  }
  // Adds a constant to the computation of `at`. `value` is HLO text: "1", "{1, 2}".
  Result<Instruction> Constant(std::string_view shape, std::string_view value, const Instruction& at,
                               std::string_view name = {});
  // Starts a computation that instructions can call once it is finished.
  Result<ComputationBuilder> NewComputation(std::string_view name);

  // Replaces `hlo` by a value of the same type and dimensions: as operand, control predecessor and root. Instructions that
  // compute `replacement` keep `hlo` as their operand. Otherwise, unless it is a parameter, `hlo` is removed.
  Status Replace(const Instruction& hlo, const Instruction& replacement);
  // The verifier checks the shapes at the end.
  Status SetOperand(const Instruction& hlo, int64_t index, const Instruction& operand);
  // Adds attributes or replaces their values: "replica_groups={{0,1}}, channel_id=3".
  Status SetAttributes(const Instruction& hlo, std::string_view attributes);
  // Makes `hlo` the root of its computation.
  Status SetRoot(const Instruction& hlo);
  // Removes an instruction that has no users. It may have a side effect. Its control successors wait for its control
  // predecessors instead.
  Status Remove(const Instruction& hlo);

  // Verifies the module and returns it. Before that, instructions that the edit left without users are removed, except
  // those with side effects, and computations that nothing calls. The editor is empty afterwards.
  Result<Module> Finish();

 private:
  explicit ModuleEditor(std::shared_ptr<internal::EditState> state) : state_(std::move(state)) {}
  std::shared_ptr<internal::EditState> state_;
};

}  // namespace shoal::inline v0_1
