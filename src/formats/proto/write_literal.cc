#include <algorithm>
#include <string>
#include <vector>

#include "formats/proto/literal_fields.h"
#include "core/ir/sizes.h"
#include "formats/proto/parts.h"

namespace shoal::internal {

void WriteLiteral(const Literal& literal, proto::LiteralProto* to) {
  const Shape& shape = *literal.shape;
  WriteShape(shape, to->mutable_shape());
  for (const Literal* element : literal.elements) WriteLiteral(*element, to->add_tuple_literals());
  const LiteralField* field = FindLiteralField(shape.element_type());
  if (field == nullptr) return;
  // XLA rejects a literal without a layout.
  if (shape.layout() == nullptr)
    for (int64_t dim = shape.rank(); dim-- > 0;) to->mutable_shape()->mutable_layout()->add_minor_to_major(dim);
  to->mutable_shape()->mutable_layout();
  if (shape.has_dynamic())
    for (int64_t dim : shape.dims()) to->add_dynamic_sizes(static_cast<int32_t>(dim));
  if (literal.elided) return;
  // Elements that the literal does not specify are zero.
  std::vector<std::byte> rows(static_cast<size_t>(BytesOf(literal)));
  std::copy(literal.data.begin(), literal.data.end(), rows.begin());
  std::string bytes(rows.size(), '\0');
  Reorder(shape, static_cast<size_t>(StorageBytes(shape.element_type())), Order::kFromRowMajor, rows.data(),
          reinterpret_cast<std::byte*>(bytes.data()));
  field->set(to, bytes);
}

int64_t BytesOf(const Literal& literal) {
  int64_t bytes = 0;
  for (const Literal* element : literal.elements) bytes = SaturatingAdd(bytes, BytesOf(*element));
  if (!literal.shape->IsArray() || literal.elided) return bytes;
  const int64_t count = literal.shape->ElementCount().value_or(kSizeOverflow);
  return SaturatingAdd(bytes, SaturatingMul(count, StorageBytes(literal.shape->element_type())));
}

}  // namespace shoal::internal
