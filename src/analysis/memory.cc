#include "analysis/memory.h"

#include <algorithm>

#include "analysis/buffer_bytes.h"
#include "analysis/temporaries.h"
#include "base/strings.h"

namespace shoal {
namespace {

// Where XLA lets the buffers of a heap begin.
int64_t AlignmentOf(Backend backend) {
  static constexpr int64_t kAlignments[] = {64, 256, 1024};
  return kAlignments[static_cast<size_t>(backend)];
}

class MemoryCount {
 public:
  MemoryCount(const Module& module, StepOrder order)
      : timeline_(module, order),
        buffers_(module, timeline_),
        overwriting_(BackendOf(module)),
        assignment_(buffers_, timeline_, overwriting_) {
    out_.backend = BackendOf(module);
    out_.steps = timeline_.steps();
    out_.over_time.assign(out_.steps.size(), 0);
    CountAllocations();
    for (SpaceMemory& space : out_.spaces) CountTemporaries(space);
    for (const SpaceMemory& space : out_.spaces) (space.space == kHostSpace ? out_.host : out_.device).Add(space);
    FindPeak();
  }

  int64_t peak() const { return out_.device.peak; }

  ModuleMemory Take() {
    for (size_t i = 0; i < heaps_.size(); ++i) Pack(out_.spaces[i], heaps_[i]);
    for (const SpaceMemory& space : out_.spaces)
      (space.space == kHostSpace ? out_.host : out_.device).temporaries += space.temporaries;
    return std::move(out_);
  }

 private:
  SpaceMemory& Space(int64_t number) {
    auto at = std::find_if(out_.spaces.begin(), out_.spaces.end(), [&](auto& each) { return each.space >= number; });
    if (at == out_.spaces.end() || at->space != number) {
      at = out_.spaces.insert(at, SpaceMemory());
      at->space = number;
    }
    return *at;
  }

  // What is there from beginning to end; tables of pointers that are no output are temporaries.
  void CountAllocations() {
    Space(0);
    for (const SharedBuffer& buffer : buffers_.buffers()) Space(buffer.memory_space);
    for (const Allocation& allocation : assignment_.allocations()) {
      SpaceMemory& space = Space(allocation.memory_space);
      if (allocation.is_argument) space.arguments += allocation.bytes;
      if (allocation.is_argument && allocation.is_donated) space.aliased += allocation.bytes;
      if (allocation.is_constant) space.constants += allocation.bytes;
      if (allocation.is_output) space.outputs += allocation.bytes;
      if (IsKept(allocation)) {
        space.peak += allocation.bytes;
        Hold(allocation);
      } else {
        const int64_t alignment = AlignmentOf(out_.backend);
        space.temporaries = (space.temporaries + alignment - 1) / alignment * alignment + allocation.bytes;
      }
    }
  }
  static bool IsKept(const Allocation& each) { return each.is_argument || each.is_constant || each.is_output; }

  void Hold(const Allocation& allocation) {
    if (allocation.bytes == 0 || allocation.memory_space == kHostSpace) return;
    using Kind = HeldBuffer::Kind;
    // An output may lie where something else was before: it is what people know it by.
    uint32_t value = buffers_.buffers()[allocation.first_buffer].values.front();
    HeldBuffer held = Held(value);
    held.kind = allocation.is_argument ? Kind::kArgument : allocation.is_constant ? Kind::kConstant : Kind::kOutput;
    held.bytes = allocation.bytes;
    out_.held.push_back(std::move(held));
  }
  HeldBuffer Held(uint32_t number) const {
    const LiveValue& value = buffers_.values()[number];
    HeldBuffer held;
    held.hlo = value.hlo;
    held.index = buffers_.places().IndexOf(value.place);
    held.shape = value.shape;
    held.bytes = value.bytes;
    held.space = buffers_.buffers()[value.buffer].memory_space;
    return held;
  }

  void CountTemporaries(SpaceMemory& space) {
    heaps_.push_back(TemporariesIn(space.space, buffers_, timeline_, assignment_, overwriting_));
    const Temporaries& heap = heaps_.back();
    const int64_t kept = space.peak;
    space.live = heap.live_peak;
    space.peak += heap.live_peak;
    if (space.space == kHostSpace) return;
    for (size_t i = 0; i < out_.over_time.size(); ++i) out_.over_time[i] += kept + heap.over_time[i];
  }

  void Pack(SpaceMemory& space, const Temporaries& heap) const {
    const int64_t alignment = AlignmentOf(out_.backend), packed = PackedBytes(heap.blocks, alignment);
    if (packed > 0) space.temporaries = (space.temporaries + alignment - 1) / alignment * alignment + packed;
  }

  // Memory spaces need most at different times: the device needs most where they do together.
  void FindPeak() {
    if (out_.steps.empty()) return;
    const auto most = std::max_element(out_.over_time.begin(), out_.over_time.end());
    const auto time = static_cast<size_t>(most - out_.over_time.begin());
    out_.device.live -= out_.device.peak - *most;
    out_.device.peak = *most;
    out_.at_peak = out_.steps[time];
    for (size_t i = 0; i < heaps_.size(); ++i) {
      if (out_.spaces[i].space == kHostSpace) continue;
      for (uint32_t value : heaps_[i].HeldAt(static_cast<int64_t>(time), buffers_)) out_.held.push_back(Held(value));
    }
    std::stable_sort(out_.held.begin(), out_.held.end(),
                     [](const HeldBuffer& a, const HeldBuffer& b) { return a.bytes > b.bytes; });
  }

  Timeline timeline_;
  Buffers buffers_;
  Overwriting overwriting_;
  Assignment assignment_;
  std::vector<Temporaries> heaps_;
  ModuleMemory out_;
};

}  // namespace

void SpaceMemory::Add(const SpaceMemory& other) {
  arguments += other.arguments;
  outputs += other.outputs;
  aliased += other.aliased;
  constants += other.constants;
  live += other.live;
  peak += other.peak;
}

int64_t DeviceBytes(const ModuleMemory& memory) {
  const bool main_only = memory.backend == Backend::kTpu && !memory.spaces.empty();
  const SpaceMemory& space = main_only ? memory.spaces.front() : memory.device;
  return space.peak - space.live + space.temporaries;
}

ModuleMemory MemoryOf(const Module& module) {
  MemoryCount in_order(module, StepOrder::kText);
  if (module.is_scheduled) return in_order.Take();
  MemoryCount listed(module, StepOrder::kListed);
  ModuleMemory memory = (listed.peak() < in_order.peak() ? listed : in_order).Take();
  memory.assumptions.push_back(
      "the module has no schedule: an order that keeps little in memory is assumed, and copies only where they must "
      "be");
  return memory;
}

}  // namespace shoal
