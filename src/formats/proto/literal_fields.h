// Which field of a LiteralProto holds the elements of which type, and the order in which it holds them. Private to
// proto/.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "core/ir/literal.h"
#include "hlo.pb.h"

namespace shoal::internal {

// All fields are bytes in the end: StorageBytes(type) little-endian ones for each element.
struct LiteralField {
  ElementType type;
  std::string_view (*get)(const proto::LiteralProto& from);
  void (*set)(proto::LiteralProto* to, std::string_view bytes);
};
const LiteralField* FindLiteralField(ElementType type);  // null if it is no array's

// Copies elements of `size` bytes from the order of `shape`'s layout to row-major order, or back.
enum class Order { kToRowMajor, kFromRowMajor };
void Reorder(const Shape& shape, size_t size, Order order, const std::byte* from, std::byte* to);

}  // namespace shoal::internal
