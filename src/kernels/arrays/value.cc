#include "kernels/arrays/value.h"

namespace shoal::internal {

Value Value::TakeElement(int64_t i) {
  auto& tuple = std::get<std::shared_ptr<std::vector<Value>>>(rep_);
  Value& element = (*tuple)[static_cast<size_t>(i)];
  // A tuple stays within one device's thread, so the count is exact.
  if (tuple.use_count() == 1) return std::exchange(element, Value());
  return element;
}

void AppendLeaves(const Value& value, std::vector<Value>& leaves) {
  if (!value.IsTuple()) return leaves.push_back(value);
  for (const Value& element : value.elements()) AppendLeaves(element, leaves);
}

Value FromLeaves(const Shape& shape, std::span<const Value> leaves, size_t& next) {
  if (!shape.IsTuple()) return leaves[next++];
  std::vector<Value> elements;
  for (const Shape* element : shape.elements()) elements.push_back(FromLeaves(*element, leaves, next));
  return Value::Tuple(std::move(elements));
}

Value ZeroValue(const Shape& shape) {
  if (shape.IsArray()) return Array::Zeros(shape.element_type(), shape.dims());
  if (shape.IsBuffer()) return ZeroValue(shape.element(0));
  if (!shape.IsTuple()) return {};
  std::vector<Value> elements;
  for (const Shape* element : shape.elements()) elements.push_back(ZeroValue(*element));
  return Value::Tuple(std::move(elements));
}

}  // namespace shoal::internal
