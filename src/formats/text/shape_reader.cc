// Reads shapes and layouts: f32[2,<=3]{1,0:T(8,128)S(1)}, (f32[], token[]), b(f32[4]).
#include "absl/container/inlined_vector.h"
#include "core/base/scan.h"
#include "core/ir/sizes.h"
#include "formats/text/shape_reader.h"

namespace shoal::internal {
namespace {

std::string_view ValidateLayout(const Layout& layout) {
  const int64_t rank = std::ssize(layout.minor_to_major);
  uint64_t seen = 0;
  for (int64_t dim : layout.minor_to_major) {
    if (dim < 0 || dim >= rank || (dim < 64 && (seen >> dim & 1) != 0))
      return "has a layout that is not a permutation of its dimensions";
    if (dim < 64) seen |= uint64_t{1} << dim;
  }
  if (layout.plain()) return {};
  if (layout.index_type != ElementType::kInvalid || layout.pointer_type != ElementType::kInvalid)
    return "has the layout of a sparse array";
  bool positive = layout.tail_padding_alignment > 0 && layout.element_size_in_bits >= 0;
  for (const Tile& tile : layout.tiles) {
    positive &= !tile.dimensions.empty();
    for (int64_t dim : tile.dimensions) positive &= dim > 0 || dim == Tile::kCombine;
  }
  return positive ? std::string_view() : "has a layout with a non-positive size";
}

// Applies the checks that XLA's parser makes for arrays inside a tuple, but not for other arrays.
std::string_view ValidateTupleElement(const Shape& shape) {
  if (!shape.IsArray()) return {};
  return SizeOverflows(shape) ? "has a size that overflows 64 bits" : ValidateLayout(*shape.layout());
}

}  // namespace

bool ShapeReader::AtShape() {
  if (kind() == Tok::kType || kind() == Tok::kLparen) return true;
  return kind() == Tok::kIdent && token().text == "b" && lexer_.Peek() == Tok::kLparen;
}

// Returns the text of the array shape at the current token if it has the common form, else an empty string.
std::string_view ShapeReader::ShapeText() const {
  std::string_view text = lexer_.text();
  const size_t start = token().offset;
  size_t end = FindAny<']', '\n'>(text, token().end);
  if (end + 1 >= text.size() || text[end] != ']') return {};
  ++end;
  // In the common form, a layout begins with '{' and a digit.
  if (text[end] == '{' && end + 1 < text.size() && text[end + 1] >= '0' && text[end + 1] <= '9') {
    end = FindAny<'}', '\n'>(text, end);
    if (end >= text.size() || text[end] != '}') return {};
    ++end;
  } else if (text[end] == '{' || text[end] == ' ') {
    // This may be a layout after a blank, or one of the form {:T(128)}.
    size_t next = text.find_first_not_of(' ', end);
    if (next != std::string_view::npos && text[next] == '{') return {};
  }
  return text.substr(start, end - start);
}

const Shape* ShapeReader::ReadShape() {
  if (kind() == Tok::kType) {
    std::string_view text = ShapeText();
    if (text.empty()) return ReadArrayShape();
    if (auto cached = shapes_by_text_.find(text); cached != shapes_by_text_.end()) {
      lexer_.Seek(token().offset + static_cast<uint32_t>(text.size()));
      return cached->second;
    }
    const uint32_t end = token().offset + static_cast<uint32_t>(text.size());
    const Shape* shape = ReadArrayShape();
    if (shape != nullptr && lexer_.previous_end() == end) shapes_by_text_.emplace(text, shape);
    return shape;
  }
  Depth depth(*this);
  if (depth.TooDeep()) return nullptr;
  if (kind() == Tok::kLparen) {
    std::vector<const Shape*> elements;
    bool good = ReadList(Tok::kLparen, Tok::kRparen, Tok::kComma, [&] {
      const TextSpan at = token().span();
      elements.push_back(ReadShape());
      if (elements.back() == nullptr) return false;
      std::string_view problem = ValidateTupleElement(*elements.back());
      return problem.empty() || TolerateDeviation(at, "loose.tuple", StrCat("this tuple element ", problem));
    });
    return good ? module_.shapes.Tuple(elements) : nullptr;
  }
  if (AtShape()) {  // b(
    lexer_.Next();
    lexer_.Next();
    TextSpan at = token().span();
    const Shape* element = ReadShape();
    if (element == nullptr || !Expect(Tok::kRparen, "')' after a buffer's shape")) return nullptr;
    if (element->IsArray()) return module_.shapes.Buffer(element);
    Error(at, "a buffer must contain an array");
    return nullptr;
  }
  ErrorHere(StrCat("expected a shape, found '", token().text.substr(0, 40), "'"));
  return nullptr;
}

const Shape* ShapeReader::ReadArrayShape() {
  const ElementType type = token().type;
  lexer_.Next();
  absl::InlinedVector<int64_t, 8> dims;
  absl::InlinedVector<bool, 8> dynamic;
  bool any_dynamic = false;
  bool good = ReadList(Tok::kLsquare, Tok::kRsquare, Tok::kComma, [&] {
    bool is_dynamic = kind() == Tok::kQuestion || kind() == Tok::kLeq;
    int64_t size = kUnboundedSize;
    if (is_dynamic && kind() == Tok::kQuestion) {
      lexer_.Next();
    } else {
      if (is_dynamic) lexer_.Next();
      TextSpan at = token().span();
      if (!ReadInt(&size)) return false;
      if (size < 0) return Error(at, StrCat("a dimension must not be negative, got ", size));
    }
    dims.push_back(size);
    dynamic.push_back(is_dynamic);
    any_dynamic |= is_dynamic;
    return true;
  });
  if (!good) return nullptr;
  Ints sizes(dims.data(), dims.size());
  if (!IsArrayType(type)) {
    if (!dims.empty()) {
      ErrorHere(StrCat("a ", Text(type), " cannot have dimensions"));
      return nullptr;
    }
    return type == ElementType::kToken ? module_.shapes.Token() : module_.shapes.Opaque();
  }
  const bool* dynamic_dims = any_dynamic ? dynamic.data() : nullptr;
  // A '{' may also open the body of a computation; a layout continues with a number or a colon.
  if (kind() != Tok::kLbrace)
    return module_.shapes.Array(type, sizes, dynamic_dims, module_.shapes.DefaultLayout(dims.size()));
  Tok next = lexer_.Peek();
  if (next != Tok::kInt && next != Tok::kColon)
    return module_.shapes.Array(type, sizes, dynamic_dims, module_.shapes.DefaultLayout(dims.size()));

  Layout layout;
  TextSpan at = token().span();
  absl::InlinedVector<int64_t, 8> order;
  std::vector<Tile> tiles;
  std::vector<SplitConfig> splits;
  lexer_.Next();
  if (kind() == Tok::kInt) {
    do {
      order.emplace_back();
      if (!ReadInt(&order.back())) return nullptr;
    } while (Eat(Tok::kComma));
  }
  if (Eat(Tok::kColon) && !ReadLayoutExtras(&layout, tiles, splits)) return nullptr;
  if (!Expect(Tok::kRbrace, "'}' after the layout")) return nullptr;
  if (order.size() != dims.size()) {
    Error(at, StrCat("the layout has ", order.size(), " dimensions, but the shape has ", dims.size()));
    return nullptr;
  }
  layout.minor_to_major = Ints(order.data(), order.size());
  layout.tiles = tiles;
  layout.split_configs = splits;
  // If strict, the verifier reports an invalid layout. Otherwise it is replaced here, because later code relies on it.
  if (std::string_view problem = options_.strict || options_.collects_deviations ? "" : ValidateLayout(layout); !problem.empty()) {
    diags_.Warn(at, "loose.layout", StrCat("this shape ", problem, "; assuming row-major order"));
    Layout plain = *module_.shapes.DefaultLayout(dims.size());
    plain.memory_space = layout.memory_space;
    layout = plain;
  }
  return module_.shapes.Array(type, sizes, dynamic_dims, module_.shapes.Intern(layout));
}

// Reads the optional parts after the colon, in order: D(…) T(…)… L(n) #(type) *(type) E(n) S(n) SC(…)… P(shape) M(n)
bool ShapeReader::ReadLayoutExtras(Layout* layout, std::vector<Tile>& tiles, std::vector<SplitConfig>& splits) {
  auto eat_letter = [&](std::string_view letter) {
    if (kind() != Tok::kIdent || token().text != letter) return false;
    lexer_.Next();
    return true;
  };
  if (eat_letter("D")) {  // the sparsity of each dimension: read, but dropped, as in XLA
    auto read_level = [&] {
      bool good = kind() == Tok::kIdent && token().text.size() == 1 && token().text.find_first_of("DCSH") == 0;
      if (!good) return ErrorHere("expected D, C, S or H");
      lexer_.Next();
      Eat(Tok::kPlus);
      Eat(Tok::kTilde);
      return true;
    };
    if (!ReadList(Tok::kLparen, Tok::kRparen, Tok::kComma, read_level)) return false;
  }
  if (eat_letter("T") && !ReadTiles(tiles)) return false;
  if (eat_letter("L") && !ReadParenInt(&layout->tail_padding_alignment)) return false;
  if (Eat(Tok::kHash) && !ReadParenType(&layout->index_type)) return false;
  if (Eat(Tok::kAsterisk) && !ReadParenType(&layout->pointer_type)) return false;
  if (eat_letter("E") && !ReadParenInt(&layout->element_size_in_bits)) return false;
  if (eat_letter("S") && !ReadParenInt(&layout->memory_space)) return false;
  if (eat_letter("SC") && !ReadSplitConfigs(splits)) return false;
  if (eat_letter("P")) return ErrorHere("a physical shape is only allowed in the layout of a sparse array");
  if (eat_letter("M") && !ReadParenInt(&layout->dynamic_metadata_bytes)) return false;
  return true;
}

bool ShapeReader::ReadTiles(std::vector<Tile>& tiles) {
  do {
    std::vector<int64_t> dims;
    bool good = ReadList(Tok::kLparen, Tok::kRparen, Tok::kComma, [&] {
      dims.push_back(Tile::kCombine);
      return Eat(Tok::kAsterisk) || ReadInt(&dims.back());
    });
    if (!good) return false;
    tiles.push_back({module_.arena.Copy(dims)});
  } while (kind() == Tok::kLparen);
  return true;
}

// (dimension:index,index)…
bool ShapeReader::ReadSplitConfigs(std::vector<SplitConfig>& splits) {
  do {
    SplitConfig split;
    if (!Expect(Tok::kLparen, "'(' before a split") || !ReadInt(&split.dimension)) return false;
    if (!ReadInts(&split.indices, Tok::kColon, Tok::kRparen)) return false;
    splits.push_back(split);
  } while (kind() == Tok::kLparen);
  return true;
}

bool ShapeReader::ReadParenInt(int64_t* value) {
  return Expect(Tok::kLparen, "'('") && ReadInt(value) && Expect(Tok::kRparen, "')'");
}

bool ShapeReader::ReadParenType(ElementType* type) {
  if (!Expect(Tok::kLparen, "'('")) return false;
  if (kind() != Tok::kType || !IsUnsigned(token().type)) return ErrorHere("expected an unsigned integer type");
  *type = token().type;
  lexer_.Next();
  return Expect(Tok::kRparen, "')'");
}

}  // namespace shoal::internal
