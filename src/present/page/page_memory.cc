// The sections about memory: live bytes at each step, and the live range and offset of each buffer.
#include "present/page/page_module.h"

namespace shoal::internal {

void AddMemorySections(const PageModule& page, const std::string& prefix, StringTable& strings, PageSections& sections) {
  PageSection& steps = sections.Add(prefix + "steps");
  steps.AddOf("instr", page.facts->memory().steps, [&](const Instruction* hlo) { return page.ids(*hlo); });
  steps.Add("bytes", std::vector<double>(page.facts->memory().live_bytes.begin(), page.facts->memory().live_bytes.end()));

  PageSection& buffers = sections.Add(prefix + "buffers");
  const auto& lives = page.facts->memory().live_ranges;
  auto number = [](auto value) { return static_cast<uint32_t>(value); };
  // The defining instruction; -1: none.
  buffers.AddOf("instr", lives, [&](const BufferLiveRange& life) {
    return life.value.hlo == nullptr ? -1 : static_cast<int32_t>(page.ids(*life.value.hlo));
  });
  buffers.AddOf("index", lives, [&](const BufferLiveRange& life) {
    return strings(life.value.index.empty() ? "" : ToString(life.value.index));
  });
  buffers.AddOf("type", lives, [&](const BufferLiveRange& life) {
    return strings(life.value.shape == nullptr ? "" : ToString(*life.value.shape));
  });
  buffers.AddOf("kind", lives, [](const BufferLiveRange& life) { return static_cast<uint8_t>(life.value.kind); });
  buffers.AddOf("space", lives, [](const BufferLiveRange& life) {
    return static_cast<uint8_t>(std::min<int64_t>(life.value.space, UINT8_MAX));
  });
  buffers.AddOf("start", lives, [&](const BufferLiveRange& life) { return number(life.start); });
  buffers.AddOf("end", lives, [&](const BufferLiveRange& life) { return number(life.end); });
  buffers.AddOf("block", lives, [&](const BufferLiveRange& life) { return number(life.block); });
  buffers.AddOf("offset", lives, [](const BufferLiveRange& life) { return static_cast<double>(life.offset); });
  buffers.AddOf("bytes", lives, [](const BufferLiveRange& life) { return static_cast<double>(life.value.bytes); });
}

}  // namespace shoal::internal
