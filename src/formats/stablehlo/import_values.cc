// Types as shapes, dense elements as literals.
#include <cstring>

#include "core/ir/sizes.h"
#include "core/ops/structure.h"
#include "formats/stablehlo/importer.h"

namespace shoal::internal {

Result<const Shape*> Importer::ShapeOf(const MlirType& type, TextSpan at) {
  if (type.shape != nullptr) return type.shape;
  const Shape* shape = nullptr;
  using Kind = MlirType::Kind;
  switch (type.kind) {
    case Kind::kElement:
      shape = module_.shapes.Scalar(type.element);
      break;
    case Kind::kTensor: {
      if (!IsArrayType(type.element))
        return Fail(at, "stablehlo.type", StrCat("HLO has no tensors of type ", type.text));
      std::vector<int64_t> dims(type.dims.begin(), type.dims.end());
      if (dims.size() > 1000) return Fail(at, "stablehlo.type", "a tensor can have at most 1000 dimensions");
      const std::unique_ptr<bool[]> dynamic(new bool[dims.size() + 1]());
      bool has_dynamic = false;
      for (size_t i = 0; i < dims.size(); ++i) {
        if (dims[i] != kUnboundedSize) continue;
        if (!type.bounds.empty()) dims[i] = type.bounds[i];
        dynamic[i] = has_dynamic = true;
      }
      const Layout* layout = module_.shapes.DefaultLayout(dims.size());
      shape = module_.shapes.Array(type.element, dims, has_dynamic ? dynamic.get() : nullptr, layout);
      break;
    }
    case Kind::kTuple: {
      std::vector<const Shape*> elements;
      int64_t leaves = 0;
      for (const MlirType* element : type.elements) {
        SHOAL_ASSIGN(element_shape, ShapeOf(*element, at));
        elements.push_back(element_shape);
        leaves += element_shape->LeafCount();
        if (leaves >= kMaxLeaves) return Fail(at, "stablehlo.type", "the tuple has too many elements");
      }
      shape = module_.shapes.Tuple(elements);
      break;
    }
    case Kind::kToken:
      shape = module_.shapes.Token();
      break;
    case Kind::kBuffer:
      shape = module_.shapes.Buffer(module_.shapes.Array(type.element, type.dims));
      break;
    default:
      return Fail(at, "stablehlo.type",
                  type.text.empty() ? std::string("HLO has no such type") : StrCat("HLO has no type ", type.text));
  }
  type.shape = shape;
  return shape;
}

Result<const Shape*> Importer::ResultShape(const MlirOp& op) {
  if (op.results.size() == 1) return ShapeOf(*op.results[0].type, op.at);
  std::vector<const Shape*> shapes;
  for (const MlirValue& result : op.results) {
    SHOAL_ASSIGN(shape, ShapeOf(*result.type, op.at));
    shapes.push_back(shape);
  }
  return module_.shapes.Tuple(shapes);
}

Result<const Literal*> Importer::LiteralOf(const MlirAttr& dense, TextSpan at) {
  if (dense.kind != MlirAttr::Kind::kDense || dense.type == nullptr)
    return Fail(at, "stablehlo.constant", "a constant needs the elements of a tensor, dense<…>");
  SHOAL_ASSIGN(shape, ShapeOf(*dense.type, at));
  if (!shape->IsArray() || shape->has_dynamic())
    return Fail(at, "stablehlo.constant", "a constant needs a tensor type with static dimensions");
  Literal literal;
  literal.shape = shape;
  literal.elided = dense.elided;
  const int64_t count = ElementCountOf(*shape);
  const int64_t bytes = StorageBytes(shape->element_type());
  const bool splat = dense.splat && count != 1;
  const int64_t size = SaturatingMul(count, bytes);
  if (!dense.elided && std::ssize(dense.data) != (splat ? bytes : size))
    return Fail(at, "stablehlo.constant",
                StrCat("the constant has ", dense.data.size(), " bytes, but ", ToString(*shape), " needs ", size));
  if (!dense.elided && !splat) literal.data = module_.arena.Copy(dense.data);
  if (!dense.elided && splat) {
    if (size > (int64_t{1} << 32)) return Fail(at, "stablehlo.constant", "the constant is larger than 4 GiB");
    literal.data = module_.arena.NewSpan<std::byte>(static_cast<size_t>(size));
    for (int64_t i = 0; i < size; i += bytes)
      std::memcpy(literal.data.data() + i, dense.data.data(), static_cast<size_t>(bytes));
  }
  return module_.arena.New<Literal>(literal);
}

Instruction* Importer::AddConstant(const Literal* literal) { return builder_.Constant(*computation_, literal); }

Result<Instruction*> Importer::AddSplat(const Shape& shape, double value) {
  const ElementType type = shape.element_type();
  std::byte element[16] = {};
  const ElementType part = type == ElementType::kC64 ? ElementType::kF32 : type == ElementType::kC128 ? ElementType::kF64 : type;
  const auto bytes = std::min<size_t>(static_cast<size_t>(StorageBytes(part)), 8);
  uint64_t bits = static_cast<uint64_t>(static_cast<int64_t>(IsFloat(part) ? 0 : value));
  if (IsFloat(part)) bits = EncodeFloat(part, value);
  std::memcpy(element, &bits, bytes);
  return SplatConstant(shape, element);
}

}  // namespace shoal::internal
