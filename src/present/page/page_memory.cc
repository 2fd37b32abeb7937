// The sections about memory: live bytes at each step, and the live range and offset of each buffer.
#include "analyze/memory/buffer_producer.h"
#include "present/page/page_module.h"

namespace shoal::internal {

void AddMemorySections(const PageModule& page, const std::string& prefix, StringTable& strings, PageSections& sections) {
  PageSection& steps = sections.Add(prefix + "steps");
  steps.AddOf("instr", page.facts->memory().steps, [&](const Instruction* hlo) { return page.ids(*hlo); });
  steps.Add("bytes", std::vector<double>(page.facts->memory().live_bytes.begin(), page.facts->memory().live_bytes.end()));

  PageSection& buffers = sections.Add(prefix + "buffers");
  const auto& lives = page.facts->memory().live_ranges;
  auto number = [](auto value) { return static_cast<uint32_t>(value); };
  // The instruction that computes the elements: for the residuals of a scan, the op in its body. -1: none.
  BufferProducers producers(page.module);
  std::vector<const Instruction*> computed_by;
  for (const BufferLiveRange& life : lives) {
    const Instruction* producer = life.value.hlo == nullptr ? nullptr : producers.Of(life.value);
    computed_by.push_back(producer);
  }
  std::vector<int32_t> instr;
  std::vector<uint32_t> index;
  for (size_t i = 0; i < lives.size(); ++i) {
    const Instruction* hlo = computed_by[i] != nullptr ? computed_by[i] : lives[i].value.hlo;
    instr.push_back(hlo == nullptr ? -1 : static_cast<int32_t>(page.ids(*hlo)));
    index.push_back(strings(computed_by[i] != nullptr || lives[i].value.index.empty() ? "" : ToString(lives[i].value.index)));
  }
  buffers.Add("instr", instr);
  buffers.Add("index", index);
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
