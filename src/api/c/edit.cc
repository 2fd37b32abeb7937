#include "api/c/handles.h"
#include "shoal/edit.h"

struct shoal_edit {
  shoal::ModuleEditor value;
};

namespace shoal::internal {
namespace {

shoal::Result<shoal::Instruction> Named(const shoal_edit& edit, const char* name) {
  if (name == nullptr) return ArgumentError("the name of an instruction must not be null");
  const std::optional<shoal::Instruction> found = edit.value.Find(name);
  if (!found) return ArgumentError(StrCat("there is no instruction ", name));
  return *found;
}

// Calls body(instruction), which returns a Status.
template <class Body>
shoal_error* Change(shoal_edit* edit, const char* name, Body body) {
  if (edit == nullptr) return Null("the edit");
  return GuardedC([&]() -> shoal_error* {
    const shoal::Result<shoal::Instruction> hlo = Named(*edit, name);
    if (!hlo.ok()) return MakeCError(hlo.error());
    const shoal::Status done = body(*hlo);
    return done.ok() ? nullptr : MakeCError(done.error());
  });
}

template <class Use>
shoal::Status WithBoth(shoal_edit* edit, const char* other, Use use) {
  const shoal::Result<shoal::Instruction> found = Named(*edit, other);
  return found.ok() ? use(*found) : shoal::Status(found.error());
}

}  // namespace
}  // namespace shoal::internal

using namespace shoal::internal;  // the functions below are C

extern "C" {

shoal_error* shoal_edit_new(const shoal_module* module, shoal_edit** out) {
  if (module == nullptr || out == nullptr) return Null("the module and out");
  return GuardedC([&]() -> shoal_error* {
    auto editor = shoal::ModuleEditor::Of(module->value);
    if (!editor.ok()) return MakeCError(editor.error());
    *out = new shoal_edit{std::move(*editor)};
    return nullptr;
  });
}

shoal_error* shoal_edit_add(shoal_edit* edit, const shoal_edit_instruction* given, shoal_string** out) {
  if (edit == nullptr || given == nullptr || out == nullptr) return Null("the edit, the instruction and out");
  return GuardedC([&]() -> shoal_error* {
    shoal_edit_instruction wanted;
    SHOAL_C_TRY(ReadStruct(given, wanted));
    if (wanted.opcode == nullptr) return Null("the opcode");
    std::vector<std::string> names;
    SHOAL_C_TRY(ReadStrings(wanted.operands, wanted.operand_count, names));
    std::vector<shoal::Instruction> operands;
    for (const std::string& name : names) {
      const auto operand = Named(*edit, name.c_str());
      if (!operand.ok()) return MakeCError(operand.error());
      operands.push_back(*operand);
    }
    std::optional<shoal::Instruction> at;
    if (wanted.at != nullptr) {
      const auto found = Named(*edit, wanted.at);
      if (!found.ok()) return MakeCError(found.error());
      at = *found;
    }
    const auto added = edit->value.Add(wanted.opcode, operands, OrNothing(wanted.attributes), OrNothing(wanted.shape),
                                       OrNothing(wanted.name), at);
    return added.ok() ? Give(std::string(added->name()), out) : MakeCError(added.error());
  });
}

shoal_error* shoal_edit_constant(shoal_edit* edit, const char* shape, const char* value, const char* at, const char* name,
                                 shoal_string** out) {
  if (edit == nullptr || shape == nullptr || value == nullptr || out == nullptr)
    return Null("the edit, the shape, the value and out");
  return GuardedC([&]() -> shoal_error* {
    const auto origin = Named(*edit, at);
    if (!origin.ok()) return MakeCError(origin.error());
    const auto added = edit->value.Constant(shape, value, *origin, OrNothing(name));
    return added.ok() ? Give(std::string(added->name()), out) : MakeCError(added.error());
  });
}

shoal_error* shoal_edit_replace(shoal_edit* edit, const char* hlo, const char* replacement) {
  return Change(edit, hlo, [&](const shoal::Instruction& old) {
    return WithBoth(edit, replacement, [&](const shoal::Instruction& value) { return edit->value.Replace(old, value); });
  });
}

shoal_error* shoal_edit_set_operand(shoal_edit* edit, const char* hlo, int64_t index, const char* operand) {
  return Change(edit, hlo, [&](const shoal::Instruction& user) {
    return WithBoth(edit, operand, [&](const shoal::Instruction& value) { return edit->value.SetOperand(user, index, value); });
  });
}

shoal_error* shoal_edit_set_attributes(shoal_edit* edit, const char* hlo, const char* attributes) {
  return Change(edit, hlo, [&](const shoal::Instruction& one) { return edit->value.SetAttributes(one, OrNothing(attributes)); });
}

shoal_error* shoal_edit_set_root(shoal_edit* edit, const char* hlo) {
  return Change(edit, hlo, [&](const shoal::Instruction& root) { return edit->value.SetRoot(root); });
}

shoal_error* shoal_edit_remove(shoal_edit* edit, const char* hlo) {
  return Change(edit, hlo, [&](const shoal::Instruction& one) { return edit->value.Remove(one); });
}

shoal_error* shoal_edit_finish(shoal_edit* edit, shoal_module** out) {
  if (edit == nullptr || out == nullptr) return Null("the edit and out");
  return GuardedC([&]() -> shoal_error* {
    auto module = edit->value.Finish();
    if (!module.ok()) return MakeCError(module.error());
    *out = new shoal_module{std::move(*module)};
    return nullptr;
  });
}

void shoal_edit_free(shoal_edit* edit) { delete edit; }

}  // extern "C"
