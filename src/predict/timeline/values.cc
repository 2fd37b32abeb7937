#include "predict/timeline/values.h"

#include <algorithm>

#include "core/ops/families.h"
#include "core/ops/traits.h"

namespace shoal::internal {

Leaves Values::Fresh(const Shape& shape) {
  Leaves leaves(static_cast<size_t>(std::clamp<int64_t>(shape.LeafCount(), 1, 1 << 16)));
  for (uint64_t& leaf : leaves) leaf = next_++;
  return leaves;
}

const Leaves& Values::Of(const Instruction& hlo) {
  auto found = leaves_.find(&hlo);
  if (found != leaves_.end()) return found->second;
  Leaves fresh = Fresh(hlo.shape());
  return leaves_[&hlo] = std::move(fresh);
}

bool Values::Forward(const Instruction& hlo) {
  if (hlo.operands.empty()) return false;
  if (IsTuple(hlo)) {
    Leaves all;
    for (const Instruction* operand : hlo.operands) {
      const Leaves& part = Of(*operand);
      all.insert(all.end(), part.begin(), part.end());
    }
    Set(hlo, std::move(all));
    return true;
  }
  if (IsGetTupleElement(hlo) && hlo.operand_shape(0).IsTuple()) {
    const int64_t index = ElementIndexOf(hlo);
    const auto elements = hlo.operand_shape(0).elements();
    size_t first = 0;
    for (int64_t i = 0; i < index && i < static_cast<int64_t>(elements.size()); ++i)
      first += static_cast<size_t>(elements[static_cast<size_t>(i)]->LeafCount());
    const Leaves whole = Of(*hlo.operands[0]);
    const auto count = static_cast<size_t>(hlo.shape().LeafCount());
    if (first + count > whole.size()) return false;
    const auto from = whole.begin() + static_cast<std::ptrdiff_t>(first);
    Set(hlo, Leaves(from, from + static_cast<std::ptrdiff_t>(count)));
    return true;
  }
  constexpr Forwarding kSameBytes = Forwarding::kSame | Forwarding::kAddDependency | Forwarding::kBitcast | Forwarding::kReshaped;
  if (Has(kSameBytes, ForwardingOf(hlo)) && !IsCustomCall(hlo) &&
      hlo.shape().LeafCount() <= static_cast<int64_t>(Of(*hlo.operands[0]).size())) {
    Leaves same = Of(*hlo.operands[0]);
    Set(hlo, std::move(same));
    return true;
  }
  return false;
}

}  // namespace shoal::internal
