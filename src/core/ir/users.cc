#include "core/ir/users.h"

#include <utility>

namespace shoal::internal {
namespace {

// Calls visit(operand, user) once for each pair.
template <class Visit>
void ForEachUse(const Computation& computation, Visit visit) {
  std::vector<const Instruction*> last_user(computation.instructions.size(), nullptr);
  for (const Instruction* user : computation.instructions)
    for (const Instruction* operand : user->operands) {
      // Loose text may refer to an instruction of another computation.
      if (operand->parent != &computation || operand->index >= last_user.size()) continue;
      if (std::exchange(last_user[operand->index], user) != user) visit(*operand, *user);
    }
}

}  // namespace

const Users::Lists& Users::ListsOf(const Computation& computation) {
  auto [found, inserted] = lists_.try_emplace(&computation);
  Lists& lists = found->second;
  if (!inserted) return lists;
  lists.starts.assign(computation.instructions.size() + 1, 0);
  ForEachUse(computation, [&](const Instruction& hlo, const Instruction&) { ++lists.starts[hlo.index + 1]; });
  for (size_t i = 1; i < lists.starts.size(); ++i) lists.starts[i] += lists.starts[i - 1];
  lists.all.resize(lists.starts.back());
  std::vector<uint32_t> next = lists.starts;
  ForEachUse(computation,
             [&](const Instruction& hlo, const Instruction& user) { lists.all[next[hlo.index]++] = &user; });
  return lists;
}

std::span<const Instruction* const> Users::Of(const Instruction& hlo) {
  const Lists& lists = ListsOf(*hlo.parent);
  return std::span(lists.all).subspan(lists.starts[hlo.index], lists.starts[hlo.index + 1] - lists.starts[hlo.index]);
}

}  // namespace shoal::internal
