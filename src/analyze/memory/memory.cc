#include "analyze/memory/memory.h"

#include <algorithm>
#include <unordered_set>

#include "analyze/memory/temporaries.h"
#include "core/base/strings.h"
#include "core/ir/buffer_bytes.h"
#include "core/ir/sizes.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

// The alignment of buffers in an XLA heap.
int64_t AlignmentOf(Backend backend) {
  static constexpr int64_t kAlignments[] = {64, 256, 1024};
  return kAlignments[static_cast<size_t>(backend)];
}

// Values in computations that are part of ops, such as reducers and comparators. Constants of these computations are in
// memory, but other values are in registers. The values of fused computations are not counted.
struct EmbeddedValues {
  int64_t count = 0;
  int64_t constant_bytes = 0;
};
EmbeddedValues EmbeddedIn(const Timeline& timeline) {
  EmbeddedValues values;
  std::unordered_set<const Computation*> seen;
  std::vector<std::pair<const Computation*, bool>> todo;  // second is true for fused computations
  auto add_callees = [&](const Instruction& caller) {
    if (!CallsComputations(caller)) return;
    for (const Computation* callee : CalledComputations(caller))
      if (timeline.SpanOf(*callee) == nullptr && seen.insert(callee).second)
        todo.push_back({callee, IsFusion(caller)});
  };
  for (const Instruction* hlo : timeline.steps()) add_callees(*hlo);
  while (!todo.empty()) {
    const auto [computation, is_fused] = todo.back();
    todo.pop_back();
    for (const Instruction* hlo : computation->instructions) {
      add_callees(*hlo);
      if (is_fused) continue;
      ++values.count;
      if (IsConstant(*hlo)) values.constant_bytes += ArrayBytes(hlo->shape());
    }
  }
  return values;
}

class MemoryCount {
 public:
  MemoryCount(const Module& module, const BackendChoice& choice, ScheduleSource order)
      : timeline_(module, order),
        buffers_(module, timeline_),
        reuse_(choice.backend),
        assignment_(buffers_, timeline_, reuse_),
        embedded_(EmbeddedIn(timeline_)) {
    out_.backend = choice.backend;
    out_.backend_reason = choice.reason;
    out_.steps = timeline_.steps();
    out_.live_bytes.assign(out_.steps.size(), 0);
    CountAllocations();
    if (embedded_.constant_bytes > 0) AddLiveRange(EmbeddedConstants(), 0, LastStep());
    for (SpaceMemory& space : out_.spaces) CountTemporaries(space);
    for (const SpaceMemory& space : out_.spaces) (space.space == kHostSpace ? out_.host : out_.device).Add(space);
    FindPeak();
  }

  int64_t peak() const { return out_.device.peak; }

