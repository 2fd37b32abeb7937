#include "core/ops/index_ops.h"

#include "core/ir/sizes.h"

#include <algorithm>
#include <memory>

namespace shoal::internal {
namespace {

Status OneDimension(const Instruction& hlo) {
  const Ints dims = hlo[kDimensions];
  if (dims.size() == 1) return {};
  return Broken(hlo, "C1", StrCat("dimensions must name one dimension, got ", Str(dims)));
}

Status DimensionWithin(const Instruction& hlo, const Shape& shape, std::string_view rule) {
  const Ints dims = hlo[kDimensions];
  if (AllWithin(dims, 0, shape.rank())) return {};
  return Broken(hlo, rule, StrCat("dimensions must lie in [0, ", shape.rank(), "), got ", Str(dims)));
}

// The result must have the element type of operand 0.
Status SameElements(const Instruction& hlo, std::string_view rule) {
  const Shape& operand = hlo.operand_shape(0);
  if (hlo.shape().element_type() == operand.element_type()) return {};
  return Broken(hlo, rule,
                StrCat("the result must have ", Text(operand.element_type()), " elements, got ", Str(hlo.shape())));
}

// Rule of reshape and dynamic-reshape: operand and result must have equal element counts.
Status SameElementCount(const Instruction& hlo, std::string_view rule) {
  const Shape& operand = hlo.operand_shape(0);
  const Shape& result = hlo.shape();
  if (result.IsArray() && (Contains(operand.dims(), kUnboundedSize) || operand.ElementCount() == result.ElementCount()))
    return {};
  return Broken(hlo, rule, StrCat("the result must have as many elements as ", Str(operand), ", got ", Str(result)));
}

// The size of two concatenated dimensions. Saturates on overflow, so that it does not match a valid declared size.
int64_t AddSizes(int64_t a, int64_t b) {
  return a == kUnboundedSize || b == kUnboundedSize ? kUnboundedSize : SaturatingAdd(a, b);
}

// `shape` with dimension d dynamic, in its own layout.
const Shape* WithDynamic(const Shape& shape, int64_t d, ShapePool& shapes) {
  if (shape.is_dynamic(d)) return &shape;
  const auto dynamic = std::make_unique<bool[]>(shape.rank());
  for (int i = 0; i < shape.rank(); ++i) dynamic[i] = i == d || shape.is_dynamic(i);
  return shapes.Array(shape.element_type(), shape.dims(), dynamic.get(), shape.layout());
}

// The layout in which a transpose moves no data: XLA chooses it for a transpose without a declared shape.
const Layout* TransposedLayout(const Shape& operand, Ints dims, ShapePool& shapes) {
  if (operand.layout() == nullptr || operand.layout()->minor_to_major.size() != dims.size()) return nullptr;
  std::vector<int64_t> result_dim(dims.size()), order;
  for (size_t i = 0; i < dims.size(); ++i) result_dim[dims[i]] = static_cast<int64_t>(i);
  for (int64_t d : operand.layout()->minor_to_major)
    if (d >= 0 && d < operand.rank()) order.push_back(result_dim[d]);
  Layout layout = *operand.layout();
  layout.minor_to_major = order;
  return shapes.Intern(layout);
}

// XLA keeps sizes of dynamic dimensions in 32 bits.
Status SizeFitsInt32(const Instruction& hlo, const Shape& shape, std::string_view rule) {
  const int64_t d = hlo[kDimensions][0];
  if (shape.dim(d) <= INT32_MAX) return {};
  return Broken(hlo, rule, StrCat("dimension ", d, " must have at most 2147483647 elements, got ", Str(shape)));
}

}  // namespace

bool Op<Opcode::kBroadcast>::OperandIsScalar(const Instruction& hlo) {
  return hlo.operand_count() > 0 && hlo.operands[0]->shape_ != nullptr && hlo.operand_shape(0).IsScalar();
}

ShapeResult Op<Opcode::kBroadcast>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_TRY(OperandIsArray(hlo, 0));
  const Shape& operand = hlo.operand_shape(0);
  const Ints dims = hlo[kDimensions];
  if (hlo.shape_ == nullptr) {
    // Operand and dimensions do not determine the sizes. XLA's parser treats `dimensions` as leading sizes.
    DimList guess;
    for (int64_t size : dims) guess.Add(std::max<int64_t>(size, 0));
    for (int i = 0; i < operand.rank(); ++i) guess.AddFrom(operand, i);
    return guess.Make(operand.element_type(), shapes);
  }
  // TPU compilers widen floats in a broadcast, f32[4,128] broadcast(bf16[128]), which XLA's verifier does not allow.
  if (!IsFloat(operand.element_type()) || !IsFloat(hlo.shape().element_type())) SHOAL_TRY(SameElements(hlo, "C1"));
  if (dims.size() != operand.dims().size())
    return Broken(hlo, "C2",
                  StrCat("dimensions must have an entry for each dimension of ", Str(operand), ", got ", Str(dims)));
  SHOAL_TRY(DimensionWithin(hlo, hlo.shape(), "C3"));
  for (size_t i = 0; i < dims.size(); ++i)
    // A dimension of size 1 may expand: XLA's executables accept this, and broadcast_in_dim produces it.
    if (operand.dim(i) != 1 && operand.dim(i) != hlo.shape().dim(dims[i]))
      return Broken(hlo, "C4",
                    StrCat("dimension ", dims[i], " of the result must be ", operand.dim(i), ", like dimension ", i,
                           " of ", Str(operand), ", got ", hlo.shape().dim(dims[i])));
  return hlo.shape_;
}

