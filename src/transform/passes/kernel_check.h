// Asks the kernel builder whether kernels can compute a fusion. Fusions with equal bodies are built once.
#pragma once

#include "absl/container/flat_hash_map.h"
#include "core/ir/equivalence.h"
#include "transform/passes/pass.h"

namespace shoal::internal {

class KernelCheck {
 public:
  // The checked fusions must not change while the object exists.
  explicit KernelCheck(const PassContext& context) : context_(context) {}

  // Returns false if the builder refuses the fusion, which has replaced the group of `root`, and reports the refusal.
  bool Accepts(const Instruction& fusion, const Instruction& root);

 private:
  const PassContext& context_;
  absl::flat_hash_map<const Computation*, std::string_view, BodyHash, BodyEqual> refusals_;  // empty: accepted
};

}  // namespace shoal::internal
