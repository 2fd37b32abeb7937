#include "execute/interp/sized_value.h"

#include "kernels/arrays/array.h"

namespace shoal::internal {

SizedValue::SizedValue(const Shape& shape, ByteMeter* bytes) {
  if (shape.IsBuffer()) {
    *this = SizedValue(shape.element(0), bytes);
  } else if (shape.IsArray()) {
    *this = Array(shape.element_type(), shape.dims(), bytes);
  } else if (shape.IsTuple()) {
    elements_ = std::make_shared<std::vector<SizedValue>>();
    for (const Shape* element : shape.elements()) elements_->emplace_back(*element, bytes);
  }
}

SizedValue SizedValue::Array(ElementType type, Ints dims, ByteMeter* bytes) {
  SizedValue array;
  array.block_ = std::make_shared<Block>(ElementCount(dims) * StorageBytes(type), bytes);
  return array;
}

SizedValue SizedValue::Tuple(std::vector<SizedValue> elements) {
  SizedValue tuple;
  tuple.elements_ = std::make_shared<std::vector<SizedValue>>(std::move(elements));
  return tuple;
}

SizedValue SizedValue::Pending(const Instruction& collective, bool operands_unshared) {
  SizedValue value;
  value.collective_ = &collective;
  value.operands_unshared_ = operands_unshared;
  return value;
}

void SizedValue::Freeze() {
  if (block_ != nullptr) block_->is_frozen = true;
  if (!IsTuple()) return;
  for (SizedValue& element : *elements_) element.Freeze();
}

void SizedValue::AppendSharing(std::vector<int64_t>& out) const {
  if (block_ != nullptr) {
    out.push_back(block_->bytes);
    out.push_back(IsUnique() ? 1 : 0);
  }
  if (!IsTuple()) return;
  for (const SizedValue& element : *elements_) element.AppendSharing(out);
}

}  // namespace shoal::internal
