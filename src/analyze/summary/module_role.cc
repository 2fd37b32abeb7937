#include "analyze/summary/module_role.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/container/flat_hash_map.h"
#include "analyze/cost/cost.h"
#include "analyze/facts/source_lines.h"
#include "analyze/summary/work_kind.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

constexpr int kMaxDepth = 2000;

bool IsBackwardName(const Metadata& metadata) {
  constexpr std::string_view kNames[] = {"transpose(jvp(", "gradients/", "gradient_tape/"};
  return metadata.op_type.find("_backward") != std::string_view::npos ||
         std::any_of(std::begin(kNames), std::end(kNames),
                     [&](std::string_view name) { return metadata.op_name.find(name) != std::string_view::npos; });
}

// The parameters from which a value is computed element by element, possibly at other indices: the old weight and the
// gradient of an update. A fusion of several updates concatenates the weights and slices the result.
class ElementwiseSources {
 public:
  using Parameters = std::set<int64_t>;

  // `element`: of a tuple; -1 for the value itself.
  const Parameters& Of(const Instruction& hlo, int64_t element, int depth = 0) {
    auto [found, inserted] = known_.try_emplace({&hlo, element});
    if (!inserted || depth > kMaxDepth) return found->second;
    Parameters all = Compute(hlo, element, depth + 1);
    return known_[{&hlo, element}] = std::move(all);
  }

 private:
  Parameters Compute(const Instruction& hlo, int64_t element, int depth) {
    if (IsParameter(hlo)) return element < 0 ? Parameters{hlo[kParameterNumber]} : Parameters{};
    // An invalid module has tuples that are too short.
    if (IsTuple(hlo))
      return element < 0 || element >= std::ssize(hlo.operands) ? Parameters{} : Of(*hlo.operands[static_cast<size_t>(element)], -1, depth);
    if (IsGetTupleElement(hlo)) return element < 0 && !hlo.operands.empty() ? Of(*hlo.operands[0], ElementIndexOf(hlo), depth) : Parameters{};
    if (const Computation* callee = CalleeRunOnce(hlo); callee != nullptr && callee->root != nullptr) {
      Parameters all;
      for (int64_t number : Of(*callee->root, element, depth))
        if (const Instruction* argument = ArgumentOf(hlo, *callee, number)) all.merge(Parameters(Of(*argument, -1, depth)));
      return all;
    }
    constexpr Forwarding kForm = Forwarding::kSame | Forwarding::kBitcast | Forwarding::kReshaped | Forwarding::kCopied | Forwarding::kConverted;
    Parameters all;
    if (IsElementwise(hlo) || Info(hlo.opcode).op_class == OpClass::kIndexMap || Has(kForm, ForwardingOf(hlo)))
      for (const Instruction* operand : hlo.operands) all.merge(Parameters(Of(*operand, element, depth)));
    return all;
  }

  std::map<std::pair<const Instruction*, int64_t>, Parameters> known_;
};

struct Updates {
  int64_t with_inputs = 0;  // results computed from a parameter of their shape and another input
  std::set<int64_t> parameters;
};

Updates UpdatesIn(const Computation& entry) {
  Updates updates;
  const Shape& result = entry.result_shape();
  const size_t count = result.IsTuple() ? result.elements().size() : 1;
  ElementwiseSources sources;
  for (size_t i = 0; i < count; ++i) {
    const Shape& shape = result.IsTuple() ? result.element(i) : result;
    if (!shape.IsArray() || shape.rank() == 0 || !IsFloat(shape.element_type())) continue;
    const std::set<int64_t>& from = sources.Of(*entry.root, result.IsTuple() ? static_cast<int64_t>(i) : -1);
    int64_t same_shape = 0;
    for (int64_t number : from) {
      const bool exists = number >= 0 && number < std::ssize(entry.parameters) && entry.parameters[static_cast<size_t>(number)] != nullptr;
      if (!exists || &entry.parameters[static_cast<size_t>(number)]->shape().bare() != &shape.bare()) continue;
      ++same_shape;
      updates.parameters.insert(number);
    }
    updates.with_inputs += same_shape > 1;
  }
  return updates;
}

// The parameters that are operands of products: weights and activations.
std::set<int64_t> ProductParameters(const Module& module) {
  constexpr Forwarding kForm = Forwarding::kSame | Forwarding::kBitcast | Forwarding::kReshaped |
                               Forwarding::kRearranged | Forwarding::kCopied | Forwarding::kConverted;
  std::set<int64_t> all;
  for (const Instruction* hlo : module.entry->instructions)
    if (IsMatrixProduct(*hlo))
      for (const Instruction* operand : hlo->operands)
        if (const Instruction* value = DefiningValue({operand, {}}, kForm).hlo; IsParameter(*value)) all.insert((*value)[kParameterNumber]);
  return all;
}

}  // namespace

std::string_view ToString(ModuleRole role) {
  static constexpr std::string_view kNames[] = {"", "forward", "gradient", "train step", "optimizer"};
  return kNames[static_cast<size_t>(role)];
}

ModuleRole RoleOf(const ModuleFacts& facts) {
  const Module& module = facts.module();
  if (module.entry == nullptr || module.entry->root == nullptr) return ModuleRole::kUnknown;
  bool has_products = false, has_backward = false;
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions) {
      has_products = has_products || IsMatrixProduct(*hlo);
      if (const Metadata* metadata = (*hlo)[kMetadata]) has_backward |= IsBackwardName(*metadata);
    }
  const Updates updates = UpdatesIn(*module.entry);
  const bool updates_several = updates.parameters.size() > 1;
  if (has_backward) return updates.parameters.empty() ? ModuleRole::kGradient : ModuleRole::kTrainStep;
  if (!has_products) return updates.with_inputs > 1 ? ModuleRole::kOptimizer : ModuleRole::kUnknown;
  if (!updates_several) return ModuleRole::kForward;
  const std::set<int64_t> used = ProductParameters(module);
  const auto updated = std::ranges::count_if(used, [&](int64_t number) { return updates.parameters.contains(number); });
  return updated > 0 && 2 * updated >= std::ssize(used) ? ModuleRole::kTrainStep : ModuleRole::kForward;
}

std::string MainLineOf(const ModuleFacts& facts) {
  std::map<std::string, std::pair<double, double>> costs;
  for (const InstructionCost& cost : facts.cost().instructions) {
    if (facts.sources().ForwardOf(*cost.hlo) != nullptr) continue;
    std::string line = facts.sources().Of(*cost.hlo);
    if (line.empty()) continue;
    auto& [flops, bytes] = costs[std::move(line)];
    flops += cost.once.flops * cost.times;
    bytes += cost.once.bytes() * cost.times;
  }
  const auto largest = std::ranges::max_element(costs, {}, [](const auto& line) { return line.second; });
  return largest == costs.end() ? "" : largest->first;
}

}  // namespace shoal::internal
