// What a handle to a module shares.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyze/facts/source_lines.h"
#include "api/cpp/diag_stack.h"
#include "api/cpp/error_state.h"
#include "core/base/lazy.h"
#include "core/ir/users.h"
#include "formats/files/module_file.h"
#include "shoal/module.h"

namespace shoal::internal {

struct EditState;

// Its functions may be called from several threads. What they compute is computed once.
struct ModuleState : std::enable_shared_from_this<ModuleState> {
  explicit ModuleState(ModuleFile file, bool strict, std::vector<std::string> own_packages = {})
      : file(std::move(file)), strict(strict), own_packages(std::move(own_packages)) {}

  const Module& module() const { return *file.module; }
  // The diagnostics of the verifier.
  const Diags& Verified() const;
  std::vector<const Instruction*> UsersOf(const Instruction& hlo) const;
  const Instruction* Find(std::string_view name) const;
  // The source line, see SourceLines::Of.
  std::string SourceOf(const Instruction& hlo) const;
  // As messages name it: "<stdin>" rather than "-".
  const std::string& name() const { return module().source == nullptr ? file.path : module().source->name(); }
  std::shared_ptr<const Source> text() const { return {shared_from_this(), module().source.get()}; }
  Error MakeError(const Diag& diag) const { return internal::MakeError(WithStack(diag, module(), own_packages), file.path, text()); }
  // Deviations from XLA's grammar.
  LocatedDiags ReaderDiags() const { return {file.diags, file.path, text()}; }
  // The deviations and the broken rules.
  Error InvalidModuleError() const;

  ModuleFile file;
  const bool strict;                               // read strictly, so that it has no deviation
  const std::vector<std::string> own_packages;  // see IsInstalledFile
  std::shared_ptr<const ModuleState> original;  // a transformed module shares the names of its original
  const EditState* edit = nullptr;                 // set while the module is edited

 private:
  mutable std::once_flag is_verified_, has_names_;
  mutable Diags verified_;
  mutable std::unordered_map<std::string_view, const Instruction*> names_;
  Lazy<SourceLines> sources_;
  mutable std::mutex users_mutex_;
  mutable Users users_;
};

using ModuleHandle = std::shared_ptr<const ModuleState>;

// The module, verified. A module that was read leniently is read again strictly if it has deviations.
shoal::Result<ModuleHandle> RunnableModule(const ModuleHandle& module);

// The module if it is valid.
shoal::Result<ModuleHandle> VerifiedModule(ModuleHandle module);
// The diagnostics of a file, with its text.
LocatedDiags Located(ModuleFile file);
// The error for a file that could not be read, or whose diagnostics have an error.
Error MakeError(ModuleFile file);
// The error for an empty module.
Error NoModuleError();

}  // namespace shoal::internal
