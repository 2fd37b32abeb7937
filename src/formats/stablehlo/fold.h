// Arithmetic on the elements of constants.
#pragma once

#include <optional>
#include <vector>

#include "core/ops/opcode.h"
#include "formats/stablehlo/mlir.h"

namespace shoal::internal {

inline constexpr int64_t kMaxFoldedElements = 65536;

// The element `i` of a dense attribute; floats as their value, integers as they are.
struct FoldedElement {
  double real = 0;
  int64_t whole = 0;
};
FoldedElement ElementAt(const MlirAttr& dense, int64_t i);
int64_t ElementCount(const MlirType& type);

// An elementwise op applied to constants; null if it is not known or too large. `direction` is that of a compare.
const MlirAttr* FoldElementwise(Opcode opcode, std::span<const MlirAttr* const> operands, const MlirType& result,
                                std::string_view direction, Arena& arena);
// A constant whose element i is element `sources[i]` of another.
const MlirAttr* Permuted(const MlirAttr& dense, const MlirType& result, std::span<const int64_t> sources, Arena& arena);
// The same elements with another type of the same number of elements, or a splat of another shape.
const MlirAttr* WithType(const MlirAttr& dense, const MlirType& result, Arena& arena);
const MlirAttr* SplatOf(double value, const MlirType& result, Arena& arena);
// True if all elements equal `value`.
bool IsSplatOf(const MlirAttr& dense, double value);

}  // namespace shoal::internal