  ModuleMemory Take() {
    Pack();
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

  // Counts allocations that exist for the whole run. Pointer tables count as temporaries, unless they are outputs.
  void CountAllocations() {
    Space(0);
    for (const SharedBuffer& buffer : buffers_.buffers()) Space(buffer.memory_space);
    for (const Allocation& allocation : assignment_.allocations()) {
      SpaceMemory& space = Space(allocation.memory_space);
      if (allocation.is_argument) space.arguments += allocation.bytes;
      if (allocation.is_argument && allocation.is_donated) space.aliased += allocation.bytes;
      if (allocation.is_constant) space.constants += allocation.bytes;
      if (allocation.is_output) space.outputs += allocation.bytes;
      if (!IsPermanent(allocation)) continue;
      space.peak += allocation.bytes;
      AddPermanent(allocation);
    }
    Space(0).constants += embedded_.constant_bytes;
    Space(0).peak += embedded_.constant_bytes;
  }
  static bool IsPermanent(const Allocation& each) { return each.is_argument || each.is_constant || each.is_output; }

  void AddPermanent(const Allocation& allocation) {
    if (allocation.bytes == 0 || allocation.memory_space == kHostSpace) return;
    using Kind = LiveBuffer::Kind;
    // An allocation may hold several values. Report the first value of its first buffer.
    const uint32_t value = buffers_.buffers()[allocation.first_buffer].values.front();
    LiveBuffer live = LiveBufferOf(value);
    live.kind = allocation.is_argument ? Kind::kArgument : allocation.is_constant ? Kind::kConstant : Kind::kOutput;
    live.bytes = allocation.bytes;
    AddLiveRange(live, 0, LastStep());
    out_.live_at_peak.push_back(std::move(live));
  }
  LiveBuffer EmbeddedConstants() const {
    LiveBuffer live;
    live.kind = LiveBuffer::Kind::kConstant;
    live.bytes = embedded_.constant_bytes;
    return live;
  }
  LiveBuffer LiveBufferOf(uint32_t number) const {
    const LiveValue& value = buffers_.values()[number];
    LiveBuffer live;
    live.hlo = value.hlo;
    live.index = buffers_.positions().IndexOf(value.position);
    live.shape = value.shape;
    live.bytes = value.bytes;
    live.space = buffers_.buffers()[value.buffer].memory_space;
    return live;
  }

  int64_t LastStep() const { return std::max<int64_t>(std::ssize(out_.steps) - 1, 0); }
  // Adds the live range of a buffer with its own allocation.
  void AddLiveRange(LiveBuffer value, int64_t start, int64_t end) {
    out_.live_ranges.push_back({std::move(value), start, end, blocks_++, -1});
  }

  // Adds the live ranges of a space's temporaries at their packed offsets.
  void AddLiveRanges(const Temporaries& heap, const HeapPacking& packing) {
    for (const auto& [v, block] : heap.values) {
      LiveBuffer live = LiveBufferOf(v);
      if (heap.counted_bytes[block] == 0 || live.space == kHostSpace) continue;
      live.bytes = heap.counted_bytes[block];
      const LiveValue& value = buffers_.values()[v];
      out_.live_ranges.push_back({std::move(live), value.start, std::min(value.end, LastStep()), blocks_ + block,
                            packing.offsets[block]});
    }
    blocks_ += static_cast<uint32_t>(heap.blocks.size());
  }

  void CountTemporaries(SpaceMemory& space) {
    heaps_.push_back(TemporariesIn(space.space, buffers_, timeline_, assignment_, reuse_));
    Temporaries& heap = heaps_.back();
    AddRepeatedCalls(heap, space.space);
    const int64_t permanent = space.peak;
    for (int64_t bytes : heap.live_bytes) space.live = std::max(space.live, bytes);
    space.peak += space.live;
    if (space.space == kHostSpace) return;
    for (size_t i = 0; i < out_.live_bytes.size(); ++i) out_.live_bytes[i] += permanent + heap.live_bytes[i];
  }

  // The timeline contains a computation only before its first caller. Adds the same memory at each other caller.
  void AddRepeatedCalls(Temporaries& heap, int64_t space) {
    for (size_t time = 0; time < out_.steps.size(); ++time)
      for (const Computation* callee : ExecutedComputations(*out_.steps[time])) {
        const Timeline::Span* span = timeline_.SpanOf(*callee);
        if (span == nullptr || span->caller == out_.steps[time] || span->start == span->end) continue;
        const auto first = heap.live_bytes.begin() + span->start;
        const int64_t max_bytes = *std::max_element(first, heap.live_bytes.begin() + span->end);
        const int64_t more = max_bytes - (span->start == 0 ? 0 : std::min(*first, *std::prev(first)));
        heap.live_bytes[time] += more;
        if (more == 0 || space == kHostSpace) continue;
        LiveBuffer live;
        live.hlo = out_.steps[time];
        live.shape = &live.hlo->shape();
        live.bytes = more;
        live.space = space;
        AddLiveRange(std::move(live), static_cast<int64_t>(time), static_cast<int64_t>(time));
      }
  }

  // Concatenates all temporary blocks (heaps and pointer tables), as XLA does. The order of the blocks affects the
  // padding between them. XLA's order is that of std::partition, which moves the other blocks to the front.
  void Pack() {
    struct Block {
      bool is_temporary;
      int64_t space, bytes;
    };
    const int64_t alignment = AlignmentOf(out_.backend);
    std::vector<Block> blocks;
    for (const Allocation& each : assignment_.allocations())
      blocks.push_back({!IsPermanent(each), each.memory_space, each.bytes});
    for (size_t i = 0; i < heaps_.size(); ++i)
      if (const HeapPacking packed = PackHeap(heaps_[i].blocks, alignment); packed.bytes > 0) {
        blocks.push_back({true, out_.spaces[i].space, std::max(packed.bytes, out_.spaces[i].live)});
        AddLiveRanges(heaps_[i], packed);
      }
    blocks.insert(blocks.end(), static_cast<size_t>(embedded_.count), {false, 0, 0});
    const auto first =
        std::partition(blocks.begin(), blocks.end(), [](const Block& each) { return !each.is_temporary; });
    for (auto each = first; each != blocks.end(); ++each) {
      SpaceMemory& space = Space(each->space);
      space.temporaries = RoundUp(space.temporaries, alignment) + each->bytes;
    }
  }

  // Memory spaces peak at different times. The device's peak is therefore the maximum over time of their sum.
  void FindPeak() {
    if (out_.steps.empty()) return;
    const auto peak = std::max_element(out_.live_bytes.begin(), out_.live_bytes.end());
    const auto time = static_cast<size_t>(peak - out_.live_bytes.begin());
    out_.device.live -= out_.device.peak - *peak;
    out_.device.peak = *peak;
    out_.at_peak = out_.steps[time];
    for (size_t i = 0; i < heaps_.size(); ++i) {
      if (out_.spaces[i].space == kHostSpace) continue;
      for (uint32_t value : heaps_[i].LiveAt(static_cast<int64_t>(time), buffers_))
        out_.live_at_peak.push_back(LiveBufferOf(value));
    }
    std::stable_sort(out_.live_at_peak.begin(), out_.live_at_peak.end(),
                     [](const LiveBuffer& a, const LiveBuffer& b) { return a.bytes > b.bytes; });
  }

  Timeline timeline_;
  Buffers buffers_;
  BufferReuse reuse_;
  Assignment assignment_;
  EmbeddedValues embedded_;
  std::vector<Temporaries> heaps_;
  uint32_t blocks_ = 0;  // number of blocks so far
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

// No sum in this file exceeds the bytes of all values plus alignment. If this total does not overflow, no sum does.
Status CheckTotalSize(const Module& module) {
  const Instruction* oversized = FirstSizeOverflow(module);
  if (oversized == nullptr) return {};
  return Fail(oversized->at, "mem.C1",
              StrCat("the total size of the values up to this one must not overflow, got a value of ",
                     ToString(oversized->shape())));
}

const Instruction* FirstSizeOverflow(const Module& module) {
  constexpr int64_t kMaxBytes = int64_t{1} << 60;
  int64_t bytes = 0;
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions)
      if (bytes = SaturatingAdd(bytes, ArrayBytes(hlo->shape())); bytes > kMaxBytes) return hlo;
  return nullptr;
}

ModuleMemory MemoryOf(const Module& module, const BackendChoice& choice) {
  if (const Instruction* overflow = FirstSizeOverflow(module)) {
    ModuleMemory memory;
    memory.device.peak = kSizeOverflow;
    memory.at_peak = overflow;
    memory.backend = choice.backend;
    memory.backend_reason = choice.reason;
    memory.assumptions.push_back(StrCat("memory: the total size of the values overflows at ", overflow->name));
    return memory;
  }
  MemoryCount in_order(module, choice, ScheduleSource::kText);
  if (module.is_scheduled) return in_order.Take();
  MemoryCount listed(module, choice, ScheduleSource::kListScheduled);
  ModuleMemory memory = (listed.peak() < in_order.peak() ? listed : in_order).Take();
  memory.assumptions.push_back(
      "the module has no schedule; assuming a memory-minimizing order and only unavoidable copies");
  return memory;
}

}  // namespace shoal::internal
