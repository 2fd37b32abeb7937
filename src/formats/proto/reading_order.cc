// Sorts the parts of a message for reading: operands before users, callees before callers. XLA writes this order and
// rejects any other. If not strict, shoal accepts any order.

#include "core/base/strings.h"
#include "formats/proto/module_reader.h"

namespace shoal::internal {
namespace {

// Returns the nodes 0 … count - 1, each after the nodes that next(node) lists, otherwise in ascending order. Nodes of a
// cycle are placed where the search reaches them; reading them then reports an error.
template <class Next>
std::vector<size_t> DependenciesFirst(size_t count, Next next) {
  std::vector<bool> open(count), done(count);
  std::vector<size_t> order, stack;
  order.reserve(count);
  for (size_t start = 0; start < count; ++start) {
    stack.push_back(start);
    while (!stack.empty()) {
      const size_t node = stack.back();
      if (open[node] || done[node]) {
        if (!done[node]) order.push_back(node);
        done[node] = true;
        stack.pop_back();
        continue;
      }
      open[node] = true;
      const std::vector<size_t> before = next(node);
      for (size_t i = before.size(); i-- > 0;)
        if (!open[before[i]]) stack.push_back(before[i]);
    }
  }
  return order;
}

template <class Part>
bool ApplyOrder(const std::vector<size_t>& order, std::vector<Part*>& parts) {
  std::vector<Part*> moved;
  moved.reserve(order.size());
  for (size_t index : order) moved.push_back(parts[index]);
  const bool same = moved == parts;
  parts = std::move(moved);
  return same;
}

}  // namespace

std::vector<proto::HloComputationProto*> ModuleReader::CalleesFirst(proto::HloModuleProto& from) {
  std::vector<proto::HloComputationProto*> parts;
  for (proto::HloComputationProto& part : *from.mutable_computations()) parts.push_back(&part);
  if (strict_) return parts;
  absl::flat_hash_map<int64_t, size_t> indices;
  for (size_t i = 0; i < parts.size(); ++i) indices.emplace(parts[i]->id(), i);
  auto called = [&](size_t i) {
    std::vector<size_t> before;
    for (const proto::HloInstructionProto& instruction : parts[i]->instructions())
      for (int64_t id : instruction.called_computation_ids())
        if (auto found = indices.find(id); found != indices.end()) before.push_back(found->second);
    return before;
  };
  if (!ApplyOrder(DependenciesFirst(parts.size(), called), parts))
    TolerateDeviation("loose.order", "a computation comes after its caller; XLA requires callees first");
  return parts;
}

std::vector<proto::HloInstructionProto*> ModuleReader::OperandsFirst(proto::HloComputationProto& from) {
  std::vector<proto::HloInstructionProto*> parts;
  for (proto::HloInstructionProto& part : *from.mutable_instructions()) parts.push_back(&part);
  if (strict_) return parts;
  absl::flat_hash_map<uint32_t, size_t> indices;
  for (size_t i = 0; i < parts.size(); ++i) indices.emplace(LocalId(parts[i]->id()), i);
  auto needed = [&](size_t i) {
    std::vector<size_t> before;
    for (const auto* ids : {&parts[i]->operand_ids(), &parts[i]->control_predecessor_ids()})
      for (int64_t id : *ids)
        if (auto found = indices.find(LocalId(id)); found != indices.end()) before.push_back(found->second);
    return before;
  };
  if (!ApplyOrder(DependenciesFirst(parts.size(), needed), parts))
    TolerateDeviation("loose.order", "an instruction comes after its user; XLA requires operands first");
  return parts;
}

}  // namespace shoal::internal
