#include <algorithm>
#include <vector>

#include "formats/proto/parts.h"

namespace shoal::internal {

OriginalArray ReadOriginalArray(Module& module, const proto::OriginalArrayProto& from) {
  return {module.arena.CopyString(from.instruction_name()), CopyInts(module, from.shape_index())};
}

std::span<const FrontendAttribute> ReadFrontendAttributes(Module& module, const proto::FrontendAttributes& from) {
  std::vector<const proto::FrontendAttributes::Entry*> entries;
  for (const proto::FrontendAttributes::Entry& entry : from.map()) entries.push_back(&entry);
  // As in a map: sorted by key, and the last of several entries with the same key is used.
  std::stable_sort(entries.begin(), entries.end(), [](auto* a, auto* b) { return a->key() < b->key(); });
  std::vector<FrontendAttribute> attributes;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (i + 1 < entries.size() && entries[i + 1]->key() == entries[i]->key()) continue;
    attributes.push_back({module.arena.CopyString(entries[i]->key()), module.arena.CopyString(entries[i]->value())});
  }
  return module.arena.Copy(attributes);
}

}  // namespace shoal::internal
