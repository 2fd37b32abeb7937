// Maps the instructions of a rewritten copy of a module to instructions of the original.
#pragma once

#include "predict/timeline/device_plan.h"

namespace shoal::internal {

class OriginFinder {
 public:
  // `copy` must be an unchanged clone of `original`.
  OriginFinder(const Module& original, const Module& copy);
  // The origins of all instructions of the copy after passes have rewritten it. A new instruction has the name or the
  // text location of the instruction that it replaces.
  Origins OriginsOf(const Module& rewritten) const;

 private:
  using Names = absl::flat_hash_map<std::string_view, const Instruction*>;

  const Instruction* Find(const Instruction& hlo) const;

  Origins clones_;
  absl::flat_hash_map<const Computation*, Names> names_in_;  // by computation of the copy
  Names names_;
  absl::flat_hash_map<uint32_t, const Instruction*> at_;  // by offset of the name in the text
};

}  // namespace shoal::internal
