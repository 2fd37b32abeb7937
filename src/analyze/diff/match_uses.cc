#include "analyze/diff/match_uses.h"

#include "core/ops/families.h"
#include "core/ops/traits.h"

namespace shoal::internal {

ValueUses::ValueUses(const DataFlow& flow) {
  const InstructionIds& ids = flow.ids();
  auto for_each = [&](auto visit) {
    for (uint32_t user = 0; user < ids.size(); ++user) {
      if (flow.ForwardingOf(user)) continue;
      for (size_t i = 0; i < ids[user].operand_count(); ++i) visit(flow.SourceOf(ids(*ids[user].operands[i])), user, i);
    }
  };
  starts_.assign(ids.size() + 1, 0);
  for_each([&](const ValueRef& source, uint32_t, size_t) { ++starts_[ids(*source.hlo) + 1]; });
  for (size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
  all_.resize(starts_.back());
  std::vector<size_t> next = starts_;
  for_each([&](const ValueRef& source, uint32_t user, size_t operand) {
    uint64_t slot = IsTuple(ids[user]) ? 0 : operand + 1;
    for (int64_t element : source.path) slot = Mix(slot, static_cast<uint64_t>(element));
    all_[next[ids(*source.hlo)]++] = {user, slot};
  });
}

}  // namespace shoal::internal