Status Op<Opcode::kConcatenate>::Normalize(Instruction& hlo, Module&) { return OneDimension(hlo); }

ShapeResult Op<Opcode::kConcatenate>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_TRY(OneDimension(hlo));
  SHOAL_TRY(OperandIsArray(hlo, 0));
  SHOAL_TRY(OperandsAreArrays(hlo));
  const Shape& first = hlo.operand_shape(0);
  SHOAL_TRY(DimensionWithin(hlo, first, "C2"));
  const int64_t along = hlo[kDimensions][0];
  ElementType type = first.element_type();
  std::vector<int64_t> sizes(first.dims().begin(), first.dims().end());
  std::vector<char> dynamic(sizes.size(), false);
  sizes[along] = 0;
  for (const Instruction* each : hlo.operands) {
    const Shape& operand = each->shape();
    if (!SameTypeOrFloats(type, operand.element_type()))
      return Broken(hlo, "C3",
                    StrCat("operands must have the same element type, got ", Str(first), " and ", Str(operand)));
    type = HigherPrecision(type, operand.element_type());
    bool fits = operand.rank() == first.rank();
    for (int i = 0; fits && i < first.rank(); ++i) {
      const int64_t size = operand.dim(i);
      dynamic[i] |= operand.is_dynamic(i) && size != kUnboundedSize;
      if (i == along) {
        sizes[i] = AddSizes(sizes[i], size);
      } else if (sizes[i] == kUnboundedSize) {
        sizes[i] = size;
      } else {
        fits = size == kUnboundedSize || size == sizes[i];
      }
    }
    if (!fits)
      return Broken(hlo, "C4",
                    StrCat("operands must have the same dimensions except for dimension ", along, ", got ", Str(first),
                           " and ", Str(operand)));
  }
  DimList dims;
  for (size_t i = 0; i < sizes.size(); ++i) dims.Add(sizes[i], dynamic[i]);
  return dims.Make(type, shapes);
}

// XLA aborts because it does not know the size of an opaque value.
Status Op<Opcode::kCopy>::Normalize(Instruction& hlo, Module&) {
  if (hlo.shape_ == nullptr || !hlo.shape().IsOpaque()) return {};
  return Broken(hlo, "C1", "an opaque value cannot be copied");
}

ShapeResult Op<Opcode::kCopy>::Infer(const Instruction& hlo, ShapePool&) {
  SHOAL_TRY(OperandCount(hlo, 1));
  if (hlo.operand_shape(0).IsOpaque()) return Broken(hlo, "C1", "an opaque value cannot be copied");
  return hlo.operands[0]->shape_;
}

