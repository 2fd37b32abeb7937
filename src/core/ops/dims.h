// Rules about attributes that are lists of dimensions.
#pragma once

#include "core/ops/attrs.h"
#include "core/ops/rules.h"

namespace shoal::internal {

// The error messages name the attribute: "offset_dims must be ascending, got {1,0}".
Status DimsWithin(const Instruction& hlo, std::string_view rule, const Attr<Ints>& key, int64_t limit);
Status DimsDistinct(const Instruction& hlo, std::string_view rule, const Attr<Ints>& key);
Status DimsAscending(const Instruction& hlo, std::string_view rule, const Attr<Ints>& key);  // ascending and distinct

// The key `dimensions` has exactly one entry.
Status OneDimension(const Instruction& hlo, std::string_view rule);

// True if the sizes may belong to the same dimension: they are equal, or one of them is unbounded, "?".
inline bool SizesMatch(int64_t a, int64_t b) { return a == b || a == kUnboundedSize || b == kUnboundedSize; }

}  // namespace shoal::internal
