#include "execute/data/replicas.h"

#include <cstring>
#include <map>

#include "execute/data/shards.h"

namespace shoal::internal {
namespace {

const Array* ArrayOf(const Value& argument, const ShapeIndex& index) {
  const Value* at = &argument;
  for (int64_t i : index) {
    if (!at->IsTuple() || i >= std::ssize(at->elements())) return nullptr;
    at = &at->elements()[static_cast<size_t>(i)];
  }
  return at->IsArray() ? &at->array() : nullptr;
}

bool IsEqual(const Array& a, const Array& b) {
  if (a.data() == b.data()) return true;
  const auto bytes = static_cast<size_t>(a.count() * a.element_bytes());
  return a.count() == b.count() && a.type() == b.type() && std::memcmp(a.data(), b.data(), bytes) == 0;
}

}  // namespace

std::vector<std::string> DifferingReplicas(const Module& module, const DeviceGrid& grid, const Arguments& arguments) {
  std::vector<std::string> differing;
  for (const Leaf& leaf : ParameterLeaves(module)) {
    if (leaf.sharding == nullptr || !leaf.shape->IsArray()) continue;
    const std::optional<ShardGrid> shards = ShardGridOf(*leaf.sharding, leaf.shape->rank(), grid.partitions);
    if (!shards) continue;
    std::map<std::pair<int64_t, Dims>, const Array*> first;  // by replica and shard
    for (int64_t device = 0; device < grid.count() && device < std::ssize(arguments); ++device) {
      const auto& own = arguments[static_cast<size_t>(device)];
      if (leaf.parameter >= std::ssize(own)) continue;
      const Array* array = ArrayOf(own[static_cast<size_t>(leaf.parameter)], leaf.index);
      if (array == nullptr) continue;
      const int64_t replica = leaf.replicated ? 0 : grid.ReplicaOf(device);
      const auto [known, inserted] =
          first.try_emplace({replica, shards->positions[static_cast<size_t>(grid.PartitionOf(device))]}, array);
      if (inserted || IsEqual(*known->second, *array)) continue;
      differing.push_back(DescribeInput(leaf));
      break;
    }
  }
  return differing;
}

}  // namespace shoal::internal