Status Op<Opcode::kDynamicReshape>::Normalize(Instruction& hlo, Module&) {
  SHOAL_TRY(OperandIsArray(hlo, 0));
  SHOAL_TRY(SameElementCount(hlo, "C1"));
  if (hlo.operand_count() - 1 == hlo.shape().dims().size()) return {};
  return Broken(hlo, "C2",
                StrCat("takes a size for each dimension of ", Str(hlo.shape()), ", got ", hlo.operand_count() - 1));
}

ShapeResult Op<Opcode::kDynamicReshape>::Infer(const Instruction& hlo, ShapePool&) {
  SHOAL_TRY(OperandIsArray(hlo, 0));
  SHOAL_TRY(SameElementCount(hlo, "C1"));
  SHOAL_TRY(SameElements(hlo, "C3"));
  for (size_t i = 1; i < hlo.operand_count(); ++i)
    if (hlo.operand_shape(i).element_type() != ElementType::kS32)
      return Broken(hlo, "C4", StrCat("sizes must have s32 elements, got ", Str(hlo.operand_shape(i))));
  return hlo.shape_;
}

Status Op<Opcode::kGetDimensionSize>::Normalize(Instruction& hlo, Module&) { return OneDimension(hlo); }

ShapeResult Op<Opcode::kGetDimensionSize>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_TRY(OneDimension(hlo));
  SHOAL_TRY(OperandIsArray(hlo, 0));
  SHOAL_TRY(DimensionWithin(hlo, hlo.operand_shape(0), "C2"));
  SHOAL_TRY(SizeFitsInt32(hlo, hlo.operand_shape(0), "C3"));
  // XLA of 2019 had u32 sizes.
  const bool old = hlo.shape_ != nullptr && hlo.shape_->IsScalar() && hlo.shape_->element_type() == ElementType::kU32;
  return old ? hlo.shape_ : shapes.Scalar(ElementType::kS32);
}

Status Op<Opcode::kSetDimensionSize>::Normalize(Instruction& hlo, Module&) { return OneDimension(hlo); }

ShapeResult Op<Opcode::kSetDimensionSize>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_TRY(OneDimension(hlo));
  SHOAL_TRY(OperandCount(hlo, 2));
  SHOAL_TRY(OperandIsArray(hlo, 0));
  const Shape& operand = hlo.operand_shape(0);
  const Shape& size = hlo.operand_shape(1);
  SHOAL_TRY(DimensionWithin(hlo, operand, "C2"));
  SHOAL_TRY(SizeFitsInt32(hlo, operand, "C3"));
  const bool is_size = size.element_type() == ElementType::kS32 || size.element_type() == ElementType::kU32;
  if (!size.IsScalar() || !is_size)
    return Broken(hlo, "C4", StrCat("operand 1 must be s32[], got ", Str(size)));
  return WithDynamic(operand, hlo[kDimensions][0], shapes);
}

ShapeResult Op<Opcode::kIota>::Infer(const Instruction& hlo, ShapePool&) {
  const Shape& shape = hlo.shape();
  if (!shape.IsArray() || shape.rank() == 0)
    return Broken(hlo, "C1", StrCat("the result must be an array of one dimension or more, got ", Str(shape)));
  const int64_t d = hlo[kIotaDimension];
  if (d < 0 || d >= shape.rank())
    return Broken(hlo, "C2", StrCat("iota_dimension must lie in [0, ", shape.rank(), "), got ", d));
  if (shape.element_type() == ElementType::kPred)
    return Broken(hlo, "C3", StrCat("the result must have integer, float or complex elements, got ", Str(shape)));
  return hlo.shape_;
}

