// Bytes and instructions of a fused computation.
#pragma once

#include "absl/container/flat_hash_map.h"
#include "analyze/cost/kernel_descriptor.h"

namespace shoal::internal {

// Of the elements of each instruction, the part that is needed: a slice reads only what it gives.
class AccessedFractions {
 public:
  explicit AccessedFractions(const FusionRegion& view);
  double Of(const Instruction& hlo) const {
    auto found = shares_.find(&hlo);
    return found == shares_.end() ? 0 : found->second;
  }

 private:
  absl::flat_hash_map<const Instruction*, double> shares_;
};

double ElementsOf(const Shape& shape);
// Of an array, or of the arrays of a tuple; of bytes that a layout pads nothing is counted.
double DataBytes(const Shape& shape);
// The instruction behind bitcasts, reshapes and converts of a root.
const Instruction& BehindConverts(const Instruction& root);
bool IsInPlaceUpdate(const Instruction& hlo);
// Of a dynamic-update-slice or scatter.
const Instruction& UpdateOf(const Instruction& hlo);

// Fills in reads, written, in_place, instructions, elements, window.
void MeasureTraffic(const FusionRegion& view, KernelDescriptor& kernel);

}  // namespace shoal::internal
