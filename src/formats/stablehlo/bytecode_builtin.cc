// Attributes and types of the builtin dialect in bytecode.
#include <cstring>

#include "formats/stablehlo/bytecode_reader.h"
#include "formats/stablehlo/element_names.h"

namespace shoal::internal {

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

}  // namespace shoal::internal
