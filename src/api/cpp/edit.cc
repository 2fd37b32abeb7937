#include "shoal/edit.h"

#include <algorithm>

#include "api/cpp/edit_state.h"
#include "core/base/strings.h"
#include "core/ir/common_attrs.h"
#include "core/ir/rewrite.h"
#include "core/ops/order.h"
#include "core/ops/traits.h"
#include "formats/text/value_text.h"

namespace shoal::internal {
namespace {

Error Refused(const Diag& diag) { return MakeError(Fail({}, diag.rule, diag.message), "edit", nullptr); }

// The handles as instructions of the copy, all in one computation.
shoal::Result<std::vector<Instruction*>> ResolveAll(const EditState& state, std::span<const shoal::Instruction> handles) {
  std::vector<Instruction*> all;
  for (const shoal::Instruction& handle : handles) {
    const shoal::Result<Instruction*> hlo = state.Resolve(handle);
    if (!hlo.ok()) return hlo.error();
    if ((*hlo)->parent != (all.empty() ? *hlo : all[0])->parent)
      return ArgumentError(StrCat((*hlo)->name, " is in computation ", (*hlo)->parent->name, ", but ", all[0]->name, " is in ",
                                  all[0]->parent->name));
    all.push_back(*hlo);
  }
  return all;
}

// Calls `add` with a builder whose instructions take the location and the metadata of `at`.
template <class Add>
auto WithOrigin(EditState& state, const Instruction& at, Add add) {
  state.builder->builder.SetOrigin(at.at, at[kMetadata]);
  auto added = add(state.builder->builder);
  state.builder->builder.SetOrigin({}, nullptr);
  return added;
}

shoal::Result<Instruction*> AddInstruction(EditState& state, std::string_view opcode, std::span<Instruction* const> operands,
                                           std::string_view attributes, std::string_view shape, std::string_view name,
                                           const Instruction& at) {
  Module& module = state.module();
  const std::optional<Opcode> op = ParseOpcode(opcode);
  if (!op) return ArgumentError(StrCat("unknown op '", opcode, "'"));
  if (*op == Opcode::kParameter || *op == Opcode::kConstant)
    return ArgumentError("an edit adds constants with Constant, and no parameters");
  const shoal::Result<std::string> new_name = NewName(*state.builder, opcode, name);
  if (!new_name.ok()) return new_name.error();
  const Shape* declared = nullptr;
  if (!shape.empty()) {
    const auto read = ReadShapeText(module, shape);
    if (!read.ok()) return Refused(read.diag());
    declared = *read;
  }
  const auto attrs = ReadAttrsText(module, *op, attributes);
  if (!attrs.ok()) return Refused(attrs.diag());
  auto hlo = WithOrigin(state, at, [&](ModuleBuilder& builder) {
    return builder.Add(*at.parent, *op, operands, *attrs, declared, *new_name);
  });
  if (!hlo.ok()) return Refused(hlo.diag());
  state.Added(**hlo);
  return *hlo;
}

bool HasSameDimensions(const Instruction& a, const Instruction& b) { return Compatible(a.shape(), b.shape()); }

}  // namespace
}  // namespace shoal::internal

