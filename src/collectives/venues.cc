// Where collectives meet: rooms, and the groups and routes that lead there.
#include "base/strings.h"
#include "collectives/meeting.h"
#include "ops/attrs.h"

namespace shoal {
namespace {

constexpr int64_t kNoChannel = -1;

int64_t ChannelOf(const Instruction& hlo) { return hlo.has(kChannelId) ? hlo[kChannelId] : kNoChannel; }

// What `make` gives for an instruction, made once; both threads of a tie get the first one's.
template <class T, class Make>
Result<const T*> Known(const Instruction& hlo, std::shared_mutex& mutex,
                       std::unordered_map<const Instruction*, std::unique_ptr<T>>& known, Make make) {
  {
    std::shared_lock lock(mutex);
    if (auto it = known.find(&hlo); it != known.end()) return it->second.get();
  }
  Result<std::unique_ptr<T>> made = make();
  if (!made.ok()) return std::move(made.diag());
  std::unique_lock lock(mutex);
  return known.emplace(&hlo, std::move(*made)).first->second.get();
}

}  // namespace

Room* World::RoomAt(const Place& place) {
  std::lock_guard lock(mutex_);
  std::unique_ptr<Room>& room = rooms_[place];
  if (room == nullptr) room = std::make_unique<Room>(place.members, place.transfer);
  return room.get();
}

std::unique_ptr<Venue> World::MakeVenue(const Instruction& hlo, std::vector<DeviceGroup> groups) {
  auto venue = std::make_unique<Venue>();
  venue->seats.resize(devices_.size());
  for (size_t g = 0; g < groups.size(); ++g) {
    for (size_t i = 0; i < groups[g].size(); ++i)
      venue->seats[static_cast<size_t>(groups[g][i])] = {static_cast<int64_t>(g), static_cast<int64_t>(i)};
    venue->rooms.push_back(RoomAt({KindOf(hlo.opcode), ChannelOf(hlo), /*transfer=*/false, groups[g]}));
  }
  venue->groups = std::move(groups);
  return venue;
}

Result<const Venue*> World::VenueOf(const Instruction& hlo) {
  return Known(hlo, known_mutex_, venues_, [&]() -> Result<std::unique_ptr<Venue>> {
    SHOAL_ASSIGN(groups, DeviceGroupsOf(hlo, grid_));
    return MakeVenue(hlo, std::move(groups));
  });
}

Result<const Venue*> World::VenueOfPartitions(const Instruction& hlo) {
  return Known(hlo, known_mutex_, venues_, [&]() -> Result<std::unique_ptr<Venue>> {
    std::vector<DeviceGroup> groups(static_cast<size_t>(grid_.replicas));
    for (int64_t device = 0; device < grid_.count(); ++device)
      groups[static_cast<size_t>(grid_.ReplicaOf(device))].push_back(device);
    return MakeVenue(hlo, std::move(groups));
  });
}

Result<const Routes*> World::RoutesOf(const Instruction& hlo) {
  return Known(hlo, known_mutex_, routes_, [&]() -> Result<std::unique_ptr<Routes>> {
    SHOAL_ASSIGN(pairs, DevicePairsOf(hlo, grid_));
    if (!NamesPairs(hlo))
      for (int64_t device = 0; device < grid_.count(); ++device) pairs.emplace_back(device, device);
    auto routes = std::make_unique<Routes>();
    routes->from.resize(devices_.size());
    routes->to.resize(devices_.size());
    std::vector<int64_t> sources(devices_.size()), targets(devices_.size());
    for (auto [source, target] : pairs) {
      Room* room = RoomAt({KindOf(hlo.opcode), ChannelOf(hlo), /*transfer=*/true, {source, target}});
      routes->all.push_back(
          {source, target, sources[static_cast<size_t>(source)]++, targets[static_cast<size_t>(target)]++, room});
    }
    for (const Route& route : routes->all) {
      routes->from[static_cast<size_t>(route.source)].push_back(&route);
      routes->to[static_cast<size_t>(route.target)].push_back(&route);
    }
    return routes;
  });
}

}  // namespace shoal
