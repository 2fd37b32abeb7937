#include "api/cpp/edit_state.h"

#include <algorithm>

#include "core/base/strings.h"
#include "core/ir/common_attrs.h"
#include "core/ir/rewrite.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

void Insert(UserLists::Lists& lists, const Instruction* used, Instruction& user) {
  std::vector<Instruction*>& users = lists[used];
  if (std::ranges::find(users, &user) == users.end()) users.push_back(&user);
}

void Drop(UserLists::Lists& lists, const Instruction* used, const Instruction& user) {
  if (const auto found = lists.find(used); found != lists.end()) std::erase(found->second, &user);
}

}  // namespace

void UserLists::Enter(Instruction& hlo) {
  for (const Instruction* operand : hlo.operands) Insert(data, operand, hlo);
  for (const Instruction* before : hlo[kControlPredecessors]) Insert(control, before, hlo);
}

void UserLists::Leave(Instruction& hlo) {
  for (const Instruction* operand : hlo.operands) Drop(data, operand, hlo);
  for (const Instruction* before : hlo[kControlPredecessors]) Drop(control, before, hlo);
}

const std::vector<Instruction*>& UserLists::In(const Lists& lists, const Instruction& hlo) {
  static const std::vector<Instruction*> none;
  const auto found = lists.find(&hlo);
  return found == lists.end() ? none : found->second;
}

EditState::EditState(std::shared_ptr<ModuleState> given, ModuleHandle from)
    : working(std::move(given)), original(std::move(from)), builder(std::make_shared<BuilderState>(working->file.module)) {
  // The copy has the computations and instructions of the original in the same order.
  const std::vector<Computation*>& before = original->module().computations;
  for (size_t i = 0; i < before.size(); ++i) {
    Computation& computation = *module().computations[i];
    builder->computation_names.emplace(computation.name);
    for (size_t j = 0; j < computation.instructions.size(); ++j) {
      copies[before[i]->instructions[j]] = computation.instructions[j];
      Added(*computation.instructions[j]);
    }
  }
  changed.clear();
  maybe_unused.clear();
  working->edit = this;
}

std::vector<const Instruction*> EditState::UsersOf(const Instruction& hlo) const {
  const std::vector<Instruction*>& found = UserLists::In(users.data, hlo);
  return {found.begin(), found.end()};
}

shoal::Result<Instruction*> EditState::Resolve(const shoal::Instruction& handle) const {
  if (builder->module == nullptr) return ArgumentError("the edit is finished");
  const auto [owner, given] = handle.state();
  Instruction* hlo = const_cast<Instruction*>(given);  // of the copy, which the editor may change
  if (owner != working.get()) {
    const auto found = copies.find(given);
    if (found == copies.end()) return ArgumentError(StrCat(handle.name(), " is an instruction of another module"));
    hlo = found->second;
  }
  if (!present.contains(hlo)) return ArgumentError(StrCat(handle.name(), " was removed by this edit"));
  return hlo;
}

void EditState::Added(Instruction& hlo) {
  builder->names.emplace(hlo.name);
  by_name.try_emplace(hlo.name, &hlo);
  users.Enter(hlo);
  present.insert(&hlo);
  maybe_unused.insert(&hlo);
  changed.insert(hlo.parent);
}

void EditState::ReplaceOperand(Instruction& user, const Instruction& from, Instruction& to) {
  users.Leave(user);
  const auto mapped = [&](std::span<Instruction* const> before) {
    const std::span<Instruction*> after = module().arena.Copy(before);
    for (Instruction*& one : after)
      if (one == &from) one = &to;
    return after;
  };
  user.operands = mapped(user.operands);
  for (NamedAttr& attr : user.attrs)
    if (attr.id == kControlPredecessors.id) attr.value = Instructions(mapped(std::get<Instructions>(attr.value)));
  users.Enter(user);
  changed.insert(user.parent);
}

void EditState::Erase(Instruction& hlo) {
  const Instructions before = hlo[kControlPredecessors];
  for (Instruction* after : std::vector<Instruction*>(UserLists::In(users.control, hlo))) {
    std::vector<Instruction*> all;
    for (Instruction* one : (*after)[kControlPredecessors])
      if (one != &hlo) all.push_back(one);
    for (Instruction* one : before)
      if (std::ranges::find(all, one) == all.end()) all.push_back(one);
    users.Leave(*after);
    for (NamedAttr& attr : after->attrs)
      if (attr.id == kControlPredecessors.id) attr.value = Instructions(module().arena.Copy(all));
    if (all.empty()) DropAttr(*after, module(), kControlPredecessors.id);
    users.Enter(*after);
  }
  users.Leave(hlo);
  for (Instruction* operand : hlo.operands) maybe_unused.insert(operand);
  std::erase(hlo.parent->instructions, &hlo);
  present.erase(&hlo);
  by_name.erase(hlo.name);
  builder->names.erase(std::string(hlo.name));
  maybe_unused.erase(&hlo);
  changed.insert(hlo.parent);
}

absl::flat_hash_set<const Instruction*> EditState::DependenciesOf(Instruction& hlo) {
  absl::flat_hash_set<const Instruction*> found{&hlo};
  std::vector<const Instruction*> worklist{&hlo};
  while (!worklist.empty()) {
    const Instruction* one = worklist.back();
    worklist.pop_back();
    const auto visit = [&](const Instruction* operand) {
      if (found.insert(operand).second) worklist.push_back(operand);
    };
    for (const Instruction* operand : one->operands) visit(operand);
    for (const Instruction* before : (*one)[kControlPredecessors]) visit(before);
  }
  return found;
}

void EditState::RemoveUnusedAfterEdit() {
  std::vector<Instruction*> worklist(maybe_unused.begin(), maybe_unused.end());
  while (!worklist.empty()) {
    Instruction& hlo = *worklist.back();
    worklist.pop_back();
    if (!present.contains(&hlo) || hlo.parent->root == &hlo || IsParameter(hlo) || HasSideEffect(hlo)) continue;
    if (!UserLists::In(users.data, hlo).empty() || !UserLists::In(users.control, hlo).empty()) continue;
    for (Instruction* operand : hlo.operands) worklist.push_back(operand);
    Erase(hlo);
  }
}

}  // namespace shoal::internal
