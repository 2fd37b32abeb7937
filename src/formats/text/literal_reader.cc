// Reads values in constant(…): {{1, 2}, {3, 4}}, true, (1, -2), nan(0x1), {...}.
#include <bit>
#include <cmath>
#include <cstring>

#include "formats/text/literal_reader.h"

namespace shoal::internal {
namespace {

double LargestFinite(const ElementTypeInfo& info) {
  uint64_t largest = (uint64_t{1} << (info.bits - 1)) - 1;
  if (info.specials == FloatSpecials::kFnu) largest = 0xFE;
  while (!std::isfinite(DecodeFloat(info.type, largest))) --largest;
  return DecodeFloat(info.type, largest);
}

}  // namespace

const Literal* LiteralReader::ReadLiteral(const Shape& shape) {
  if (shape.IsTuple()) return ReadTupleLiteral(shape);
  if (shape.IsArray()) return ReadArrayLiteral(shape);
  ErrorHere(StrCat("a constant cannot have the shape ", ToString(shape)));
  return nullptr;
}

// Reads literal= of a custom call: a shape and a value, or a list of these in parentheses.
const Literal* LiteralReader::ReadLiteralWithShape() {
  Depth depth(*this);
  if (depth.TooDeep()) return nullptr;
  if (kind() != Tok::kLparen) {
    const Shape* shape = ReadShape();
    return shape == nullptr ? nullptr : ReadLiteral(*shape);
  }
  std::vector<const Literal*> elements;
  std::vector<const Shape*> shapes;
  bool good = ReadList(Tok::kLparen, Tok::kRparen, Tok::kComma, [&] {
    elements.push_back(ReadLiteralWithShape());
    if (elements.back() == nullptr) return false;
    shapes.push_back(elements.back()->shape);
    return true;
  });
  if (!good) return nullptr;
  Literal* tuple = module_.arena.New<Literal>();
  tuple->shape = module_.shapes.Tuple(shapes);
  tuple->elements = module_.arena.Copy(elements);
  return tuple;
}

const Literal* LiteralReader::ReadTupleLiteral(const Shape& shape) {
  Depth depth(*this);
  if (depth.TooDeep() || !Expect(Tok::kLparen, "'(' before the elements of a tuple")) return nullptr;
  std::vector<const Literal*> elements;
  if (kind() != Tok::kRparen) {
    for (const Shape* element : shape.elements()) {
      if (!elements.empty() && !Expect(Tok::kComma, "',' between the elements of a tuple")) return nullptr;
      elements.push_back(ReadLiteral(*element));
      if (elements.back() == nullptr) return nullptr;
    }
  }
  if (!Expect(Tok::kRparen, "')' after the elements of a tuple")) return nullptr;
  if (elements.size() != shape.elements().size()) {
    ErrorHere(StrCat("the tuple ", ToString(shape), " has ", shape.elements().size(), " elements, found none"));
    return nullptr;
  }
  Literal* tuple = module_.arena.New<Literal>();
  tuple->shape = &shape;
  tuple->elements = module_.arena.Copy(elements);
  return tuple;
}

// Follows XLA's parser: commas are optional, and a lone value is the first element of an array whose others are 0.
const Literal* LiteralReader::ReadArrayLiteral(const Shape& declared) {
  // The shape of the value is static and has elements of the default size.
  Layout layout = *declared.layout();
  layout.element_size_in_bits = 0;
  const Shape& shape =
      *module_.shapes.Array(declared.element_type(), declared.dims(), nullptr, module_.shapes.Intern(layout));
  const int64_t rank = shape.rank();
  const std::optional<int64_t> count = shape.ElementCount();
  const int64_t width = StorageBytes(shape.element_type());
  std::vector<std::byte> data;
  std::vector<int64_t> seen(static_cast<size_t>(rank), 0);
  int64_t level = 0;
  bool elided = false;
  do {
    const TextSpan at = token().span();
    switch (kind()) {
      case Tok::kLbrace:
        if (++level > rank) {
          Error(at, StrCat("the value is nested deeper than its rank ", rank));
          return nullptr;
        }
        if (level > 1 && ++seen[level - 2] > shape.dim(level - 2)) {
          Error(at, StrCat("more than ", shape.dim(level - 2), " subarrays in dimension ", level - 2));
          return nullptr;
        }
        lexer_.Next();
        break;
      case Tok::kRbrace:
        if (level == 0) {
          Error(at, "unmatched '}'");
          return nullptr;
        }
        --level;
        if (seen[level] != shape.dim(level)) {
          Error(at, StrCat("expected ", shape.dim(level), level == rank - 1 ? " elements" : " subarrays",
                           " in dimension ", level, ", found ", seen[level]));
          return nullptr;
        }
        seen[level] = 0;
        lexer_.Next();
        break;
      case Tok::kComma:
        lexer_.Next();
        break;
      case Tok::kDots:
        if (level != 1) {
          Error(at, "'...' must be the only content of the outermost braces");
          return nullptr;
        }
        elided = true;
        seen[0] = shape.dim(0);
        lexer_.Next();
        break;
      default: {
        if (rank > 0 && level == rank) ++seen[rank - 1];
        const auto have = static_cast<int64_t>(data.size()) / width;
        if (count && have >= *count) {
          Error(at, StrCat("more values than the ", *count, " elements of ", ToString(shape)));
          return nullptr;
        }
        data.resize(data.size() + static_cast<size_t>(width));
        if (!ReadElement(shape, data.data() + have * width)) return nullptr;
        break;
      }
    }
  } while (level > 0);

  Literal* literal = module_.arena.New<Literal>();
  literal->shape = &shape;
  literal->elided = elided;
  if (elided) return literal;
  literal->data = module_.arena.Copy(data);
  return literal;
}

bool LiteralReader::ReadElement(const Shape& shape, std::byte* to) {
  const ElementType type = shape.element_type();
  const TextSpan at = token().span();
  if (kind() == Tok::kLparen) return ReadComplexElement(shape, to);
  if (token().Is(Word::kTrue) || token().Is(Word::kFalse)) {
    if (type != ElementType::kPred) return Error(at, StrCat("true and false are values of pred, not of ", Text(type)));
    *to = token().Is(Word::kTrue) ? std::byte{1} : std::byte{0};
    lexer_.Next();
    return true;
  }
  if (IsInteger(type) || type == ElementType::kPred) {
    int64_t value = 0;
    return ReadInt(&value) && StoreInt(type, value, at, to);
  }
  if (IsFloat(type)) {
    double value = 0;
    return ReadDouble(&value) && StoreFloat(type, value, at, to);
  }
  return Error(at, StrCat("expected a value of ", Text(type)));
}

bool LiteralReader::ReadComplexElement(const Shape& shape, std::byte* to) {
  const ElementType type = shape.element_type();
  const TextSpan at = token().span();
  if (!IsComplex(type)) return Error(at, StrCat("only complex values are written in parentheses, not ", Text(type)));
  double real = 0, imaginary = 0;
  lexer_.Next();
  if (!ReadDouble(&real) || !Expect(Tok::kComma, "',' after the real part") || !ReadDouble(&imaginary) ||
      !Expect(Tok::kRparen, "')' after a complex value"))
    return false;
  const ElementType part = type == ElementType::kC64 ? ElementType::kF32 : ElementType::kF64;
  // If the real part is NaN, XLA's parser sets the imaginary part to the same NaN.
  if (std::isnan(real)) imaginary = real;
  return StoreFloat(part, real, at, to) && StoreFloat(part, imaginary, at, to + StorageBytes(part));
}

bool LiteralReader::StoreInt(ElementType type, int64_t value, TextSpan at, std::byte* to) {
  const int bits = BitWidth(type);
  if (type == ElementType::kPred) {
    *to = value != 0 ? std::byte{1} : std::byte{0};
    return true;
  }
  bool fits = true;
  if (IsUnsigned(type)) {
    fits = bits == 64 || static_cast<uint64_t>(value) < uint64_t{1} << bits;
  } else if (bits < 64) {
    const int64_t half = int64_t{1} << (bits - 1);
    fits = value >= -half && value < half;
  }
  if (!fits) return Error(at, StrCat(value, " does not fit into ", Text(type)));
  std::memcpy(to, &value, static_cast<size_t>(StorageBytes(type)));
  return true;
}

bool LiteralReader::StoreFloat(ElementType type, double value, TextSpan at, std::byte* to) {
  const ElementTypeInfo& info = Info(type);
  uint64_t bits = 0;
  if (std::isnan(value)) {
    // Preserves sign and payload if the type can represent them.
    uint64_t payload = std::bit_cast<uint64_t>(value) & ((uint64_t{1} << 52) - 1);
    const bool quiet = payload == uint64_t{1} << 51;
    bits = EncodeFloat(type, value);
    if (info.specials == FloatSpecials::kIeee) {
      if (quiet) payload = uint64_t{1} << (info.mantissa_bits - 1);
      if (payload >= uint64_t{1} << info.mantissa_bits)
        return Error(at, StrCat("the NaN payload 0x", Hex(payload), " does not fit into ", Text(type)));
      uint64_t exponent = ((uint64_t{1} << info.exponent_bits) - 1) << info.mantissa_bits;
      bits = exponent | payload | (std::signbit(value) ? uint64_t{1} << (info.bits - 1) : 0);
    } else if (!quiet) {
      return Error(at, StrCat("a NaN of ", Text(type), " cannot have a payload"));
    }
  } else {
    bits = EncodeFloat(type, value);
    if (std::isfinite(value) && !std::isfinite(DecodeFloat(type, bits)))
      return Error(at,
                   StrCat(value, " is out of range for ", Text(type), "; its largest value is ", LargestFinite(info)));
  }
  std::memcpy(to, &bits, static_cast<size_t>(StorageBytes(type)));
  return true;
}

}  // namespace shoal::internal
