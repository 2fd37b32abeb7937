#include "api/cpp/module_state.h"

#include "core/verify/verify.h"

namespace shoal::internal {

const Diags& ModuleState::Verified() const {
  std::call_once(is_verified_, [this] { Verify(*file.module, verified_); });
  return verified_;
}

std::vector<const Instruction*> ModuleState::UsersOf(const Instruction& hlo) const {
  std::lock_guard lock(users_mutex_);
  const auto users = users_.Of(hlo);
  return {users.begin(), users.end()};
}

const Instruction* ModuleState::Find(std::string_view name) const {
  std::call_once(has_names_, [this] {
    for (const Computation* computation : module().computations)
      for (const Instruction* hlo : computation->instructions) names_.try_emplace(hlo->name, hlo);
  });
  const auto found = names_.find(name);
  return found == names_.end() ? nullptr : found->second;
}

Error NoModuleError() { return ArgumentError("the module is empty"); }

}  // namespace shoal::internal
