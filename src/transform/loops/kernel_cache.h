// The kernels of fusions. Fusions with equal bodies are built once, even if a pass asks first and the lowering later.
#pragma once

#include <memory>

#include "absl/container/flat_hash_map.h"
#include "core/ir/equivalence.h"
#include "core/ops/families.h"
#include "transform/loops/kernel.h"

namespace shoal::internal {

class KernelCache {
 public:
  struct Entry {
    std::vector<FusedKernel> kernels;  // empty: the builder refused the fusion
    std::string_view refusal;          // the reason
  };
  // The bodies of the fusions must live as long as the cache. The result is valid as long as the cache.
  const Entry& Of(const Instruction& fusion) {
    std::unique_ptr<Entry>& entry = entries_[fusion[kCalls]];
    if (entry == nullptr) {
      entry = std::make_unique<Entry>();
      entry->kernels = FusedKernelsOf(fusion, &entry->refusal);
    }
    return *entry;
  }

 private:
  absl::flat_hash_map<const Computation*, std::unique_ptr<Entry>, BodyHash, BodyEqual> entries_;
};

}  // namespace shoal::internal
