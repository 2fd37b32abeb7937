// dynamic-slice and dynamic-update-slice: slices whose start indices are operands.
#include <memory>

#include "core/ops/index_ops.h"

namespace shoal::internal {
namespace {

// Checks the number of start indices, which are the operands starting at `first`.
Status CheckStartIndexCount(const Instruction& hlo, size_t first) {
  const size_t count = hlo.operand_count();
  if (count < first) return Broken(hlo, "C1", StrCat("takes at least ", Count(first, "operand"), ", got ", count));
  const Shape& operand = ArrayIn(hlo.operand_shape(0));
  if (!operand.IsArray()) return OperandIsArray(hlo, 0);
  if (count == first + 1) {
    SHOAL_TRY(OperandIsArray(hlo, first));
    if (hlo.operand_shape(first).rank() == 1) return {};  // one vector with all indices: the older syntax
  }
  if (count - first == operand.dims().size()) return {};
  return Broken(hlo, "C1", StrCat("takes a start index for each dimension of ", Str(operand), ", got ", count - first));
}

Status CheckStartIndices(const Instruction& hlo, size_t first) {
  SHOAL_TRY(CheckStartIndexCount(hlo, first));
  const int64_t rank = ArrayIn(hlo.operand_shape(0)).rank();
  for (size_t i = first; i < hlo.operand_count(); ++i) {
    const Shape& index = hlo.operand_shape(i);
    const bool vector = hlo.operand_count() == first + 1 && index.rank() == 1;
    if (!IsInteger(index.element_type()) || !(index.IsScalar() || vector))
      return Broken(hlo, "C2", StrCat("start indices must be integer scalars, got ", Str(index)));
    if (!Compatible(index, hlo.operand_shape(first)))
      return Broken(
          hlo, "C2",
          StrCat("start indices must have the same type, got ", Str(hlo.operand_shape(first)), " and ", Str(index)));
    if (vector && index.dim(0) != rank)
      return Broken(hlo, "C3", StrCat("start indices must be a vector of ", rank, ", got ", Str(index)));
  }
  return {};
}

}  // namespace

Status Op<Opcode::kDynamicSlice>::Normalize(Instruction& hlo, Module&) { return CheckStartIndexCount(hlo, 1); }

ShapeResult Op<Opcode::kDynamicSlice>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_TRY(CheckStartIndices(hlo, 1));
  SHOAL_TRY(OperandIsArray(hlo, 0));
  const Shape& operand = hlo.operand_shape(0);
  const Ints sizes = hlo[kSizes];
  if (sizes.size() != operand.dims().size())
    return Broken(
        hlo, "C4",
        StrCat("dynamic_slice_sizes must have an entry for each dimension of ", Str(operand), ", got ", Str(sizes)));
  DimList dims;
  for (int i = 0; i < operand.rank(); ++i) {
    const int64_t size = operand.dim(i);
    if (sizes[i] < 0 || (size != kUnboundedSize && sizes[i] > size))
      return Broken(hlo, "C5", StrCat("dynamic_slice_sizes must fit into ", Str(operand), ", got ", Str(sizes)));
    dims.Add(sizes[i], operand.is_dynamic(i) && sizes[i] > 1 && sizes[i] == size);
  }
  return dims.Make(operand.element_type(), shapes);
}

Status Op<Opcode::kDynamicUpdateSlice>::Normalize(Instruction& hlo, Module&) { return CheckStartIndexCount(hlo, 2); }

ShapeResult Op<Opcode::kDynamicUpdateSlice>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_TRY(CheckStartIndices(hlo, 2));
  SHOAL_TRY(OperandIsArray(hlo, 1));
  const Shape& operand = ArrayIn(hlo.operand_shape(0));
  const Shape& update = hlo.operand_shape(1);
  if (!SameTypeOrFloats(operand.element_type(), update.element_type()))
    return Broken(hlo, "C4",
                  StrCat("the update must have the operand's element type, got ", Str(update), " for ", Str(operand)));
  bool fits = update.rank() == operand.rank();
  const auto dynamic = std::make_unique<bool[]>(operand.rank());
  for (int i = 0; fits && i < operand.rank(); ++i) {
    fits = operand.dim(i) == kUnboundedSize || update.dim(i) <= operand.dim(i);
    // An update makes a dimension dynamic only if it covers the whole dimension.
    dynamic[i] = operand.is_dynamic(i) || (update.is_dynamic(i) && update.dim(i) == operand.dim(i));
  }
  if (!fits) return Broken(hlo, "C5", StrCat("the update must fit into ", Str(operand), ", got ", Str(update)));
  if (!update.has_dynamic()) return hlo.operands[0]->shape_;
  const Shape* result = shapes.Array(operand.element_type(), operand.dims(), dynamic.get(), operand.layout());
  return hlo.operand_shape(0).IsBuffer() ? shapes.Buffer(result) : result;
}

}  // namespace shoal::internal
