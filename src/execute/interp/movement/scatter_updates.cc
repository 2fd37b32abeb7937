#include "execute/interp/movement/scatter_updates.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "kernels/arrays/indexed.h"

namespace shoal::internal {
namespace {

constexpr size_t kAtATime = size_t{1} << 16;

// A stretch of the updates without those that are left out: which they are, and their places.
struct Kept {
  std::vector<int64_t> which, places;
  size_t size() const { return which.size(); }
};

Kept KeptOf(std::span<const int64_t> places, size_t first) {
  Kept kept;
  for (size_t i = first; i < std::min(places.size(), first + kAtATime); ++i) {
    if (places[i] < 0) continue;
    kept.which.push_back(static_cast<int64_t>(i));
    kept.places.push_back(places[i]);
  }
  return kept;
}

// In rounds of distinct places: first the first update of every place, then the second of those that have one, ….
std::vector<Kept> RoundsOf(const Kept& kept) {
  absl::flat_hash_map<int64_t, size_t> times;
  std::vector<Kept> rounds;
  for (size_t i = 0; i < kept.size(); ++i) {
    const size_t round = times[kept.places[i]]++;
    if (round == rounds.size()) rounds.emplace_back();
    rounds[round].which.push_back(kept.which[i]);
    rounds[round].places.push_back(kept.places[i]);
  }
  return rounds;
}

Array Taken(ElementType type, const std::byte* from, std::span<const int64_t> places) {
  Array taken(type, Dims{static_cast<int64_t>(places.size())});
  GatherElements(taken.element_bytes(), taken.mutable_data(), from, places.data(), taken.count());
  return taken;
}

Status FoldRound(Reducer& reducer, std::span<Array> arrays, const Kept& round,
                 std::span<const std::byte* const> updates) {
  std::vector<Array> accumulators, elements;
  std::vector<const std::byte*> ins;
  for (size_t k = 0; k < arrays.size(); ++k) {
    accumulators.push_back(Taken(reducer.types[k], arrays[k].data(), round.places));
    elements.push_back(Taken(reducer.types[k], updates[k], round.which));
    ins.push_back(elements.back().data());
  }
  const auto n = static_cast<int64_t>(round.size());
  SHOAL_TRY(reducer.Step(accumulators, ins, n));
  for (size_t k = 0; k < arrays.size(); ++k)
    ScatterElements(arrays[k].element_bytes(), arrays[k].mutable_data(), accumulators[k].data(), round.places.data(), n);
  return {};
}

// The function is the update itself.
bool Assigns(const Reducer& reducer) {
  const Computation& computation = reducer.computation;
  return reducer.count() == 1 && computation.root == computation.parameters[1];
}

}  // namespace

Status FoldAt(Reducer& reducer, std::span<Array> arrays, std::span<const int64_t> places,
              std::span<const std::byte* const> updates) {
  const bool assigns = Assigns(reducer);
  const ReductionLoop::Scatter scatter = reducer.loop ? reducer.loop->scatter() : nullptr;
  for (size_t first = 0; first < places.size(); first += kAtATime) {
    const Kept kept = KeptOf(places, first);
    const auto n = static_cast<int64_t>(kept.size());
    if (!assigns && scatter == nullptr) {
      for (const Kept& round : RoundsOf(kept)) SHOAL_TRY(FoldRound(reducer, arrays, round, updates));
      continue;
    }
    const Array elements = Taken(reducer.types[0], updates[0], kept.which);
    if (assigns) {
      ScatterElements(elements.element_bytes(), arrays[0].mutable_data(), elements.data(), kept.places.data(), n);
    } else {
      scatter(arrays[0].mutable_data(), kept.places.data(), elements.data(), n);
    }
  }
  return {};
}

}  // namespace shoal::internal