ShapeResult Op<Opcode::kPad>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_TRY(OperandCount(hlo, 2));
  SHOAL_TRY(OperandsAreArrays(hlo));
  const Shape& operand = hlo.operand_shape(0);
  const Shape& value = hlo.operand_shape(1);
  const std::span<const PaddingDim> padding = hlo[kPadding];
  if (!value.IsScalar()) return Broken(hlo, "C1", StrCat("the padding value must be a scalar, got ", Str(value)));
  if (!SameTypeOrFloats(operand.element_type(), value.element_type()))
    return Broken(hlo, "C2",
                  StrCat("operands must have the same element type, got ", Str(operand), " and ", Str(value)));
  if (padding.size() != operand.dims().size())
    return Broken(hlo, "C3",
                  StrCat("padding must be given for each dimension of ", Str(operand), ", got ", padding.size()));
  DimList dims;
  for (int i = 0; i < operand.rank(); ++i) {
    const auto [low, high, interior] = padding[i];
    if (operand.dim(i) == kUnboundedSize) {
      dims.AddFrom(operand, i);
      continue;
    }
    int64_t size = operand.dim(i);
    int64_t between = 0;
    if (__builtin_mul_overflow(std::max<int64_t>(size - 1, 0), interior, &between) ||
        __builtin_add_overflow(size, low, &size) || __builtin_add_overflow(size, high, &size) ||
        __builtin_add_overflow(size, between, &size) || size < 0 || interior < 0)
      return Broken(hlo, "C4",
                    StrCat("padding must leave dimension ", i, " of ", Str(operand), " a valid size, got ", low, "_",
                           high, "_", interior));
    dims.Add(size, operand.is_dynamic(i));
  }
  return dims.Make(HigherPrecision(operand.element_type(), value.element_type()), shapes);
}

Status Op<Opcode::kReshape>::Normalize(Instruction& hlo, Module&) {
  SHOAL_TRY(OperandIsArray(hlo, 0));
  return SameElementCount(hlo, "C1");
}

ShapeResult Op<Opcode::kReshape>::Infer(const Instruction& hlo, ShapePool&) {
  SHOAL_TRY(OperandIsArray(hlo, 0));
  SHOAL_TRY(SameElementCount(hlo, "C1"));
  SHOAL_TRY(SameElements(hlo, "C2"));
  return hlo.shape_;
}

ShapeResult Op<Opcode::kReverse>::Infer(const Instruction& hlo, ShapePool&) {
  SHOAL_TRY(OperandIsArray(hlo, 0));
  const Ints dims = hlo[kDimensions];
  if (!AllDistinct(dims)) return Broken(hlo, "C1", StrCat("dimensions must differ, got ", Str(dims)));
  SHOAL_TRY(DimensionWithin(hlo, hlo.operand_shape(0), "C2"));
  return hlo.operands[0]->shape_;
}

ShapeResult Op<Opcode::kSlice>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_TRY(OperandIsArray(hlo, 0));
  const Shape& operand = hlo.operand_shape(0);
  const std::span<const SliceRange> ranges = hlo[kSlice];
  if (ranges.size() != operand.dims().size())
    return Broken(hlo, "C1",
                  StrCat("slice must be given for each dimension of ", Str(operand), ", got ", ranges.size()));
  DimList dims;
  for (int i = 0; i < operand.rank(); ++i) {
    const auto [start, limit, stride] = ranges[i];
    const int64_t end = operand.dim(i) == kUnboundedSize ? INT64_MAX : operand.dim(i);
    if (start < 0 || start > limit || limit > end)
      return Broken(hlo, "C2",
                    StrCat("slice must satisfy 0 <= start <= limit <= ", end, " in dimension ", i, ", got [", start,
                           ":", limit, "]"));
    if (stride <= 0) return Broken(hlo, "C3", StrCat("slice strides must be positive, got ", stride));
    const int64_t size = limit == start ? 0 : (limit - start - 1) / stride + 1;
    // A single element of a dynamic dimension may be outside the valid part; XLA assumes that it is inside.
    dims.Add(size, size != 1 && operand.is_dynamic(i) && operand.dim(i) != kUnboundedSize);
  }
  return dims.Make(operand.element_type(), shapes);
}

ShapeResult Op<Opcode::kTranspose>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_TRY(OperandIsArray(hlo, 0));
  const Shape& operand = hlo.operand_shape(0);
  const Ints dims = hlo[kDimensions];
  if (dims.size() != operand.dims().size() || !AllWithin(dims, 0, operand.rank()) || !AllDistinct(dims))
    return Broken(hlo, "C1",
                  StrCat("dimensions must be a permutation of those of ", Str(operand), ", got ", Str(dims)));
  DimList permuted;
  for (int64_t d : dims) permuted.AddFrom(operand, d);
  const Shape* result = permuted.Make(operand.element_type(), shapes);
  return hlo.shape_ == nullptr ? shapes.WithLayout(*result, TransposedLayout(operand, dims, shapes)) : result;
}

}  // namespace shoal::internal
