// The sections about memory: what is held at each step, and each buffer with its life and its place.
#include "base/strings.h"
#include "report/page_module.h"

namespace shoal {

void AddMemorySections(const PageModule& page, const std::string& prefix, StringTable& strings, PageSections& sections) {
  PageSection& steps = sections.Add(prefix + "steps");
  std::vector<uint32_t> instr;
  for (const Instruction* hlo : page.memory.steps) instr.push_back(page.ids(*hlo));
  steps.Add("instr", instr);
  steps.Add("bytes", std::vector<double>(page.memory.over_time.begin(), page.memory.over_time.end()));

  std::vector<int32_t> maker;  // -1: none
  std::vector<uint32_t> index, type, start, end, block;
  std::vector<uint8_t> kind, space;
  std::vector<double> offset, bytes;
  for (const BufferLife& life : page.memory.lives) {
    const HeldBuffer& value = life.value;
    maker.push_back(value.hlo == nullptr ? -1 : static_cast<int32_t>(page.ids(*value.hlo)));
    index.push_back(strings(value.index.empty() ? "" : ToString(value.index)));
    type.push_back(strings(value.shape == nullptr ? "" : ToString(*value.shape)));
    kind.push_back(static_cast<uint8_t>(value.kind));
    space.push_back(static_cast<uint8_t>(std::min<int64_t>(value.space, UINT8_MAX)));
    start.push_back(static_cast<uint32_t>(life.start));
    end.push_back(static_cast<uint32_t>(life.end));
    block.push_back(life.block);
    offset.push_back(static_cast<double>(life.offset));
    bytes.push_back(static_cast<double>(value.bytes));
  }
  PageSection& buffers = sections.Add(prefix + "buffers");
  buffers.Add("instr", maker);
  buffers.Add("index", index);
  buffers.Add("type", type);
  buffers.Add("kind", kind);
  buffers.Add("space", space);
  buffers.Add("start", start);
  buffers.Add("end", end);
  buffers.Add("block", block);
  buffers.Add("offset", offset);
  buffers.Add("bytes", bytes);
}

}  // namespace shoal
