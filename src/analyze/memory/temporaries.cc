#include "analyze/memory/temporaries.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "core/ops/families.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

class HeapRun {
 public:
  HeapRun(int64_t memory_space, const Buffers& buffers, const Timeline& timeline, const Assignment& assignment,
          BufferReuse& reuse)
      : buffers_(buffers),
        reuse_(reuse),
        block_of_(buffers.values().size(), kNone),
        first_of_(buffers.buffers().size(), kNone),
        ends_(buffers.values().size(), 0) {
    for (uint32_t v = 0; v < buffers.values().size(); ++v) {
      const SharedBuffer& buffer = buffers.buffers()[buffers.values()[v].buffer];
      if (assignment.Of(buffers.values()[v].buffer) != Assignment::kHeap || buffer.memory_space != memory_space)
        continue;
      by_start_.push_back(v);
      ends_[v] = buffers.values()[v].end;
    }
    std::sort(by_start_.begin(), by_start_.end(), [&](uint32_t a, uint32_t b) {
      const LiveValue &x = buffers.values()[a], &y = buffers.values()[b];
      return std::tie(x.start, x.end, a) < std::tie(y.start, y.end, b);
    });
    by_end_ = by_start_;
    std::stable_sort(by_end_.begin(), by_end_.end(), [&](uint32_t a, uint32_t b) { return ends_[a] < ends_[b]; });
    out_.live_bytes.assign(static_cast<size_t>(timeline.end() + 1), 0);
  }

  Temporaries Run() {
    size_t allocated = 0, freed = 0;
    for (int64_t time = 0; time < std::ssize(out_.live_bytes); ++time) {
      int64_t max_bytes = bytes_;
      for (; allocated < by_start_.size() && buffers_.values()[by_start_[allocated]].start == time; ++allocated) {
        Allocate(by_start_[allocated], time);
        max_bytes = std::max(max_bytes, bytes_);
      }
      out_.live_bytes[static_cast<size_t>(time)] = max_bytes;
      for (; freed < by_end_.size() && buffers_.values()[by_end_[freed]].end == time; ++freed)
        if (const uint32_t v = by_end_[freed]; block_of_[v] != kNone && !was_freed_early_[v]) Free(v);
    }
    out_.blocks = std::move(blocks_);
    for (const BlockState& state : states_) out_.counted_bytes.push_back(state.bytes);
    return std::move(out_);
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct BlockState {
    int64_t bytes = 0;  // bytes of the buffer for which the block was created
    int64_t users = 0;
  };

  void Allocate(uint32_t v, int64_t time) {
    const LiveValue& value = buffers_.values()[v];
    const SharedBuffer& buffer = buffers_.buffers()[value.buffer];
    uint32_t block = kNone;
    if (first_of_[value.buffer] != kNone)
      block = block_of_[first_of_[value.buffer]];
    else if (buffer.values.size() == 1)
      block = TakeFromOperand(v, time);
    if (block == kNone) {
      block = static_cast<uint32_t>(blocks_.size());
      blocks_.push_back({buffer.bytes, {}});
      states_.push_back({buffer.bytes, 0});
      first_of_[value.buffer] = v;
    }
    block_of_[v] = block;
    out_.values.push_back({v, block});
    if (states_[block].users++ == 0) bytes_ += states_[block].bytes;
    blocks_[block].bytes = std::max(blocks_[block].bytes, value.bytes);
    blocks_[block].intervals.push_back({clock_++, INT64_MAX});
    interval_of_[v] = blocks_[block].intervals.size() - 1;
  }

  void Free(uint32_t v) {
    const uint32_t block = block_of_[v];
    blocks_[block].intervals[interval_of_[v]].end = clock_++;
    if (--states_[block].users == 0) bytes_ -= states_[block].bytes;
  }

  // Returns the block of an operand that the instruction may overwrite because this is the operand's last use.
  uint32_t TakeFromOperand(uint32_t v, int64_t time) {
    const LiveValue& value = buffers_.values()[v];
    if (IsCopy(*value.hlo)) return kNone;
    for (const Instruction* operand : value.hlo->operands) {
      const Part part = buffers_.positions().Of(*operand);
      if (part.shape == nullptr) continue;
      const uint32_t o = buffers_.ValueAt(part.position);
      const LiveValue& source = buffers_.values()[o];
      if (o == v || source.hlo != operand || block_of_[o] == kNone || was_freed_early_[o] || ends_[o] != time ||
          buffers_.buffers()[source.buffer].values.size() > 1)
        continue;
      if (!reuse_.CanReuseOperand({*operand, {}, operand->shape()},
                                  {*value.hlo, buffers_.positions().IndexOf(value.position), *value.shape}))
        continue;
      Free(o);
      was_freed_early_[o] = true;
      return block_of_[o];
    }
    return kNone;
  }

  const Buffers& buffers_;
  BufferReuse& reuse_;
  std::vector<uint32_t> by_start_, by_end_;
  std::vector<uint32_t> block_of_;  // block of each value
  std::vector<uint32_t> first_of_;  // for each buffer, the value for which its block was created
  std::vector<int64_t> ends_;
  std::vector<bool> was_freed_early_ = std::vector<bool>(block_of_.size(), false);
  std::vector<size_t> interval_of_ = std::vector<size_t>(block_of_.size(), 0);
  std::vector<HeapBlock> blocks_;
  std::vector<BlockState> states_;
  int64_t clock_ = 0, bytes_ = 0;
  Temporaries out_;
};

}  // namespace

std::vector<uint32_t> Temporaries::LiveAt(int64_t time, const Buffers& buffers) const {
  std::unordered_map<uint32_t, uint32_t> in_block;
  for (const auto& [v, block] : values) {
    const LiveValue& value = buffers.values()[v];
    if (value.start <= time && value.end >= time && value.bytes > 0) in_block[block] = v;
  }
  std::vector<uint32_t> live;
  for (const auto& [block, v] : in_block) live.push_back(v);
  std::sort(live.begin(), live.end());
  return live;
}

Temporaries TemporariesIn(int64_t memory_space, const Buffers& buffers, const Timeline& timeline,
                          const Assignment& assignment, BufferReuse& reuse) {
  return HeapRun(memory_space, buffers, timeline, assignment, reuse).Run();
}

}  // namespace shoal::internal
