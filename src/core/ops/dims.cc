#include "core/ops/dims.h"

#include <algorithm>

namespace shoal::internal {

Status DimsWithin(const Instruction& hlo, std::string_view rule, const Attr<Ints>& key, int64_t limit) {
  Ints dims = hlo[key];
  if (AllWithin(dims, 0, limit)) return {};
  return Broken(hlo, rule, StrCat(key.name, " must lie in [0, ", limit, "), got ", Str(dims)));
}

Status DimsDistinct(const Instruction& hlo, std::string_view rule, const Attr<Ints>& key) {
  Ints dims = hlo[key];
  if (AllDistinct(dims)) return {};
  return Broken(hlo, rule, StrCat(key.name, " must not repeat a dimension, got ", Str(dims)));
}

Status DimsAscending(const Instruction& hlo, std::string_view rule, const Attr<Ints>& key) {
  Ints dims = hlo[key];
  auto not_less = [](int64_t a, int64_t b) { return a >= b; };
  if (std::adjacent_find(dims.begin(), dims.end(), not_less) == dims.end()) return {};
  return Broken(hlo, rule, StrCat(key.name, " must be ascending, got ", Str(dims)));
}

Status OneDimension(const Instruction& hlo, std::string_view rule) {
  if (hlo[kDimensions].size() == 1) return {};
  return Broken(hlo, rule, StrCat("dimensions must have one entry, got ", Str(hlo[kDimensions])));
}

}  // namespace shoal::internal