namespace shoal::inline v0_1 {

using internal::AddInstruction;
using internal::ArgumentError;
using internal::HasSameDimensions;
using internal::ResolveAll;
using internal::StrCat;
using internal::WithOrigin;

Result<ModuleEditor> ModuleEditor::Of(const Module& module) {
  if (module.empty()) return internal::NoModuleError();
  return internal::Guarded([&]() -> Result<ModuleEditor> {
    const internal::ModuleState& original = *module.state();
    if (const Result<internal::ModuleHandle> valid = internal::VerifiedModule(module.state()); !valid.ok()) return valid.error();
    internal::ModuleFile file;
    file.path = original.file.path;
    file.module = CloneModule(original.module());
    auto working = std::make_shared<internal::ModuleState>(std::move(file), /*strict=*/true, original.own_packages);
    working->original = module.state();
    return ModuleEditor(std::make_shared<internal::EditState>(std::move(working), module.state()));
  });
}

std::vector<Computation> ModuleEditor::computations() const { return Module(state_->working).computations(); }
std::optional<Computation> ModuleEditor::entry() const { return Module(state_->working).entry(); }

std::optional<Instruction> ModuleEditor::Find(std::string_view name) const {
  const auto found = state_->by_name.find(name);
  if (found == state_->by_name.end()) return std::nullopt;
  return state_->HandleOf(found->second);
}

Result<Instruction> ModuleEditor::Add(std::string_view opcode, std::span<const Instruction> operands,
                                      std::string_view attributes, std::string_view shape, std::string_view name,
                                      const std::optional<Instruction>& at) {
  return internal::Guarded([&]() -> Result<Instruction> {
    std::vector<Instruction> given(operands.begin(), operands.end());
    if (at) given.push_back(*at);
    const auto resolved = ResolveAll(*state_, given);
    if (!resolved.ok()) return resolved.error();
    if (resolved->empty()) return ArgumentError(StrCat(opcode, " has no operands, so `at` must choose the computation"));
    const internal::Instruction& origin = at ? *resolved->back() : *resolved->front();
    const auto hlo = AddInstruction(*state_, opcode, std::span(*resolved).first(operands.size()), attributes, shape, name, origin);
    if (!hlo.ok()) return hlo.error();
    return state_->HandleOf(*hlo);
  });
}

Result<Instruction> ModuleEditor::Constant(std::string_view shape, std::string_view value, const Instruction& at,
                                           std::string_view name) {
  return internal::Guarded([&]() -> Result<Instruction> {
    const Result<internal::Instruction*> origin = state_->Resolve(at);
    if (!origin.ok()) return origin.error();
    const Result<std::string> new_name = NewName(*state_->builder, "constant", name);
    if (!new_name.ok()) return new_name.error();
    const auto read = ReadShapeText(state_->module(), shape);
    if (!read.ok()) return internal::Refused(read.diag());
    const auto literal = ReadLiteralText(state_->module(), **read, value);
    if (!literal.ok()) return internal::Refused(literal.diag());
    internal::Instruction* hlo = WithOrigin(*state_, **origin, [&](internal::ModuleBuilder& builder) {
      return builder.Constant(*(*origin)->parent, *literal);
    });
    hlo->name = state_->module().arena.CopyString(*new_name);
    state_->Added(*hlo);
    return state_->HandleOf(hlo);
  });
}

Result<ComputationBuilder> ModuleEditor::NewComputation(std::string_view name) {
  if (state_->builder->module == nullptr) return ArgumentError("the edit is finished");
  return internal::Guarded([&]() -> Result<ComputationBuilder> {
    return StartComputation(state_->builder, name);
  });
}

Status ModuleEditor::Replace(const Instruction& hlo, const Instruction& replacement) {
  return internal::Guarded([&]() -> Status {
    const Instruction pair[] = {hlo, replacement};
    const auto resolved = ResolveAll(*state_, pair);
    if (!resolved.ok()) return resolved.error();
    internal::Instruction &from = *(*resolved)[0], &to = *(*resolved)[1];
    if (&from == &to) return ArgumentError(StrCat(from.name, " cannot replace itself"));
    if (!HasSameDimensions(from, to))
      return ArgumentError(StrCat(from.name, " is ", internal::Str(from.shape()), ", but its replacement ", to.name, " is ", internal::Str(to.shape())));
    const auto kept = internal::EditState::DependenciesOf(to);
    for (const auto* lists : {&state_->users.data, &state_->users.control})
      for (internal::Instruction* user : std::vector(internal::UserLists::In(*lists, from)))
        if (!kept.contains(user)) state_->ReplaceOperand(*user, from, to);
    if (from.parent->root == &from) from.parent->root = &to;
    const bool is_used = !state_->UsersOf(from).empty() || !internal::UserLists::In(state_->users.control, from).empty();
    if (!is_used && !IsParameter(from)) state_->Erase(from);
    state_->maybe_unused.erase(&to);
    return Nothing();
  });
}

Status ModuleEditor::SetOperand(const Instruction& hlo, int64_t index, const Instruction& operand) {
  return internal::Guarded([&]() -> Status {
    const Instruction pair[] = {hlo, operand};
    const auto resolved = ResolveAll(*state_, pair);
    if (!resolved.ok()) return resolved.error();
    internal::Instruction &user = *(*resolved)[0], &value = *(*resolved)[1];
    if (index < 0 || index >= std::ssize(user.operands))
      return ArgumentError(StrCat(user.name, " has ", user.operand_count(), " operands, got index ", index));
    if (internal::EditState::DependenciesOf(value).contains(&user))
      return ArgumentError(StrCat(value.name, " is computed from ", user.name, ", so it cannot be its operand"));
    state_->users.Leave(user);
    state_->maybe_unused.insert(user.operands[static_cast<size_t>(index)]);
    user.operands = state_->module().arena.Copy(user.operands);
    user.operands[static_cast<size_t>(index)] = &value;
    state_->users.Enter(user);
    state_->changed.insert(user.parent);
    return Nothing();
  });
}

Status ModuleEditor::SetAttributes(const Instruction& hlo, std::string_view attributes) {
  return internal::Guarded([&]() -> Status {
    const Result<internal::Instruction*> found = state_->Resolve(hlo);
    if (!found.ok()) return found.error();
    const auto attrs = ReadAttrsText(state_->module(), (*found)->opcode, attributes);
    if (!attrs.ok()) return internal::Refused(attrs.diag());
    std::vector<internal::NamedAttr> all((*found)->attrs.begin(), (*found)->attrs.end());
    for (const internal::NamedAttr& attr : *attrs) {
      std::erase_if(all, [&](const internal::NamedAttr& other) { return other.id == attr.id; });
      all.push_back(attr);
    }
    (*found)->attrs = state_->module().arena.Copy(all);
    state_->changed.insert((*found)->parent);
    return Nothing();
  });
}

Status ModuleEditor::SetRoot(const Instruction& hlo) {
  return internal::Guarded([&]() -> Status {
    const Result<internal::Instruction*> found = state_->Resolve(hlo);
    if (!found.ok()) return found.error();
    internal::Computation& computation = *(*found)->parent;
    state_->maybe_unused.insert(computation.root);
    internal::Module& module = state_->module();
    if (&computation == module.entry && module.entry_layout && !HasSameDimensions(*computation.root, **found))
      module.entry_layout->result = (*found)->shape_;
    computation.root = *found;
    state_->changed.insert(&computation);
    return Nothing();
  });
}

Status ModuleEditor::Remove(const Instruction& hlo) {
  return internal::Guarded([&]() -> Status {
    const Result<internal::Instruction*> found = state_->Resolve(hlo);
    if (!found.ok()) return found.error();
    const auto& users = internal::UserLists::In(state_->users.data, **found);
    if (!users.empty()) return ArgumentError(StrCat((*found)->name, " is an operand of ", users[0]->name));
    if ((*found)->parent->root == *found) return ArgumentError(StrCat((*found)->name, " is the root of ", (*found)->parent->name));
    if (IsParameter(**found)) return ArgumentError(StrCat((*found)->name, " is a parameter"));
    state_->Erase(**found);
    return Nothing();
  });
}

Result<Module> ModuleEditor::Finish() {
  internal::EditState& state = *state_;
  if (state.builder->module == nullptr) return ArgumentError("the edit is finished");
  for (const internal::BuilderState::Part& part : state.builder->parts)
    if (!part.is_finished) return ArgumentError(StrCat("computation ", part.computation->name, " is not finished"));
  return internal::Guarded([&]() -> Result<Module> {
    state.builder->module = nullptr;
    internal::Module& module = state.module();
    state.RemoveUnusedAfterEdit();
    if (!state.changed.empty()) RemoveUncalled(module);
    for (internal::Computation* computation : state.changed) SortTopologically(*computation);
    if (!state.changed.empty()) OrderInstructions(module);
    state.working->edit = nullptr;
    if (state.working->Verified().errors() > 0) {
      internal::Diags diags;
      for (internal::Diag diag : state.working->Verified().found()) {
        diag.message = StrCat("after the edit: ", diag.message);
        diags.Add(std::move(diag));
      }
      return internal::MakeError({std::move(diags), state.working->file.path, state.working->text()});
    }
    return Module(state.working);
  });
}

}  // namespace shoal::inline v0_1
