// A module that is being edited.
#pragma once

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "api/cpp/builder_state.h"
#include "api/cpp/module_state.h"

namespace shoal::internal {

// The users of each instruction, kept current during an edit. `control` has the control successors.
struct UserLists {
  using Lists = absl::flat_hash_map<const Instruction*, std::vector<Instruction*>>;
  Lists data, control;

  void Enter(Instruction& hlo);
  void Leave(Instruction& hlo);
  static const std::vector<Instruction*>& In(const Lists& lists, const Instruction& hlo);
};

struct EditState {
  EditState(std::shared_ptr<ModuleState> working, ModuleHandle original);
  ~EditState() { working->edit = nullptr; }
  EditState(const EditState&) = delete;

  Module& module() const { return *working->file.module; }
  std::vector<const Instruction*> UsersOf(const Instruction& hlo) const;
  // The instruction of the copy that the handle stands for; an error if it was removed or belongs to another module.
  shoal::Result<Instruction*> Resolve(const shoal::Instruction& handle) const;
  shoal::Instruction HandleOf(Instruction* hlo) const { return {working, hlo}; }

  // Makes `hlo` known: its name and its operands' users.
  void Added(Instruction& hlo);
  // Also among the control predecessors.
  void ReplaceOperand(Instruction& user, const Instruction& from, Instruction& to);
  // Removes an instruction without users.
  void Erase(Instruction& hlo);
  // Everything that `hlo` is computed from, and `hlo`.
  static absl::flat_hash_set<const Instruction*> DependenciesOf(Instruction& hlo);
  // Removes the instructions that lost all users, or never had any.
  void RemoveUnusedAfterEdit();

  std::shared_ptr<ModuleState> working;
  ModuleHandle original;
  std::shared_ptr<BuilderState> builder;
  absl::flat_hash_map<const Instruction*, Instruction*> copies;  // by instruction of the original
  absl::flat_hash_map<std::string_view, Instruction*> by_name;
  UserLists users;
  absl::flat_hash_set<const Instruction*> present;      // in the copy
  absl::flat_hash_set<Instruction*> maybe_unused;
  absl::flat_hash_set<Computation*> changed;
};

}  // namespace shoal::internal
