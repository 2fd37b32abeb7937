#include "execute/data/leaves.h"

#include "core/base/strings.h"
#include "core/ir/module_shardings.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"
#include "execute/data/shards.h"

namespace shoal::internal {
namespace {

void AppendLeavesOf(const Instruction& hlo, int64_t parameter, const Shape& shape, ShapeIndex& index,
                    std::vector<Leaf>& leaves) {
  if (!shape.IsTuple()) {
    const Shape& array = ArrayIn(shape);
    return leaves.push_back({std::ssize(leaves), &hlo, parameter, index, &array, nullptr, false});
  }
  index.push_back(0);
  for (const Shape* element : shape.elements()) {
    AppendLeavesOf(hlo, parameter, *element, index, leaves);
    ++index.back();
  }
  index.pop_back();
}

void AppendLeavesOf(const Instruction& hlo, int64_t parameter, std::vector<Leaf>& leaves) {
  const size_t first = leaves.size();
  ShapeIndex index;
  AppendLeavesOf(hlo, parameter, hlo.shape(), index, leaves);
  const Sharding* sharding = EntrySharding(hlo);
  const std::span<const bool> replication = hlo[kParameterReplication];
  for (size_t i = first; i < leaves.size(); ++i) {
    leaves[i].sharding = LeafSharding(sharding, static_cast<int64_t>(i - first));
    leaves[i].replicated = i - first < replication.size() && replication[i - first];
  }
}

}  // namespace

std::vector<Leaf> ParameterLeaves(const Module& module) {
  std::vector<Leaf> leaves;
  const auto& parameters = module.entry->parameters;
  for (size_t i = 0; i < parameters.size(); ++i) AppendLeavesOf(*parameters[i], static_cast<int64_t>(i), leaves);
  return leaves;
}

std::vector<Leaf> ResultLeaves(const Module& module) {
  const Instruction& root = *module.entry->root;
  std::vector<Leaf> leaves;
  AppendLeavesOf(root, 0, leaves);
  // A tuple often has no sharding, while its operands do.
  if (IsTuple(root) && EntrySharding(root) == nullptr) {
    for (Leaf& leaf : leaves)
      if (leaf.index.size() == 1) leaf.sharding = (*root.operands[static_cast<size_t>(leaf.index[0])])[kSharding];
  }
  return leaves;
}

std::string DescribeInput(const Leaf& leaf) {
  const std::string parameter = StrCat("parameter ", leaf.parameter, " (", leaf.hlo->name, ")");
  return leaf.index.empty() ? parameter : StrCat("element ", ToString(leaf.index), " of ", parameter);
}

}  // namespace shoal::internal
