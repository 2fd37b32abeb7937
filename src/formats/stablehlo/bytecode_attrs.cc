// Attributes and types in bytecode: dispatch to their dialects, and the parts that dialects share. Unknown ones are
// kept as opaque.
#include "core/ir/literal.h"
#include "core/ir/sizes.h"
#include "formats/stablehlo/bytecode_reader.h"
#include "formats/stablehlo/element_names.h"

namespace shoal::internal {

const MlirAttr* MlirBytecodeReader::Attr(uint64_t index) {
  if (index >= attrs_.size()) {
    Error(StrCat("there is no attribute ", index));
    return nullptr;
  }
  Entry& entry = attrs_[index];
  if (entry.state == Entry::State::kRead) return entry.attr;
  if (entry.state == Entry::State::kReading || ++depth_ > kMaxDepth) {
    Error(entry.data.data(), "an attribute contains itself, or attributes are nested too deeply");
    return nullptr;
  }
  entry.state = Entry::State::kReading;
  BytecodeStream stream(entry.data);
  const MlirAttr* attr = nullptr;
  if (!entry.custom) {
    MlirAttr* text = NewAttr(Kind::kOpaque);
    text->text = stream.CString();
    attr = text;
  } else if (entry.dialect == "builtin") {
    attr = ReadBuiltinAttr(stream);
  } else if (entry.dialect == "vhlo") {
    attr = ReadVhloAttr(stream);
  } else if (entry.dialect == "stablehlo") {
    attr = ReadStablehloAttr(stream);
  } else if (entry.dialect == "sdy") {
    attr = ReadSdyAttr(stream);
  } else {
    attr = NewAttr(Kind::kOpaque);
  }
  --depth_;
  if (!failed_ && stream.failed()) Error(entry.data.data(), "an attribute is cut short");
  entry.state = Entry::State::kRead;
  entry.attr = failed_ ? nullptr : attr;
  return entry.attr;
}

const MlirType* MlirBytecodeReader::Type(uint64_t index) {
  if (index >= types_.size()) {
    Error(StrCat("there is no type ", index));
    return nullptr;
  }
  Entry& entry = types_[index];
  if (entry.state == Entry::State::kRead) return entry.type;
  if (entry.state == Entry::State::kReading || ++depth_ > kMaxDepth) {
    Error(entry.data.data(), "a type contains itself, or types are nested too deeply");
    return nullptr;
  }
  entry.state = Entry::State::kReading;
  BytecodeStream stream(entry.data);
  const MlirType* type = nullptr;
  if (entry.custom && entry.dialect == "builtin") {
    type = ReadBuiltinType(stream);
  } else if (entry.custom && entry.dialect == "vhlo") {
    type = ReadVhloType(stream);
  } else if (entry.custom && entry.dialect == "stablehlo") {
    type = ReadStablehloType(stream);
  } else {
    MlirType* opaque = NewType(MlirType::Kind::kOpaque);
    opaque->text = entry.custom ? module_.arena.CopyString(StrCat("!", entry.dialect, ".type")) : stream.CString();
    if (opaque->text == "!stablehlo.token") opaque->kind = MlirType::Kind::kToken;
    type = opaque;
  }
  --depth_;
  if (!failed_ && stream.failed()) Error(entry.data.data(), "a type is cut short");
  entry.state = Entry::State::kRead;
  entry.type = failed_ ? nullptr : type;
  return entry.type;
}

// ---- parts

const MlirType* MlirBytecodeReader::Element(ElementType type) {
  const MlirType*& element = elements_[static_cast<size_t>(type)];
  if (element == nullptr) {
    MlirType* made = NewType(MlirType::Kind::kElement);
    made->element = type;
    element = made;
  }
  return element;
}

MlirAttr* MlirBytecodeReader::Text(std::string text) {
  MlirAttr* attr = NewAttr(Kind::kOpaque);
  attr->text = module_.arena.CopyString(text);
  return attr;
}

MlirAttr* MlirBytecodeReader::Number(int64_t value) {
  MlirAttr* attr = NewAttr(Kind::kInt);
  attr->number = value;
  return attr;
}

MlirAttr* MlirBytecodeReader::Dictionary(std::string_view name, std::vector<MlirNamedAttr> fields) {
  std::erase_if(fields, [](const MlirNamedAttr& field) { return field.value == nullptr; });
  MlirAttr* attr = NewAttr(Kind::kDictionary);
  attr->text = name;
  attr->fields = module_.arena.Copy(fields);
  return attr;
}

Ints MlirBytecodeReader::ReadSignedInts(BytecodeStream& stream) {
  const std::span<int64_t> values = module_.arena.NewSpan<int64_t>(stream.Count());
  for (int64_t& value : values) value = stream.SignedVarint();
  return values;
}

// A list of attributes; one of integers only is a list of integers, as in text.
const MlirAttr* MlirBytecodeReader::ReadList(BytecodeStream& stream) {
  std::vector<const MlirAttr*> elements(stream.Count());
  bool ints = !elements.empty();
  for (const MlirAttr*& element : elements) {
    element = ReadAttr(stream);
    if (element == nullptr) return nullptr;
    ints &= element->kind == Kind::kInt;
  }
  MlirAttr* attr = NewAttr(ints ? Kind::kInts : Kind::kArray);
  if (!ints) {
    attr->elements = module_.arena.Copy(elements);
    return attr;
  }
  std::vector<int64_t> values;
  for (const MlirAttr* element : elements) values.push_back(element->number);
  attr->ints = module_.arena.Copy(values);
  return attr;
}

const MlirAttr* MlirBytecodeReader::ReadFields(BytecodeStream& stream, std::string_view name) {
  std::vector<MlirNamedAttr> fields(stream.Count());
  for (MlirNamedAttr& field : fields) {
    const MlirAttr* key = ReadAttr(stream);
    field.value = ReadAttr(stream);
    if (key == nullptr || field.value == nullptr) return nullptr;
    field.name = key->text;
  }
  return Dictionary(name, std::move(fields));
}

const MlirAttr* MlirBytecodeReader::ReadInteger(BytecodeStream& stream) {
  const MlirType* type = ReadType(stream);
  if (type == nullptr) return nullptr;
  const int width = BitWidth(type->element);
  MlirAttr* attr = NewAttr(type->element == ElementType::kPred ? Kind::kBool : Kind::kInt);
  attr->type = type;
  if (width <= 8) {
    const uint8_t byte = stream.Byte();
    attr->number = IsSigned(type->element) ? static_cast<int8_t>(byte) : byte;
    if (type->element == ElementType::kPred) attr->number = byte & 1;
  } else {
    attr->number = stream.SignedVarint();
    if (width < 64 && IsUnsigned(type->element)) attr->number &= (int64_t{1} << width) - 1;
  }
  return attr;
}

double MlirBytecodeReader::FloatFromBits(ElementType type, BytecodeStream& stream) {
  const uint64_t bits = BitWidth(type) <= 8 ? stream.Byte() : static_cast<uint64_t>(stream.SignedVarint());
  const int width = BitWidth(type);
  return DecodeFloat(type, width < 64 ? bits & ((uint64_t{1} << width) - 1) : bits);
}

const MlirAttr* MlirBytecodeReader::ReadFloat(BytecodeStream& stream) {
  const MlirType* type = ReadType(stream);
  if (type == nullptr) return nullptr;
  if (!IsFloat(type->element)) {
    Error(stream.position(), "a floating-point attribute needs a floating-point type");
    return nullptr;
  }
  MlirAttr* attr = NewAttr(Kind::kFloat);
  attr->type = type;
  attr->real = FloatFromBits(type->element, stream);
  return attr;
}

const MlirAttr* MlirBytecodeReader::ReadKeyword(BytecodeStream& stream, std::span<const std::string_view> names) {
  const uint64_t value = stream.Varint();
  if (value >= names.size() || names[value].empty()) {
    Error(stream.position(), StrCat("unknown value ", value, " of an enum"));
    return nullptr;
  }
  MlirAttr* attr = NewAttr(Kind::kKeyword);
  attr->text = names[value];
  return attr;
}

// The blob of a tensor: its elements, one element for all, or bits of i1.
const MlirAttr* MlirBytecodeReader::MakeDense(const MlirType* type, std::string_view blob) {
  if (type == nullptr) return nullptr;
  MlirAttr* attr = NewAttr(Kind::kDense);
  attr->type = type;
  const bool known = type->kind == MlirType::Kind::kTensor && IsArrayType(type->element);
  if (!known) {
    attr->kind = Kind::kOpaque;
    return attr;
  }
  const int64_t count = SaturatingProduct(type->dims);
  const int64_t bytes = StorageBytes(type->element);
  const auto size = static_cast<int64_t>(blob.size());
  const bool is_bool = type->element == ElementType::kPred;
  const bool packed = is_bool && count > 1 && size == CeilDiv(count, 8) && size != count;
  if (is_bool && size == 1) {
    const std::span<std::byte> one = module_.arena.NewSpan<std::byte>(1);
    // One byte is the only element, a splat, or up to eight elements in bits.
    const auto byte = static_cast<uint8_t>(blob[0]);
    const bool splat = count > 1 && (byte == 0 || byte == 0xFF);
    if (splat || count <= 1) {
      one[0] = static_cast<std::byte>(byte & 1);
      attr->splat = splat;
      attr->data = count == 0 ? std::span<std::byte>() : one;
      return attr;
    }
  }
  if (packed) {
    if (count > (int64_t{1} << 32)) return Error("a tensor is too large"), nullptr;
    const std::span<std::byte> data = module_.arena.NewSpan<std::byte>(static_cast<size_t>(count));
    for (size_t i = 0; i < data.size(); ++i)
      data[i] = static_cast<std::byte>((static_cast<uint8_t>(blob[i / 8]) >> (i % 8)) & 1);
    attr->data = data;
    return attr;
  }
  attr->splat = size == bytes && count != 1;
  if (!attr->splat && size != SaturatingMul(count, bytes)) {
    Error(blob.data(), StrCat("a tensor of ", count, " elements of ", bytes, " bytes has ", size, " bytes"));
    return nullptr;
  }
  if (count == 0) {
    attr->splat = false;
    blob = {};
  }
  attr->data = std::as_bytes(std::span(blob.data(), blob.size()));
  return attr;
}

const MlirType* MlirBytecodeReader::MakeTensor(BytecodeStream& stream, const MlirAttr* encoding) {
  MlirType* type = NewType(MlirType::Kind::kTensor);
  type->dims = ReadSignedInts(stream);
  const MlirType* element = ReadType(stream);
  if (element == nullptr) return nullptr;
  type->element = element->element;
  type->text = element->text;
  for (const int64_t dim : type->dims)
    if (dim < 0 && dim != kUnboundedSize) return Error(stream.position(), "a dimension is negative"), nullptr;
  if (encoding != nullptr && encoding->kind == Kind::kInts && encoding->ints.size() == type->dims.size()) {
    for (const int64_t bound : encoding->ints)
      if (bound < 0 && bound != kUnboundedSize) return Error(stream.position(), "a bound is negative"), nullptr;
    type->bounds = encoding->ints;
  }
  return type;
}

const MlirType* MlirBytecodeReader::ReadFunctionType(BytecodeStream& stream) {
  MlirType* type = NewType(MlirType::Kind::kFunction);
  auto read = [&](std::span<const MlirType* const>& list) {
    std::vector<const MlirType*> types(stream.Count());
    for (const MlirType*& each : types) each = ReadType(stream);
    list = module_.arena.Copy(types);
    return std::count(types.begin(), types.end(), nullptr) == 0;
  };
  return read(type->elements) && read(type->results) ? type : nullptr;
}

}  // namespace shoal::internal
