#include "execute/interp/declared_shape.h"

#include <algorithm>

#include "kernels/elementwise/element_loops.h"

namespace shoal::internal {
namespace {

bool HasDims(const Array& array, const Shape& shape) {
  const Ints dims = array.dims();
  if (dims.size() != shape.dims().size()) return false;
  for (size_t d = 0; d < dims.size(); ++d) {
    const int64_t declared = shape.dims()[d];
    const bool may_be_shorter = shape.is_dynamic(static_cast<int64_t>(d)) && dims[d] <= declared;
    if (dims[d] != declared && !may_be_shorter && declared != kUnboundedSize) return false;
  }
  return true;
}

}  // namespace

bool HasShape(const Value& value, const Shape& shape, bool allow_missing) {
  if (value.IsPending()) return true;
  if (allow_missing && (value.IsToken() || (value.IsTuple() && value.elements().empty()))) return true;
  if (shape.IsBuffer()) return HasShape(value, shape.element(0), allow_missing);
  if (shape.IsArray())
    return value.IsArray() && value.array().type() == shape.element_type() && HasDims(value.array(), shape);
  if (!shape.IsTuple()) return value.IsToken();
  if (!value.IsTuple()) return false;
  auto has = [&](const Value& element, const Shape* declared) { return HasShape(element, *declared, allow_missing); };
  return std::equal(value.elements().begin(), value.elements().end(), shape.elements().begin(), shape.elements().end(),
                    has);
}

Status CheckDeclaredShape(const Instruction& hlo, const Value& value) {
  const OpClass op_class = Info(hlo.opcode).op_class;
  const bool allow_missing = op_class == OpClass::kTransfer || op_class == OpClass::kCollective;
  if (HasShape(value, hlo.shape(), allow_missing)) return {};
  return ExecutionError(hlo, StrCat(Text(hlo.opcode), " returns ", ToString(value), ", but its declared shape is ",
                                    ToString(hlo.shape(), /*with_layout=*/false)));
}

Value WithDeclaredTypes(Value value, const Shape& shape) {
  if (value.IsArray() && shape.IsArray()) return Converted(value.array(), shape.element_type());
  if (!value.IsTuple() || !shape.IsTuple() || value.elements().size() != shape.elements().size()) return value;
  std::vector<Value> elements;
  for (size_t i = 0; i < shape.elements().size(); ++i)
    elements.push_back(WithDeclaredTypes(value.TakeElement(static_cast<int64_t>(i)), *shape.elements()[i]));
  return Value::Tuple(std::move(elements));
}

std::string ToString(const Value& value) {
  if (value.IsArray()) return ToString(value.array());
  if (value.IsToken()) return "token[]";
  if (!value.IsTuple()) return "a pending value";
  std::string text = "(";
  for (const Value& element : value.elements()) StrAppend(&text, text.size() == 1 ? "" : ", ", ToString(element));
  return text + ")";
}

}  // namespace shoal::internal
