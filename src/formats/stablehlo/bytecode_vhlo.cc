// Attributes and types of the vhlo dialect in bytecode.
#include "formats/stablehlo/bytecode_enums.h"
#include "formats/stablehlo/bytecode_reader.h"
#include "formats/stablehlo/element_names.h"

namespace shoal::internal {

const MlirAttr* MlirBytecodeReader::ReadResultAccuracy(BytecodeStream& stream) {
  MlirAttr* atol = NewAttr(Kind::kFloat);
  atol->real = FloatFromBits(ElementType::kF64, stream);
  MlirAttr* rtol = NewAttr(Kind::kFloat);
  rtol->real = FloatFromBits(ElementType::kF64, stream);
  MlirAttr* ulps = Number(stream.SignedVarint());
  const MlirAttr* mode = ReadAttr(stream);
  if (mode == nullptr) return nullptr;
  return Dictionary("stablehlo.result_accuracy", {{"atol", atol}, {"rtol", rtol}, {"ulps", ulps}, {"mode", mode}});
}

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
    case 20:
      return ReadResultAccuracy(stream);
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
    case 42: {
      MlirType* type = NewType(MlirType::Kind::kFuture);
      type->text = "!stablehlo.future";
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

}  // namespace shoal::internal
