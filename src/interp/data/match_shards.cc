#include "interp/data/match_shards.h"

#include <algorithm>
#include <map>

#include "base/strings.h"
#include "interp/data/compare.h"

namespace shoal {
namespace {

constexpr size_t kMostGrids = 5040;

std::vector<int64_t> PrimeFactors(int64_t n) {
  std::vector<int64_t> factors;
  for (int64_t p = 2; p * p <= n; ++p)
    for (; n % p == 0; n /= p) factors.push_back(p);
  if (n > 1) factors.push_back(n);
  return factors;
}

// A digit of a device's number: its base, and the dimension that it divides; -1: devices that differ in it hold the
// same.
struct Digit {
  int64_t base = 1;
  int dimension = -1;
  auto operator<=>(const Digit&) const = default;
};

// Digits from the most to the least significant.
ShardGrid GridOf(const std::vector<Digit>& digits, const Dims& tiles, int64_t devices) {
  ShardGrid grid{tiles, std::vector<Dims>(static_cast<size_t>(devices), Dims(tiles.size(), 0))};
  for (int64_t device = 0; device < devices; ++device) {
    int64_t weight = devices;
    Dims& position = grid.positions[static_cast<size_t>(device)];
    for (const Digit& digit : digits) {
      weight /= digit.base;
      const int64_t value = device / weight % digit.base;
      if (digit.dimension < 0) continue;
      int64_t& index = position[static_cast<size_t>(digit.dimension)];
      index = index * digit.base + value;
    }
  }
  return grid;
}

}  // namespace

std::vector<ShardGrid> PossibleShards(Ints whole, Ints shard, int64_t devices) {
  if (whole.size() != shard.size()) return {};
  Dims tiles;
  std::vector<Digit> digits;
  int64_t used = 1;
  for (size_t d = 0; d < whole.size(); ++d) {
    if (shard[d] == whole[d]) {
      tiles.push_back(1);
      continue;
    }
    if (shard[d] <= 0 || shard[d] > whole[d]) return {};
    tiles.push_back((whole[d] + shard[d] - 1) / shard[d]);
    // 10 over 4 devices is shards of 3; shards of 7 could only be of two, whose shards would be of 5.
    if ((whole[d] + tiles[d] - 1) / tiles[d] != shard[d] || devices % tiles[d] != 0) return {};
    used *= tiles[d];
    for (int64_t base : PrimeFactors(tiles[d])) digits.push_back({base, static_cast<int>(d)});
  }
  if (used > devices || devices % used != 0) return {};
  for (int64_t base : PrimeFactors(devices / used)) digits.push_back({base, -1});

  // Dimensions in order, then the copies, is how a tiled sharding numbers them; then every other order.
  std::vector<ShardGrid> grids{GridOf(digits, tiles, devices)};
  std::sort(digits.begin(), digits.end());
  do {
    ShardGrid grid = GridOf(digits, tiles, devices);
    if (grid.positions != grids[0].positions) grids.push_back(std::move(grid));
  } while (grids.size() < kMostGrids && std::next_permutation(digits.begin(), digits.end()));
  return grids;
}

bool Consistent(const ShardGrid& grid, std::span<const Array> shards) {
  std::map<std::vector<int64_t>, const Array*> boxes;
  for (size_t device = 0; device < shards.size(); ++device) {
    const Dims& position = grid.positions[device];
    const auto [box, is_new] = boxes.try_emplace({position.begin(), position.end()}, &shards[device]);
    if (!is_new && !Identical(*box->second, shards[device])) return false;
  }
  return true;
}

std::string DescribeShards(const ShardGrid& grid) {
  std::string text;
  for (size_t d = 0; d < grid.tiles.size(); ++d)
    if (grid.tiles[d] > 1) StrAppend(&text, text.empty() ? "" : ", ", "dimension ", d, " in ", grid.tiles[d], " parts");
  return text.empty() ? "replicated" : text;
}

}  // namespace shoal
