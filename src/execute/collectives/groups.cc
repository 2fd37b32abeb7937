// Computes the groups and routes of collectives, and creates their rendezvous.
#include <set>

#include "core/ops/attrs.h"
#include "core/ops/collective_kinds.h"
#include "execute/collectives/process_link.h"
#include "execute/collectives/rendezvous.h"

namespace shoal::internal {
namespace {

constexpr int64_t kNoChannel = -1;
// Limit on the number of MPI communicators.
constexpr size_t kMaxGroups = 500;

int64_t ChannelOf(const Instruction& hlo) { return hlo.has(kChannelId) ? hlo[kChannelId] : kNoChannel; }

// Returns the instruction's entry in `cache`, computed once by `make`. Concurrent callers get the entry stored first.
template <class T, class Make>
Result<const T*> FindOrMake(const Instruction& hlo, std::shared_mutex& mutex,
                            std::unordered_map<const Instruction*, std::unique_ptr<T>>& cache, Make make) {
  {
    std::shared_lock lock(mutex);
    if (auto it = cache.find(&hlo); it != cache.end()) return it->second.get();
  }
  Result<std::unique_ptr<T>> value = make();
  if (!value.ok()) return std::move(value.diag());
  std::unique_lock lock(mutex);
  return cache.emplace(&hlo, std::move(*value)).first->second.get();
}

}  // namespace

// The hash of a key: identical in every process, and different for different keys.
uint64_t CollectiveRuntime::HashOf(const RendezvousKey& key) {
  uint64_t hash = 0xcbf29ce484222325u;
  auto add = [&](int64_t number) {
    hash = (hash ^ static_cast<uint64_t>(number)) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  };
  add(static_cast<int64_t>(key.kind));
  add(key.channel);
  add(key.transfer ? 1 : 0);
  for (int64_t member : key.members) add(member);
  return hash;
}

Rendezvous* CollectiveRuntime::FindOrCreateRendezvous(const RendezvousKey& key) {
  std::lock_guard lock(mutex_);
  std::unique_ptr<Rendezvous>& rendezvous = rendezvous_[key];
  if (rendezvous != nullptr) return rendezvous.get();
  rendezvous = std::make_unique<Rendezvous>(key.members, key.transfer);
  if (link_ == nullptr) return rendezvous.get();
  rendezvous->layout = link_->LayoutOf(key.members);
  rendezvous->hash = HashOf(key);
  if (const GroupLayout* layout = rendezvous->layout.get())
    rendezvous->local_count = layout->self == SIZE_MAX ? 0 : layout->local().size();
  return rendezvous.get();
}

std::unique_ptr<Groups> CollectiveRuntime::MakeGroups(const Instruction& hlo, std::vector<DeviceGroup> all) {
  auto groups = std::make_unique<Groups>();
  groups->members.resize(devices_.size());
  for (size_t g = 0; g < all.size(); ++g) {
    for (size_t i = 0; i < all[g].size(); ++i)
      groups->members[static_cast<size_t>(all[g][i])] = {static_cast<int64_t>(g), static_cast<int64_t>(i)};
    groups->rendezvous.push_back(
        FindOrCreateRendezvous({KindOf(hlo.opcode), ChannelOf(hlo), /*transfer=*/false, all[g]}));
  }
  groups->all = std::move(all);
  return groups;
}

Result<const Groups*> CollectiveRuntime::GroupsOf(const Instruction& hlo) {
  return FindOrMake(hlo, groups_mutex_, groups_, [&]() -> Result<std::unique_ptr<Groups>> {
    SHOAL_ASSIGN(groups, DeviceGroupsOf(hlo, grid_));
    return MakeGroups(hlo, std::move(groups));
  });
}

Result<const Groups*> CollectiveRuntime::PartitionGroupsOf(const Instruction& hlo) {
  return FindOrMake(hlo, groups_mutex_, groups_, [&]() -> Result<std::unique_ptr<Groups>> {
    std::vector<DeviceGroup> groups(static_cast<size_t>(grid_.replicas));
    for (int64_t device = 0; device < grid_.count(); ++device)
      groups[static_cast<size_t>(grid_.ReplicaOf(device))].push_back(device);
    return MakeGroups(hlo, std::move(groups));
  });
}

Result<const Routes*> CollectiveRuntime::RoutesOf(const Instruction& hlo) {
  return FindOrMake(hlo, groups_mutex_, routes_, [&]() -> Result<std::unique_ptr<Routes>> {
    SHOAL_ASSIGN(pairs, DevicePairsOf(hlo, grid_));
    if (!HasSourceTargetPairs(hlo))
      for (int64_t device = 0; device < grid_.count(); ++device) pairs.emplace_back(device, device);
    auto routes = std::make_unique<Routes>();
    routes->from.resize(devices_.size());
    routes->to.resize(devices_.size());
    std::vector<int64_t> sources(devices_.size()), targets(devices_.size());
    for (auto [source, target] : pairs) {
      Rendezvous* rendezvous =
          FindOrCreateRendezvous({KindOf(hlo.opcode), ChannelOf(hlo), /*transfer=*/true, {source, target}});
      routes->all.push_back(
          {source, target, sources[static_cast<size_t>(source)]++, targets[static_cast<size_t>(target)]++, rendezvous});
    }
    for (const Route& route : routes->all) {
      routes->from[static_cast<size_t>(route.source)].push_back(&route);
      routes->to[static_cast<size_t>(route.target)].push_back(&route);
    }
    return routes;
  });
}

// Creates the transport's groups for the rendezvous of all-reduces. All processes must do so together, before the run.
void ProcessLink::MakeGroups() {
  std::vector<const Rendezvous*> all;
  for (const Instruction* hlo : instructions_) {
    if (!IsAllReduce(*hlo)) continue;
    const Result<const Groups*> groups = runtime_->GroupsOf(*hlo);
    if (!groups.ok()) continue;  // reported when a device reaches the instruction
    for (const Rendezvous* each : (*groups)->rendezvous)
      if (each->members.size() > 1) all.push_back(each);
  }
  std::set<uint64_t> hashes;
  for (const Rendezvous* each : all) hashes.insert(each->hash);
  // MPI supports few groups. If there are more, shoal itself reduces in rank order.
  job_.fast_reduction = hashes.size() <= kMaxGroups;
  if (!job_.fast_reduction) return;
  for (const Rendezvous* each : all)
    if (each->layout != nullptr && each->layout->ranks.size() > 1)
      groups_[each->hash] = job_.FindOrMakeGroup(each->hash, each->layout->ranks);
}

}  // namespace shoal::internal
