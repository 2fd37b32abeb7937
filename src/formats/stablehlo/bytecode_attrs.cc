// Attributes and types of the builtin, vhlo and sdy dialects in bytecode. Unknown ones are kept as opaque.
#include <algorithm>
#include <cstring>

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
  if (entry.state == 2) return entry.attr;
  if (entry.state == 1 || ++depth_ > kMaxDepth) {
    Error(entry.data.data(), "an attribute contains itself, or attributes are nested too deeply");
    return nullptr;
  }
  entry.state = 1;
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
  } else if (entry.dialect == "sdy") {
    attr = ReadSdyAttr(stream);
  } else {
    attr = NewAttr(Kind::kOpaque);
  }
  --depth_;
  if (!failed_ && stream.failed()) Error(entry.data.data(), "an attribute is cut short");
  entry.state = 2;
  entry.attr = failed_ ? nullptr : attr;
  return entry.attr;
}

const MlirType* MlirBytecodeReader::Type(uint64_t index) {
  if (index >= types_.size()) {
    Error(StrCat("there is no type ", index));
    return nullptr;
  }
  Entry& entry = types_[index];
  if (entry.state == 2) return entry.type;
  if (entry.state == 1 || ++depth_ > kMaxDepth) {
    Error(entry.data.data(), "a type contains itself, or types are nested too deeply");
    return nullptr;
  }
  entry.state = 1;
  BytecodeStream stream(entry.data);
  const MlirType* type = nullptr;
  if (entry.custom && entry.dialect == "builtin") {
    type = ReadBuiltinType(stream);
  } else if (entry.custom && entry.dialect == "vhlo") {
    type = ReadVhloType(stream);
  } else {
    MlirType* opaque = NewType(MlirType::Kind::kOpaque);
    opaque->text = entry.custom ? module_.arena.CopyString(StrCat("!", entry.dialect, ".type")) : stream.CString();
    if (opaque->text == "!stablehlo.token") opaque->kind = MlirType::Kind::kToken;
    type = opaque;
  }
  --depth_;
  if (!failed_ && stream.failed()) Error(entry.data.data(), "a type is cut short");
  entry.state = 2;
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

// ---- builtin

const MlirAttr* MlirBytecodeReader::ReadBuiltinAttr(BytecodeStream& stream) {
  switch (stream.Varint()) {
    case 0:  // array
      return ReadList(stream);
    case 1:  // dictionary
      return ReadFields(stream, "");
    case 2:    // string
    case 3: {  // string with a type
      MlirAttr* attr = NewAttr(Kind::kString);
      attr->text = String(stream.Varint());
      return attr;
    }
    case 4: {  // @name
      const MlirAttr* name = ReadAttr(stream);
      if (name == nullptr) return nullptr;
      MlirAttr* attr = NewAttr(Kind::kSymbol);
      attr->text = name->text;
      return attr;
    }
    case 5: {  // @root::@nested
      const MlirAttr* name = ReadAttr(stream);
      for (uint64_t i = stream.Count(); i-- > 0 && name != nullptr;) name = ReadAttr(stream);
      if (name == nullptr) return nullptr;
      MlirAttr* attr = NewAttr(Kind::kSymbol);
      attr->text = name->text;
      return attr;
    }
    case 6: {  // type
      MlirAttr* attr = NewAttr(Kind::kType);
      attr->type = ReadType(stream);
      return attr->type == nullptr ? nullptr : attr;
    }
    case 7:
      return NewAttr(Kind::kUnit);
    case 8:
      return ReadInteger(stream);
    case 9:
      return ReadFloat(stream);
    case 16: {  // a resource
      const MlirType* type = ReadType(stream);
      const uint64_t handle = stream.Varint();
      if (type == nullptr) return nullptr;
      const auto blob = handle < resource_keys_.size() ? resources_.find(resource_keys_[handle]) : resources_.end();
      if (blob != resources_.end()) return MakeDense(type, blob->second);
      MlirAttr* attr = NewAttr(Kind::kDense);
      attr->type = type;
      attr->elided = true;
      return attr;
    }
    case 17: {  // array<i64: …>
      const MlirType* type = ReadType(stream);
      const uint64_t count = stream.Varint();
      const std::string_view blob = stream.Bytes(stream.Varint());
      if (type == nullptr) return nullptr;
      const auto bytes = static_cast<size_t>(StorageBytes(type->element));
      if (IsFloat(type->element) || bytes == 0 || bytes > 8 || blob.size() / bytes != count) return NewAttr(Kind::kOpaque);
      std::vector<int64_t> values(count);
      for (size_t i = 0; i < count; ++i) {
        uint64_t bits = 0;
        std::memcpy(&bits, blob.data() + i * bytes, bytes);
        const int shift = 64 - static_cast<int>(bytes) * 8;
        values[i] = IsSigned(type->element) ? static_cast<int64_t>(bits << shift) >> shift : static_cast<int64_t>(bits);
      }
      MlirAttr* attr = NewAttr(Kind::kInts);
      attr->ints = module_.arena.Copy(values);
      attr->type = type;
      return attr;
    }
    case 18: {  // dense<…>
      const MlirType* type = ReadType(stream);
      return MakeDense(type, stream.Bytes(stream.Varint()));
    }
    default:  // a location, or an attribute that is not known
      return NewAttr(Kind::kOpaque);
  }
}

const MlirType* MlirBytecodeReader::ReadBuiltinType(BytecodeStream& stream) {
  switch (stream.Varint()) {
    case 0: {  // integer: width << 2 | signedness
      const uint64_t packed = stream.Varint();
      const std::string_view sign = (packed & 3) == 2 ? "ui" : (packed & 3) == 1 ? "si" : "i";
      const std::optional<ElementType> type = ElementTypeFromMlir(StrCat(sign, packed >> 2));
      if (type) return Element(*type);
      break;
    }
    case 1:
      return Element(ElementType::kS64);
    case 2:
      return ReadFunctionType(stream);
    case 3:
      return Element(ElementType::kBf16);
    case 4:
      return Element(ElementType::kF16);
    case 5:
      return Element(ElementType::kF32);
    case 6:
      return Element(ElementType::kF64);
    case 9: {
      const MlirType* part = ReadType(stream);
      const std::optional<ElementType> type = part == nullptr ? std::nullopt : ComplexOf(part->element);
      if (type) return Element(*type);
      break;
    }
    case 13:
      return MakeTensor(stream, nullptr);
    case 14: {
      const MlirAttr* encoding = ReadAttr(stream);
      return encoding == nullptr ? nullptr : MakeTensor(stream, encoding);
    }
    case 15: {
      MlirType* type = NewType(MlirType::Kind::kTuple);
      std::vector<const MlirType*> types(stream.Count());
      for (const MlirType*& each : types) {
        each = ReadType(stream);
        if (each == nullptr) return nullptr;
      }
      type->elements = module_.arena.Copy(types);
      return type;
    }
    default:
      break;
  }
  return NewType(MlirType::Kind::kOpaque);
}

// ---- vhlo

namespace {

constexpr std::string_view kDirections[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
constexpr std::string_view kCompareTypes[] = {"NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"};
constexpr std::string_view kApiVersions[] = {"API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL",
                                             "API_VERSION_STATUS_RETURNING", "API_VERSION_STATUS_RETURNING_UNIFIED",
                                             "API_VERSION_TYPED_FFI"};
constexpr std::string_view kFftTypes[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
constexpr std::string_view kPrecisions[] = {"DEFAULT", "HIGH", "HIGHEST"};
constexpr std::string_view kAlgorithms[] = {"DEFAULT", "THREE_FRY", "PHILOX"};
constexpr std::string_view kDistributions[] = {"", "UNIFORM", "NORMAL"};
constexpr std::string_view kTransposes[] = {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"};
constexpr std::string_view kAccuracies[] = {"DEFAULT", "HIGHEST", "TOLERANCE"};

}  // namespace

const MlirAttr* MlirBytecodeReader::ReadVhloAttr(BytecodeStream& stream) {
  switch (stream.Varint()) {
    case 1:
      return ReadList(stream);
    case 2: {
      MlirAttr* attr = NewAttr(Kind::kBool);
      attr->number = stream.Varint() != 0 ? 1 : 0;
      return attr;
    }
    case 3:
      return ReadKeyword(stream, kDirections);
    case 4:
      return ReadKeyword(stream, kCompareTypes);
    case 5:
      return ReadKeyword(stream, kApiVersions);
    case 6:
      return ReadFields(stream, "");
    case 7:
      return ReadKeyword(stream, kFftTypes);
    case 8:
      return ReadFloat(stream);
    case 9:
      return ReadInteger(stream);
    case 10: {
      MlirAttr* output = NewAttr(Kind::kInts);
      output->ints = ReadSignedInts(stream);
      MlirAttr* operand = Number(stream.SignedVarint());
      MlirAttr* index = NewAttr(Kind::kInts);
      index->ints = ReadSignedInts(stream);
      return Dictionary("stablehlo.output_operand_alias", {{"output_tuple_indices", output},
                                                           {"operand_index", operand},
                                                           {"operand_tuple_indices", index}});
    }
    case 11:
      return ReadKeyword(stream, kPrecisions);
    case 12:
      return ReadKeyword(stream, kAlgorithms);
    case 13:
      return ReadKeyword(stream, kDistributions);
    case 14: {
      MlirAttr* attr = NewAttr(Kind::kString);
      attr->text = String(stream.Varint());
      return attr;
    }
    case 15: {
      const MlirType* type = ReadType(stream);
      return MakeDense(type, stream.Bytes(stream.Varint()));
    }
    case 16:
      return ReadKeyword(stream, kTransposes);
    case 17: {
      MlirAttr* attr = NewAttr(Kind::kType);
      attr->type = ReadType(stream);
      return attr->type == nullptr ? nullptr : attr;
    }
    case 18: {
      MlirAttr* attr = NewAttr(Kind::kInts);
      attr->ints = ReadSignedInts(stream);
      return attr;
    }
    case 19:
      return ReadKeyword(stream, kAccuracies);
    case 20: {
      MlirAttr* atol = NewAttr(Kind::kFloat);
      atol->real = FloatFromBits(ElementType::kF64, stream);
      MlirAttr* rtol = NewAttr(Kind::kFloat);
      rtol->real = FloatFromBits(ElementType::kF64, stream);
      MlirAttr* ulps = Number(stream.SignedVarint());
      const MlirAttr* mode = ReadAttr(stream);
      if (mode == nullptr) return nullptr;
      return Dictionary("stablehlo.result_accuracy", {{"atol", atol}, {"rtol", rtol}, {"ulps", ulps}, {"mode", mode}});
    }
    case 21: {
      MlirAttr* pre_size = Number(stream.SignedVarint());
      MlirAttr* size = Number(stream.SignedVarint());
      return Dictionary("stablehlo.sub_axis_info", {{"pre_size", pre_size}, {"size", size}});
    }
    case 22: {
      const MlirAttr* name = ReadAttr(stream);
      const MlirAttr* sub = stream.Varint() != 0 ? ReadAttr(stream) : nullptr;
      return Dictionary("stablehlo.axis_ref", {{"name", name}, {"sub_axis_info", sub}});
    }
    case 23: {
      const MlirAttr* mesh = ReadAttr(stream);
      const MlirAttr* axes = ReadAttr(stream);
      return Dictionary("stablehlo.replica_group_mesh_axes", {{"mesh", mesh}, {"axes", axes}});
    }
    case 24: {
      const MlirAttr* name = ReadAttr(stream);
      MlirAttr* size = Number(stream.SignedVarint());
      return Dictionary("stablehlo.mesh_axis", {{"name", name}, {"size", size}});
    }
    case 25: {
      const MlirAttr* axes = ReadAttr(stream);
      bool present = false;
      const uint64_t ids = stream.VarintWithFlag(&present);
      return Dictionary("stablehlo.mesh", {{"axes", axes}, {"device_ids", present ? Attr(ids) : nullptr}});
    }
    default:
      return NewAttr(Kind::kOpaque);
  }
}

const MlirType* MlirBytecodeReader::ReadVhloType(BytecodeStream& stream) {
  using enum ElementType;
  static constexpr ElementType kElements[] = {
      kPred,         kInvalid,    kBf16,       kF16,     kF32,     kF64,     kF8e4m3fn, kF8e5m2,
      kInvalid,      kS64,        kS4,         kS8,      kS16,     kS32,     kS64,      kU4,
      kU8,           kU16,        kU32,        kU64,     kInvalid, kInvalid, kInvalid,  kInvalid,
      kInvalid,      kInvalid,    kInvalid,    kF8e4m3fnuz, kF8e5m2fnuz, kF8e4m3b11fnuz, kInvalid, kS2,
      kU2,           kInvalid,    kInvalid,    kF8e4m3,  kF8e3m4,  kF4e2m1fn, kF6e2m3fn, kF6e3m2fn,
      kF8e8m0fnu};
  const uint64_t code = stream.Varint();
  switch (code) {
    case 1: {
      const MlirType* part = ReadType(stream);
      const std::optional<ElementType> type = part == nullptr ? std::nullopt : ComplexOf(part->element);
      if (type) return Element(*type);
      break;
    }
    case 8:
      return ReadFunctionType(stream);
    case 20:
      return MakeTensor(stream, nullptr);
    case 21: {
      const MlirAttr* encoding = ReadAttr(stream);
      return encoding == nullptr ? nullptr : MakeTensor(stream, encoding);
    }
    case 22:
      return NewType(MlirType::Kind::kToken);
    case 23: {
      MlirType* type = NewType(MlirType::Kind::kTuple);
      std::vector<const MlirType*> types(stream.Count());
      for (const MlirType*& each : types) {
        each = ReadType(stream);
        if (each == nullptr) return nullptr;
      }
      type->elements = module_.arena.Copy(types);
      return type;
    }
    case 33:
    case 34: {
      MlirType* type = NewType(MlirType::Kind::kOpaque);
      type->text = code == 33 ? "none" : "tf32";
      return type;
    }
    case 41: {
      const MlirType* tensor = MakeTensor(stream, nullptr);
      if (tensor == nullptr) return nullptr;
      MlirType* type = NewType(MlirType::Kind::kBuffer);
      type->element = tensor->element;
      type->dims = tensor->dims;
      return type;
    }
    default:
      break;
  }
  if (code < std::size(kElements) && kElements[code] != kInvalid) return Element(kElements[code]);
  MlirType* type = NewType(MlirType::Kind::kOpaque);
  type->text = module_.arena.CopyString(StrCat("!vhlo.type_", code));
  return type;
}

// ---- sdy: as text, the form that the importer reads

const MlirAttr* MlirBytecodeReader::ReadSdyAttr(BytecodeStream& stream) {
  auto text_of = [&](uint64_t index) -> std::string {
    const MlirAttr* attr = Attr(index);
    return attr == nullptr ? std::string() : std::string(attr->text);
  };
  auto list = [&] {
    std::string out;
    const uint64_t count = stream.Count();
    for (uint64_t i = 0; i < count && !failed_; ++i) StrAppend(&out, i == 0 ? "" : ", ", text_of(stream.Varint()));
    return out;
  };
  auto quoted = [](std::string_view name) { return StrCat("\"", name, "\""); };
  const uint64_t code = stream.Varint();
  switch (code) {
    case 0: {  // manual axes
      std::string out = "#sdy<manual_axes{";
      const uint64_t count = stream.Count();
      for (uint64_t i = 0; i < count && !failed_; ++i)
        StrAppend(&out, i == 0 ? "" : ", ", quoted(text_of(stream.Varint())));
      return Text(out + "}>");
    }
    case 1: {  // mesh axis
      const std::string name = quoted(String(stream.Varint()));
      return Text(StrCat(name, "=", stream.SignedVarint()));
    }
    case 2: {  // mesh
      std::string out = StrCat("<[", list(), "]");
      const uint64_t count = stream.Count();
      if (count > 0) out += ", device_ids=[";
      for (uint64_t i = 0; i < count && !stream.failed(); ++i) StrAppend(&out, i == 0 ? "" : ", ", stream.SignedVarint());
      return Text(StrCat(out, count > 0 ? "]>" : ">"));
    }
    case 3: {  // part of an axis
      const int64_t pre_size = stream.SignedVarint();
      return Text(StrCat(":(", pre_size, ")", stream.SignedVarint()));
    }
    case 4: {  // axis
      std::string out = quoted(String(stream.Varint()));
      bool present = false;
      const uint64_t sub = stream.VarintWithFlag(&present);
      return Text(present ? out + text_of(sub) : out);
    }
    case 5: {  // a dimension
      std::string axes = list();
      const bool closed = stream.Byte() != 0;
      bool has_priority = false;
      const uint64_t priority = stream.VarintWithFlag(&has_priority);
      if (!closed) axes += axes.empty() ? "?" : ", ?";
      std::string out = StrCat("{", axes, "}");
      if (has_priority) StrAppend(&out, "p", priority);
      return Text(out);
    }
    case 6:     // sharding
    case 15:    // with unreduced axes
    case 17: {  // with a reduction
      const MlirAttr* mesh = ReadAttr(stream);
      if (mesh == nullptr) return nullptr;
      std::string out = mesh->kind == Kind::kSymbol ? StrCat("#sdy.sharding<@", mesh->text)
                                                    : StrCat("#sdy.sharding<mesh", mesh->text);
      StrAppend(&out, ", [", list(), "]");
      const std::string replicated = list();
      if (!replicated.empty()) StrAppend(&out, ", replicated={", replicated, "}");
      const std::string unreduced = code == 6 ? std::string() : list();
      const int64_t reduction = code == 17 ? stream.SignedVarint() : 0;
      static constexpr std::string_view kReductions[] = {"", "(max)", "(min)"};
      const std::string_view kind = reduction > 0 && reduction < 3 ? kReductions[reduction] : std::string_view();
      if (!unreduced.empty()) StrAppend(&out, ", unreduced", kind, "={", unreduced, "}");
      return Text(out + ">");
    }
    case 7:
    case 16: {  // shardings of several values
      std::string out = "#sdy.sharding_per_value<[";
      const uint64_t count = stream.Count();
      for (uint64_t i = 0; i < count && !failed_; ++i) {
        std::string sharding = text_of(stream.Varint());
        if (sharding.starts_with("#sdy.sharding<")) sharding.erase(0, 13);
        StrAppend(&out, i == 0 ? "" : ", ", sharding);
      }
      return Text(out + "]>");
    }
    case 8: {  // factors of a dimension
      std::string out;
      for (const int64_t factor : ReadSignedInts(stream)) out += FactorName(factor);
      return Text(out);
    }
    case 9:  // dimensions of a tensor
      return Text(StrCat("[", list(), "]"));
    case 10:
      return ReadShardingRule(stream);
    case 11:  // list of axes
      return Text(StrCat("{", list(), "}"));
    case 12:
      return Text(StrCat("[", list(), "]"));
    default:
      return NewAttr(Kind::kOpaque);
  }
}

// i, j, …, z, z_1, z_2, …
std::string MlirBytecodeReader::FactorName(int64_t factor) {
  if (factor < 0) return "?";
  return factor <= 17 ? std::string(1, static_cast<char>('i' + factor)) : StrCat("z_", factor - 17);
}

// #sdy.op_sharding_rule<([i, j])->([i]) {i=16, j=4} reduction={j}, custom>
const MlirAttr* MlirBytecodeReader::ReadShardingRule(BytecodeStream& stream) {
  const Ints sizes = ReadSignedInts(stream);
  std::string out = "#sdy.op_sharding_rule<(";
  for (const std::string_view between : {std::string_view(")->("), std::string_view(") {")}) {
    const uint64_t count = stream.Count();
    for (uint64_t i = 0; i < count && !failed_; ++i) {
      const MlirAttr* mapping = ReadAttr(stream);
      if (mapping == nullptr) return nullptr;
      StrAppend(&out, i == 0 ? "" : ", ", mapping->text);
    }
    out += between;
  }
  for (size_t i = 0; i < sizes.size(); ++i)
    StrAppend(&out, i == 0 ? "" : ", ", FactorName(static_cast<int64_t>(i)), "=", sizes[i]);
  out += "}";
  for (const std::string_view name : {"reduction", "need_replication", "permutation", "blocked_propagation"}) {
    const Ints factors = ReadSignedInts(stream);
    if (factors.empty()) continue;
    StrAppend(&out, " ", name, "={");
    for (const int64_t& factor : factors) StrAppend(&out, &factor == factors.data() ? "" : ", ", FactorName(factor));
    out += "}";
  }
  if (stream.Byte() != 0) out += ", custom";
  return Text(out + ">");
}

}  // namespace shoal::internal
