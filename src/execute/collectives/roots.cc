#include "execute/collectives/roots.h"

#include "core/base/strings.h"
#include "core/ops/families.h"

namespace shoal::internal {

Roots::Roots(const Instruction& hlo, const Arrays& arrays) : hlo_(hlo) {
  const bool dynamic = hlo[kHasDynamicRoot];
  const size_t count = arrays.size() - (dynamic ? 1 : 0);
  for (size_t k = 0; k < count; ++k) {
    bytes_.push_back(arrays[k].bytes());
    roots_.push_back(dynamic ? IntAt(arrays.back(), static_cast<int64_t>(k)) : 0);
  }
}

int64_t Roots::BytesAt(int64_t position) const {
  int64_t bytes = 0;
  for (size_t k = 0; k < roots_.size(); ++k)
    if (roots_[k] == position) bytes += bytes_[k];
  return bytes;
}

Status Roots::Check(int64_t members) const {
  for (int64_t root : roots_)
    if (root < 0 || root >= members)
      return Fail(hlo_.at, "", StrCat("the root must lie in [0, ", members, "), got ", root));
  return {};
}

}  // namespace shoal::internal
