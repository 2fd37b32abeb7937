#include "predict/timeline/origin_finder.h"

namespace shoal::internal {

OriginFinder::OriginFinder(const Module& original, const Module& copy) {
  for (size_t c = 0; c < original.computations.size(); ++c) {
    Names& names = names_in_[copy.computations[c]];
    for (size_t i = 0; i < original.computations[c]->instructions.size(); ++i) {
      const Instruction* hlo = original.computations[c]->instructions[i];
      clones_[copy.computations[c]->instructions[i]] = hlo;
      names[hlo->name] = hlo;
      names_.try_emplace(hlo->name, hlo);
      if (hlo->name_at.known()) at_.try_emplace(hlo->name_at.offset, hlo);
    }
  }
}

const Instruction* OriginFinder::Find(const Instruction& hlo) const {
  if (auto names = names_in_.find(hlo.parent); names != names_in_.end())
    if (auto found = names->second.find(hlo.name); found != names->second.end()) return found->second;
  if (hlo.name_at.known())
    if (auto found = at_.find(hlo.name_at.offset); found != at_.end()) return found->second;
  auto found = names_.find(hlo.name);
  return found == names_.end() ? nullptr : found->second;
}

Origins OriginFinder::OriginsOf(const Module& rewritten) const {
  Origins origins = clones_;
  for (const Computation* computation : rewritten.computations)
    for (const Instruction* hlo : computation->instructions)
      if (!origins.contains(hlo))
        if (const Instruction* origin = Find(*hlo)) origins[hlo] = origin;
  return origins;
}

}  // namespace shoal::internal
