// Value numbering across modules: a hash for each value, equal if equal ops compute it from equal parameters. It does
// not depend on fusion, nor on whether a loop-invariant value is computed inside or before the loop.
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
  // For while loops and the state parameters of their bodies and conditions: the hash of each tuple element.
  std::unordered_map<const Instruction*, std::vector<uint64_t>> elements_;
};

}  // namespace shoal::internal
