// Estimates which instructions of a computation XLA would fuse into one kernel.
#pragma once

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "analyze/cost/kernel_descriptor.h"
#include "core/ir/users.h"

namespace shoal::internal {

class EstimatedFusion {
 public:
  explicit EstimatedFusion(const Computation& computation);

  // True if the instruction is computed in the kernels of its users, or does no work.
  bool IsInlined(const Instruction& hlo) const { return inlined_.contains(&hlo); }
  // The kernel whose result is `root`: the root and the instructions inlined into it. Empty if `root` is neither fusible
  // nor a contraction.
  FusionRegion RegionOf(const Instruction& root) const;

 private:
  bool MayInline(const Instruction& hlo, Users& users) const;
  absl::flat_hash_set<const Instruction*> inlined_;
  const Computation& computation_;
};

// True for reshapes, bitcasts and copies to the same layout, which need no kernel.
bool IsFreeView(const Instruction& hlo);

}  // namespace shoal::internal
