// Asks the kernel builder whether kernels can compute a fusion.
#pragma once

#include "transform/loops/kernel_cache.h"
#include "transform/passes/pass.h"

namespace shoal::internal {

class KernelCheck {
 public:
  explicit KernelCheck(const PassContext& context)
      : context_(context), kernels_(context.kernels != nullptr ? *context.kernels : own_) {}

  // Returns false if the builder refuses the fusion, which has replaced the group of `root`, and reports the refusal.
  bool Accepts(const Instruction& fusion, const Instruction& root) {
    const KernelCache::Entry& entry = kernels_.Of(fusion);
    if (entry.kernels.empty() && context_.on_refusal) context_.on_refusal(root, entry.refusal);
    return !entry.kernels.empty();
  }

 private:
  const PassContext& context_;
  KernelCache own_;
  KernelCache& kernels_;
};

}  // namespace shoal::internal
