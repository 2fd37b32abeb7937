#include "execute/interp/held_value.h"

#include "kernels/arrays/array.h"

namespace shoal {

HeldValue::HeldValue(const Shape& shape, HeldBytes* bytes) {
  if (shape.IsBuffer()) {
    *this = HeldValue(shape.element(0), bytes);
  } else if (shape.IsArray()) {
    *this = Array(shape.element_type(), shape.dims(), bytes);
  } else if (shape.IsTuple()) {
    elements_ = std::make_shared<std::vector<HeldValue>>();
    for (const Shape* element : shape.elements()) elements_->emplace_back(*element, bytes);
  }
}

HeldValue HeldValue::Array(ElementType type, Ints dims, HeldBytes* bytes) {
  HeldValue array;
  array.block_ = std::make_shared<Block>(ElementCount(dims) * StorageBytes(type), bytes);
  return array;
}

HeldValue HeldValue::Tuple(std::vector<HeldValue> elements) {
  HeldValue tuple;
  tuple.elements_ = std::make_shared<std::vector<HeldValue>>(std::move(elements));
  return tuple;
}

HeldValue HeldValue::UnderWay(const Instruction& collective, bool given_alone) {
  HeldValue value;
  value.collective_ = &collective;
  value.given_alone_ = given_alone;
  return value;
}

void HeldValue::Fix() {
  if (block_ != nullptr) block_->is_fixed = true;
  if (!IsTuple()) return;
  for (HeldValue& element : *elements_) element.Fix();
}

void HeldValue::AppendSharing(std::vector<int64_t>& out) const {
  if (block_ != nullptr) {
    out.push_back(block_->bytes);
    out.push_back(IsAlone() ? 1 : 0);
  }
  if (!IsTuple()) return;
  for (const HeldValue& element : *elements_) element.AppendSharing(out);
}

}  // namespace shoal
