// Memory traffic and instruction counts of a fusion region.
#pragma once

#include "absl/container/flat_hash_map.h"
#include "analyze/cost/kernel_descriptor.h"

namespace shoal::internal {

// The fraction of each instruction's elements that affect the results. For example, a slice reads part of its operand.
class AccessedFractions {
 public:
  explicit AccessedFractions(const FusionRegion& region);
  double Of(const Instruction& hlo) const {
    auto found = fractions_.find(&hlo);
    return found == fractions_.end() ? 0 : found->second;
  }

 private:
  absl::flat_hash_map<const Instruction*, double> fractions_;
};

double ElementsOf(const Shape& shape);
// Bytes of an array, or of all arrays of a tuple, without layout padding.
double DataBytes(const Shape& shape);
// The instruction found by tracing `root` back through bitcasts, reshapes and converts.
const Instruction& TraceThroughConverts(const Instruction& root);
bool IsInPlaceUpdate(const Instruction& hlo);
// The update operand of a dynamic-update-slice or scatter.
const Instruction& UpdateOf(const Instruction& hlo);

// Sets the fields of `kernel` that describe traffic and work, such as reads, written, in_place and instructions.
void MeasureTraffic(const FusionRegion& region, KernelDescriptor& kernel);

}  // namespace shoal::internal
