// Reads the values of constants.
#pragma once

#include "formats/text/shape_reader.h"

namespace shoal::internal {

class LiteralReader : public ShapeReader {
 protected:
  using ShapeReader::ShapeReader;

  const Literal* ReadLiteral(const Shape& shape);
  const Literal* ReadLiteralWithShape();

 private:
  const Literal* ReadTupleLiteral(const Shape& shape);
  const Literal* ReadArrayLiteral(const Shape& shape);
  bool ReadElement(const Shape& shape, std::byte* to);
  bool ReadComplexElement(const Shape& shape, std::byte* to);
  bool StoreFloat(ElementType type, double value, TextSpan at, std::byte* to);
  bool StoreInt(ElementType type, int64_t value, TextSpan at, std::byte* to);
};

}  // namespace shoal::internal
