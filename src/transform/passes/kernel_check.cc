#include "transform/passes/kernel_check.h"

#include "core/ops/families.h"
#include "transform/loops/kernel.h"

namespace shoal::internal {

bool KernelCheck::Accepts(const Instruction& fusion, const Instruction& root) {
  const auto [known, is_new] = refusals_.try_emplace(fusion[kCalls]);
  if (is_new && !FusedKernelsOf(fusion, &known->second).empty()) known->second = {};
  if (!known->second.empty() && context_.on_refusal) context_.on_refusal(root, known->second);
  return known->second.empty();
}

}  // namespace shoal::internal
