#include "analyze/memory/assignment.h"

#include <algorithm>
#include <tuple>
#include <unordered_set>

#include "core/ops/families.h"
#include "core/ops/traits.h"

namespace shoal::internal {

// Limit on the tries to put buffers into allocations of outputs. After these tries, all temporaries go to the heap.
constexpr int64_t kMaxTries = 1'000'000;

Assignment::Assignment(const Buffers& buffers, const Timeline& timeline, BufferReuse& reuse)
    : buffers_(buffers),
      timeline_(timeline),
      reuse_(reuse),
      allocation_of_(buffers.buffers().size(), kHeap) {
  for (uint32_t buffer : LargestFirst()) Assign(buffer);
}

// Numbers callers before callees and, in each computation, operands before users, independent of the schedule.
std::vector<uint32_t> Assignment::PostOrderNumbers() const {
  std::vector<uint32_t> numbers(timeline_.steps().size(), 0);
  std::vector<const Computation*> computations;  // in reverse timeline order, so callers come first
  std::unordered_set<const Computation*> seen;
  for (size_t i = timeline_.steps().size(); i-- > 0;)
    if (const Computation* parent = timeline_.steps()[i]->parent; seen.insert(parent).second)
      computations.push_back(parent);
  uint32_t next = 0;
  for (const Computation* computation : computations)
    for (const Instruction* hlo : PostOrder(*computation))
      if (const int64_t time = timeline_.TimeOf(*hlo); time >= 0) numbers[static_cast<size_t>(time)] = next++;
  return numbers;
}

std::vector<uint32_t> Assignment::LargestFirst() const {
  const std::vector<uint32_t> numbers = PostOrderNumbers();
  std::vector<std::tuple<int64_t, bool, uint32_t, uint32_t>> keys;
  // Among buffers of equal size, outputs come first, and then buffers with an earlier first instruction.
  for (uint32_t i = 0; i < buffers_.buffers().size(); ++i) {
    const SharedBuffer& buffer = buffers_.buffers()[i];
    uint32_t first = UINT32_MAX;
    for (uint32_t v : buffer.values)
      first = std::min(first, numbers[static_cast<size_t>(buffers_.positions().TimeAt(buffers_.values()[v].position))]);
    keys.emplace_back(-buffer.bytes, !buffer.is_output, first, i);
  }
  std::sort(keys.begin(), keys.end());
  std::vector<uint32_t> order;
  for (const auto& key : keys) order.push_back(std::get<3>(key));
  return order;
}

void Assignment::Assign(uint32_t number) {
  const SharedBuffer& buffer = buffers_.buffers()[number];
  if (buffer.is_constant || buffer.is_argument || buffer.is_tuple) {
    New(number);
    if (buffer.is_donated) reusable_.push_back(allocation_of_[number]);
    return;
  }
  if (TryOperands(number) || TryAllocations(number) || !buffer.is_output) return;
  New(number);
  reusable_.push_back(allocation_of_[number]);
}

bool Assignment::TryOperands(uint32_t buffer) {
  for (uint32_t v : buffers_.buffers()[buffer].values) {
    const LiveValue& value = buffers_.values()[v];
    const Part whole = buffers_.positions().Of(*value.hlo);
    if (whole.position != value.position) continue;  // skip parts of tuples
    for (const Instruction* operand : value.hlo->operands) {
      const Part part = buffers_.positions().Of(*operand);
      if (part.shape == nullptr) continue;
      const uint32_t allocation = Of(buffers_.values()[buffers_.ValueAt(part.position)].buffer);
      if (allocation != kHeap && Try(allocation, buffer)) return true;
    }
  }
  return false;
}

// Tries the smallest allocation first, to keep large allocations for large buffers.
bool Assignment::TryAllocations(uint32_t buffer) {
  for (size_t i = reusable_.size(); i-- > 0 && tries_ < kMaxTries;) {
    ++tries_;
    if (Try(reusable_[i], buffer)) return true;
  }
  return false;
}

bool Assignment::Try(uint32_t number, uint32_t buffer_number) {
  const SharedBuffer& buffer = buffers_.buffers()[buffer_number];
  const Allocation& allocation = allocations_[number];
  if (allocation.is_fixed() || buffer.bytes > allocation.bytes || buffer.memory_space != allocation.memory_space ||
      (buffer.is_output && buffer.bytes != allocation.bytes))
    return false;
  for (uint32_t v : buffer.values)
    if (Interferes(allocation, buffers_.values()[v])) return false;
  Put(number, buffer_number);
  return true;
}

bool Assignment::Interferes(const Allocation& allocation, const LiveValue& value) {
  auto placed = allocation.values.upper_bound({value.end, UINT32_MAX});
  while (placed != allocation.values.begin()) {
    --placed;
    const LiveValue& other = buffers_.values()[placed->second];
    // Since values do not overlap, their order by start is also the order by end. No earlier value ends after `other`.
    if (other.end < value.start) break;
    const bool overwrites = (other.end == value.start && CanOverwrite(other, value)) ||
                            (value.end == other.start && CanOverwrite(value, other));
    if (!overwrites) return true;
    // A copy never overwrites its operand.
    if (IsCopy(*value.hlo) && other.end == value.start) return true;
  }
  return false;
}

bool Assignment::CanOverwrite(const LiveValue& before, const LiveValue& after) {
  if (IsCopy(*after.hlo)) return false;
  for (const Instruction* operand : after.hlo->operands) {
    const Part part = buffers_.positions().Of(*operand);
    if (part.shape == nullptr) continue;
    for (PositionId i = 0; i < buffers_.positions().Size(*part.shape); ++i) {
      const PositionId position = part.position + i;
      if (&buffers_.values()[buffers_.ValueAt(position)] != &before) continue;
      const PositionTable& positions = buffers_.positions();
      if (reuse_.CanReuseOperand({*operand, positions.IndexOf(position), positions.ShapeAt(position)},
                                 {*after.hlo, positions.IndexOf(after.position), *after.shape}))
        return true;
    }
  }
  return false;
}

void Assignment::New(uint32_t number) {
  const SharedBuffer& buffer = buffers_.buffers()[number];
  Allocation allocation;
  allocation.bytes = buffer.bytes;
  allocation.memory_space = buffer.memory_space;
  allocation.is_argument = buffer.is_argument;
  allocation.is_constant = buffer.is_constant;
  allocation.is_tuple = buffer.is_tuple;
  allocation.is_donated = buffer.is_donated;
  allocation.first_buffer = number;
  allocations_.push_back(std::move(allocation));
  Put(static_cast<uint32_t>(allocations_.size() - 1), number);
}

void Assignment::Put(uint32_t number, uint32_t buffer) {
  Allocation& allocation = allocations_[number];
  allocation.is_output |= buffers_.buffers()[buffer].is_output;
  for (uint32_t v : buffers_.buffers()[buffer].values) allocation.values.insert({buffers_.values()[v].start, v});
  allocation_of_[buffer] = number;
}

}  // namespace shoal::internal
