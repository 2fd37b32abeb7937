#include <vector>

#include "core/base/strings.h"
#include "formats/proto/literal_fields.h"
#include "formats/proto/parts.h"

namespace shoal::internal {
namespace {

// Converts narrow elements, of one byte each, to the form in a Literal: the upper bits repeat the sign, or are zero.
void ExtendNarrowElements(ElementType type, std::span<std::byte> data) {
  const int bits = BitWidth(type);
  if (bits >= 8) return;
  for (std::byte& element : data) {
    auto value = static_cast<uint8_t>(element);
    if (type == ElementType::kPred) {
      value = value != 0;
    } else if (IsSigned(type)) {
      value = static_cast<uint8_t>(static_cast<int8_t>(value << (8 - bits)) >> (8 - bits));
    } else {
      value &= static_cast<uint8_t>((1u << bits) - 1);
    }
    element = static_cast<std::byte>(value);
  }
}

Result<const Literal*> ReadValue(Module& module, const Shape& shape, const proto::LiteralProto& from);

Result<const Literal*> ReadTuple(Module& module, const Shape& shape, const proto::LiteralProto& from) {
  const size_t count = shape.elements().size();
  if (static_cast<size_t>(from.tuple_literals_size()) != count)
    return Fail(StrCat("literal: expected ", count, " tuple elements, got ", from.tuple_literals_size()));
  std::vector<const Literal*> elements;
  for (size_t i = 0; i < count; ++i) {
    SHOAL_ASSIGN(element, ReadValue(module, *shape.elements()[i], from.tuple_literals(static_cast<int>(i))));
    elements.push_back(element);
  }
  Literal* literal = module.arena.New<Literal>();
  literal->shape = &shape;
  literal->elements = module.arena.Copy(elements);
  return literal;
}

Result<const Literal*> ReadValue(Module& module, const Shape& shape, const proto::LiteralProto& from) {
  if (shape.IsTuple()) return ReadTuple(module, shape, from);
  const LiteralField* field = FindLiteralField(shape.element_type());
  if (field == nullptr && !shape.IsToken())
    return Fail(StrCat("literal: ", Text(shape.element_type()), " cannot have a value"));
  Literal* literal = module.arena.New<Literal>();
  literal->shape = &shape;
  if (field == nullptr) return literal;

  const std::string_view values = field->get(from);
  const auto size = static_cast<size_t>(StorageBytes(shape.element_type()));
  for (int64_t dim : shape.dims())
    if (dim == kUnboundedSize) return Fail("literal: a shape with an unbounded dimension cannot have values");
  for (int i = 0; i < from.dynamic_sizes_size() && i < shape.rank(); ++i)
    if (from.dynamic_sizes(i) != shape.dim(i))
      return Fail(StrCat("literal: dimension ", i, " of ", ToString(shape), " has the size ", from.dynamic_sizes(i),
                         ", but a literal smaller than its bound is not supported"));
  const auto count = static_cast<size_t>(*shape.ElementCount());
  if (values.empty() && count > 0) return ElidedLiteral(module, shape);
  if (values.size() != count * size)
    return Fail(
        StrCat("literal: ", ToString(shape), " has ", count, " elements, but the message has ", values.size() / size));
  literal->data = module.arena.NewSpan<std::byte>(values.size());
  Reorder(shape, size, Order::kToRowMajor, reinterpret_cast<const std::byte*>(values.data()), literal->data.data());
  ExtendNarrowElements(shape.element_type(), literal->data);
  return literal;
}

}  // namespace

const Literal* ElidedLiteral(Module& module, const Shape& shape) {
  Literal* literal = module.arena.New<Literal>();
  literal->shape = &shape;
  if (shape.IsTuple()) {
    std::span<const Literal*> elements = module.arena.NewSpan<const Literal*>(shape.elements().size());
    for (size_t i = 0; i < elements.size(); ++i) elements[i] = ElidedLiteral(module, *shape.elements()[i]);
    literal->elements = elements;
  } else {
    literal->elided = true;
  }
  return literal;
}

Result<const Literal*> ReadLiteral(Module& module, const proto::LiteralProto& from) {
  if (!from.has_shape()) return Fail("literal: the shape is missing");
  SHOAL_ASSIGN(shape, ReadShape(module, from.shape()));
  return ReadValue(module, *shape, from);
}

}  // namespace shoal::internal
