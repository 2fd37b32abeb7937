#include "api/cpp/module_state.h"

#include <algorithm>

#include "api/cpp/edit_state.h"
#include "core/verify/verify.h"

namespace shoal::internal {

const Diags& ModuleState::Verified() const {
  std::call_once(is_verified_, [this] { Verify(*file.module, verified_); });
  return verified_;
}

std::vector<const Instruction*> ModuleState::UsersOf(const Instruction& hlo) const {
  if (edit != nullptr) return edit->UsersOf(hlo);
  const auto copied = [&](Users& table) -> std::vector<const Instruction*> {
    const auto users = table.Of(hlo);
    return {users.begin(), users.end()};
  };
  // Instructions of a transformed copy are not cached here, since the copy may be destroyed first.
  if (std::ranges::find(module().computations, hlo.parent) == module().computations.end()) {
    Users table;
    return copied(table);
  }
  std::lock_guard lock(users_mutex_);
  return copied(users_);
}

const Instruction* ModuleState::Find(std::string_view name) const {
  std::call_once(has_names_, [this] {
    for (const Computation* computation : module().computations)
      for (const Instruction* hlo : computation->instructions) names_.try_emplace(hlo->name, hlo);
  });
  const auto found = names_.find(name);
  return found == names_.end() ? nullptr : found->second;
}

std::string ModuleState::SourceOf(const Instruction& hlo) const {
  if (edit != nullptr) return SourceLocationOf(hlo, module(), own_packages);  // the instructions still change
  return sources_.Get([&] { return SourceLines(module(), own_packages); }).Of(hlo);
}

shoal::Result<ModuleHandle> RunnableModule(const ModuleHandle& given) {
  ModuleHandle module = given;
  if (!given->strict && !given->file.diags.found().empty()) {
    const Source& text = *given->module().source;
    ModuleFile file = ReadModuleSource(Source::FromString(text.name(), std::string(text.text())),
                                       {.strict = true, .collects_deviations = true});
    file.path = given->file.path;
    if (file.module == nullptr || file.diags.errors() > 0) return MakeError(std::move(file));
    module = std::make_shared<const ModuleState>(std::move(file), /*strict=*/true, given->own_packages);
  }
  return VerifiedModule(std::move(module));
}

shoal::Result<ModuleHandle> VerifiedModule(ModuleHandle module) {
  if (module->Verified().errors() > 0) return module->InvalidModuleError();
  return module;
}

Error ModuleState::InvalidModuleError() const {
  LocatedDiags all = ReaderDiags();
  const Diags verified = WithStacks(Verified(), module(), own_packages);
  for (const Diag& diag : verified.found()) all.diags.Add(diag);
  return internal::MakeError(std::move(all));
}

LocatedDiags Located(ModuleFile file) {
  std::shared_ptr<const Source> text = std::move(file.source);
  if (file.module != nullptr) text = {file.module, file.module->source.get()};
  return {std::move(file.diags), std::move(file.path), std::move(text)};
}

Error MakeError(ModuleFile file) { return MakeError(Located(std::move(file))); }

Error NoModuleError() { return ArgumentError("the module is empty"); }

}  // namespace shoal::internal
