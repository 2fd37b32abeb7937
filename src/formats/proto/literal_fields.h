// Maps element types to fields of a LiteralProto, and converts the order of the elements. Private to formats/proto.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/ir/literal.h"
#include "hlo.pb.h"

namespace shoal::internal {

// Every field is accessed as bytes: StorageBytes(type) little-endian bytes for each element.
struct LiteralField {
  ElementType type;
  std::string_view (*get)(const proto::LiteralProto& from);
  void (*set)(proto::LiteralProto* to, std::string_view bytes);
};
const LiteralField* FindLiteralField(ElementType type);  // null if it is not an array type

// Copies elements of `size` bytes from the order of `shape`'s layout to row-major order, or back.
enum class Order { kToRowMajor, kFromRowMajor };
void Reorder(const Shape& shape, size_t size, Order order, const std::byte* from, std::byte* to);

}  // namespace shoal::internal
