#include <string>

#include "proto/literal_fields.h"
#include "proto/parts.h"

namespace shoal {

void WriteLiteral(const Literal& literal, proto::LiteralProto* to) {
  const Shape& shape = *literal.shape;
  WriteShape(shape, to->mutable_shape());
  for (const Literal* element : literal.elements) WriteLiteral(*element, to->add_tuple_literals());
  const LiteralField* field = FindLiteralField(shape.element_type());
  if (field == nullptr) return;
  // A literal without a layout is one XLA does not read.
  if (shape.layout() == nullptr)
    for (int64_t dim = shape.rank(); dim-- > 0;) to->mutable_shape()->mutable_layout()->add_minor_to_major(dim);
  to->mutable_shape()->mutable_layout();
  if (shape.has_dynamic())
    for (int64_t dim : shape.dims()) to->add_dynamic_sizes(static_cast<int32_t>(dim));
  if (literal.elided) return;
  std::string bytes(literal.data.size(), '\0');
  Reorder(shape, static_cast<size_t>(StorageBytes(shape.element_type())), Order::kFromRowMajor, literal.data.data(),
          reinterpret_cast<std::byte*>(bytes.data()));
  field->set(to, bytes);
}

}  // namespace shoal
