#include "execute/interp/movement/scatter_updates.h"

#include <algorithm>
#include <bit>

#include "kernels/arrays/indexed.h"

namespace shoal::internal {
namespace {

constexpr size_t kBatchSize = size_t{1} << 16;

// The updates of a range that are not dropped: their numbers and target indices.
struct UpdateList {
  std::vector<int64_t> numbers, indices;
  size_t size() const { return numbers.size(); }
};

UpdateList SelectUpdates(std::span<const int64_t> indices, size_t first) {
  UpdateList selected;
  for (size_t i = first; i < std::min(indices.size(), first + kBatchSize); ++i) {
    if (indices[i] < 0) continue;
    selected.numbers.push_back(static_cast<int64_t>(i));
    selected.indices.push_back(indices[i]);
  }
  return selected;
}

// Counts how often each index has occurred: a hash table with linear probing, at most half full.
class OccurrenceTable {
 public:
  explicit OccurrenceTable(size_t count) : entries_(std::bit_ceil(2 * count + 1)), shift_(64 - std::countr_zero(entries_.size())) {}

  // The number of earlier occurrences of `index`, which is not negative.
  size_t Add(int64_t index) {
    size_t at = static_cast<size_t>(static_cast<uint64_t>(index) * 0x9e3779b97f4a7c15u >> shift_);
    while (entries_[at].index != index && entries_[at].index >= 0) at = (at + 1) & (entries_.size() - 1);
    entries_[at].index = index;
    return entries_[at].count++;
  }

 private:
  struct Entry {
    int64_t index = -1;
    size_t count = 0;
  };
  std::vector<Entry> entries_;
  int shift_;
};

// Splits updates into batches of distinct indices: the first update of each index, then the second of each, and so on.
std::vector<UpdateList> DistinctBatches(const UpdateList& selected) {
  OccurrenceTable occurrences(selected.size());
  std::vector<UpdateList> batches;
  for (size_t i = 0; i < selected.size(); ++i) {
    const size_t batch = occurrences.Add(selected.indices[i]);
    if (batch == batches.size()) batches.emplace_back();
    batches[batch].numbers.push_back(selected.numbers[i]);
    batches[batch].indices.push_back(selected.indices[i]);
  }
  return batches;
}

Array GatherFrom(ElementType type, const std::byte* from, std::span<const int64_t> indices) {
  Array gathered(type, Dims{static_cast<int64_t>(indices.size())});
  GatherElements(gathered.element_bytes(), gathered.mutable_data(), from, indices.data(), gathered.count());
  return gathered;
}

Status FoldBatch(Reducer& reducer, std::span<Array> arrays, const UpdateList& batch,
                 std::span<const std::byte* const> updates) {
  std::vector<Array> accumulators, elements;
  std::vector<const std::byte*> ins;
  for (size_t k = 0; k < arrays.size(); ++k) {
    accumulators.push_back(GatherFrom(reducer.types[k], arrays[k].data(), batch.indices));
    elements.push_back(GatherFrom(reducer.types[k], updates[k], batch.numbers));
    ins.push_back(elements.back().data());
  }
  const auto n = static_cast<int64_t>(batch.size());
  SHOAL_TRY(reducer.Step(accumulators, ins, n));
  for (size_t k = 0; k < arrays.size(); ++k)
    ScatterElements(arrays[k].element_bytes(), arrays[k].mutable_data(), accumulators[k].data(),
                    batch.indices.data(), n);
  return {};
}

// True if the computation only returns the update.
bool Assigns(const Reducer& reducer) {
  const Computation& computation = reducer.computation;
  return reducer.count() == 1 && computation.root == computation.parameters[1] && computation.instructions.size() == 2;
}

}  // namespace

Status FoldAtIndices(Reducer& reducer, std::span<Array> arrays, std::span<const int64_t> indices,
                     std::span<const std::byte* const> updates) {
  const bool assigns = Assigns(reducer);
  const ReductionLoop::Scatter scatter = reducer.loop ? reducer.loop->scatter() : nullptr;
  for (size_t first = 0; first < indices.size(); first += kBatchSize) {
    const UpdateList selected = SelectUpdates(indices, first);
    const auto n = static_cast<int64_t>(selected.size());
    if (!assigns && scatter == nullptr) {
      for (const UpdateList& batch : DistinctBatches(selected)) SHOAL_TRY(FoldBatch(reducer, arrays, batch, updates));
      continue;
    }
    const Array elements = GatherFrom(reducer.types[0], updates[0], selected.numbers);
    if (assigns) {
      ScatterElements(elements.element_bytes(), arrays[0].mutable_data(), elements.data(), selected.indices.data(), n);
    } else {
      scatter(arrays[0].mutable_data(), selected.indices.data(), elements.data(), n);
    }
  }
  return {};
}

}  // namespace shoal::internal
