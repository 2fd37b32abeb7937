// Which instructions of a computation would be fused into one kernel.
#pragma once

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "analyze/cost/kernel_descriptor.h"
#include "core/ir/users.h"

namespace shoal::internal {

class EstimatedFusion {
 public:
  explicit EstimatedFusion(const Computation& computation);

  // Computed inside the kernels of its users, or no work at all.
  bool IsInlined(const Instruction& hlo) const { return inlined_.contains(&hlo); }
  // A kernel with `root` as result: it, and what is inlined into it. Empty if nothing is.
  FusionRegion KernelAt(const Instruction& root) const;

 private:
  bool MayInline(const Instruction& hlo, Users& users) const;
  absl::flat_hash_set<const Instruction*> inlined_;
  const Computation& computation_;
};

// No kernel by itself: reshapes, copies that change nothing.
bool IsFreeView(const Instruction& hlo);

}  // namespace shoal::internal
