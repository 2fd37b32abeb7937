// Value numbering across modules. Two values have equal hashes if equal ops compute them from equal parameters. Fusion
// and the hoisting of loop-invariant values out of loops do not change the hashes.
#pragma once

#include "analyze/diff/data_flow.h"
#include "analyze/diff/fingerprint.h"

namespace shoal::internal {

class ValueHashes {
 public:
  ValueHashes(const DataFlow& flow, const Fingerprints& fingerprints);

  uint64_t operator[](uint32_t id) const { return hashes_[id]; }
  uint64_t Of(const ValueRef& source) const;

 private:
  std::vector<const Instruction*> NeededFor(const Instruction& hlo) const;
  uint64_t HashOf(const Instruction& hlo);
  uint64_t HashWhile(const Instruction& loop);
  uint64_t HashState(const Instruction& parameter, const Instruction& loop);
  uint64_t OfRoot(const Computation* computation) const;

  const DataFlow& flow_;
  const Fingerprints& fingerprints_;
  std::vector<uint64_t> hashes_;
  // The hash of each tuple element, for while loops and for the state parameters of their bodies and conditions.
  std::unordered_map<const Instruction*, std::vector<uint64_t>> elements_;
};

}  // namespace shoal::internal
