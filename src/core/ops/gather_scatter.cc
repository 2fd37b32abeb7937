#include "core/ops/gather_scatter.h"

#include <algorithm>

#include "core/ops/callee.h"
#include "core/ops/dims.h"

namespace shoal::internal {
namespace {

using Gather = Op<Opcode::kGather>;
using Scatter = Op<Opcode::kScatter>;

// The dimensions of the indices, without index_vector_dim. That dimension may be one past the last: s32[4] with
// index_vector_dim=1 is four vectors of length 1.
struct Indices {
  DimList batch;
  std::vector<int64_t> batch_sizes;
  int64_t vector_size = 1;
  int64_t rank = 0;  // includes the vector dimension
};

Result<Indices> IndicesOf(const Instruction& hlo, const Shape& shape, std::string_view type_rule,
                          std::string_view dim_rule) {
  if (!IsInteger(shape.element_type()))
    return Broken(hlo, type_rule, StrCat("indices must be integers, got ", Str(shape)));
  const int64_t vector_dim = hlo[kIndexVectorDim];
  if (vector_dim < 0 || vector_dim > shape.rank())
    return Broken(hlo, dim_rule, StrCat("index_vector_dim must lie in [0, ", shape.rank(), "], got ", vector_dim));
  Indices indices;
  indices.rank = std::max<int64_t>(shape.rank(), vector_dim + 1);
  for (int64_t i = 0; i < shape.rank(); ++i) {
    if (i == vector_dim) {
      indices.vector_size = shape.dim(i);
      continue;
    }
    indices.batch.AddFrom(shape, i);
    indices.batch_sizes.push_back(shape.dim(i));
  }
  return indices;
}

Status CheckMap(const Instruction& hlo, const Attr<Ints>& key, const Indices& indices, int64_t rank,
                std::string_view size_rule, std::string_view range_rule, std::string_view distinct_rule) {
  const auto size = static_cast<int64_t>(hlo[key].size());
  if (!SizesMatch(size, indices.vector_size))
    return Broken(hlo, size_rule,
                  StrCat(key.name, " must have an entry for each of the ", indices.vector_size,
                         " indices of a vector, got ", Str(hlo[key])));
  SHOAL_TRY(DimsWithin(hlo, range_rule, key, rank));
  return DimsDistinct(hlo, distinct_rule, key);
}

struct BatchingRules {
  std::string_view size, ascending, range, indices_range, indices_distinct;
};

// Checks the batching dimensions of the operand and the corresponding ones of the indices.
Status CheckBatching(const Instruction& hlo, const Attr<Ints>& key, const Attr<Ints>& indices_key, int64_t rank,
                     int64_t indices_rank, const BatchingRules& rules) {
  if (hlo[key].size() != hlo[indices_key].size())
    return Broken(hlo, rules.size,
                  StrCat(key.name, " and ", indices_key.name, " must have the same length, got ", Str(hlo[key]),
                         " and ", Str(hlo[indices_key])));
  SHOAL_TRY(DimsAscending(hlo, rules.ascending, key));
  SHOAL_TRY(DimsWithin(hlo, rules.range, key, rank));
  SHOAL_TRY(DimsWithin(hlo, rules.indices_range, indices_key, indices_rank));
  return DimsDistinct(hlo, rules.indices_distinct, indices_key);
}

// Rules C15 to C19.
Status CheckSliceSizes(const Instruction& hlo) {
  const Shape& operand = hlo.operand_shape(0);
  Ints sizes = hlo[Gather::kSliceSizes];
  Ints collapsed = hlo[Gather::kCollapsedSliceDims], batching = hlo[Gather::kOperandBatchingDims];
  const auto rank = static_cast<size_t>(operand.rank());
  if (sizes.size() != rank)
    return Broken(hlo, "C15",
                  StrCat("slice_sizes must have an entry for each dimension of ", Str(operand), ", got ", Str(sizes)));
  if (hlo[Gather::kOffsetDims].size() + collapsed.size() + batching.size() != rank)
    return Broken(hlo, "C16",
                  StrCat("offset_dims, collapsed_slice_dims and operand_batching_dims must add up to rank ", rank,
                         ", got ", Str(hlo[Gather::kOffsetDims]), ", ", Str(collapsed), " and ", Str(batching)));
  for (size_t i = 0; i < rank; ++i) {
    const int64_t size = operand.dim(static_cast<int64_t>(i));
    if (sizes[i] < 0 || (size != kUnboundedSize && sizes[i] > size))
      return Broken(hlo, "C17", StrCat("slice_sizes must lie in [0, ", size, "] in dimension ", i, ", got ", sizes[i]));
  }
  for (int64_t dim : collapsed)
    if (sizes[static_cast<size_t>(dim)] > 1)
      return Broken(
          hlo, "C18",
          StrCat("slice_sizes must be 0 or 1 in collapsed dimension ", dim, ", got ", sizes[static_cast<size_t>(dim)]));
  for (int64_t dim : batching)
    if (sizes[static_cast<size_t>(dim)] > 1)
      return Broken(
          hlo, "C19",
          StrCat("slice_sizes must be 0 or 1 in batching dimension ", dim, ", got ", sizes[static_cast<size_t>(dim)]));
  return {};
}

Status CheckOddOperandCount(const Instruction& hlo) {
  if (hlo.operand_count() % 2 == 1) return {};
  return Broken(hlo, "C1", StrCat("takes an odd number of operands, got ", hlo.operand_count()));
}

// Rules C6 to C18 of scatter, which concern only the dimensions.
Status CheckScatterDims(const Instruction& hlo, const Indices& indices, int64_t rank, int64_t updates_rank) {
  Ints window = hlo[Scatter::kUpdateWindowDims], inserted = hlo[Scatter::kInsertedWindowDims];
  Ints batching = hlo[Scatter::kInputBatchingDims];
  SHOAL_TRY(DimsAscending(hlo, "C6", Scatter::kUpdateWindowDims));
  SHOAL_TRY(DimsWithin(hlo, "C7", Scatter::kUpdateWindowDims, updates_rank));
  SHOAL_TRY(DimsAscending(hlo, "C8", Scatter::kInsertedWindowDims));
  SHOAL_TRY(DimsWithin(hlo, "C9", Scatter::kInsertedWindowDims, rank));
  if (window.size() + inserted.size() + batching.size() != static_cast<size_t>(rank))
    return Broken(hlo, "C10",
                  StrCat("update_window_dims, inserted_window_dims and input_batching_dims must add up to rank ", rank,
                         ", got ", Str(window), ", ", Str(inserted), " and ", Str(batching)));
  SHOAL_TRY(CheckMap(hlo, Scatter::kScatterDimsToOperandDims, indices, rank, "C11", "C12", "C13"));
  return CheckBatching(hlo, Scatter::kInputBatchingDims, Scatter::kScatterIndicesBatchingDims, rank, indices.rank,
                       {"C14", "C15", "C16", "C17", "C18"});
}

// Rules C19 and C20: update windows fit into the operand, and there is one for each index vector.
Status CheckUpdateSizes(const Instruction& hlo, const Indices& indices, const Shape& operand, const Shape& updates) {
  Ints window = hlo[Scatter::kUpdateWindowDims];
  std::vector<int64_t> limits;
  for (int64_t i = 0; i < operand.rank(); ++i)
    if (!Contains(hlo[Scatter::kInsertedWindowDims], i) && !Contains(hlo[Scatter::kInputBatchingDims], i))
      limits.push_back(operand.dim(i));
  for (size_t i = 0; i < window.size(); ++i)
    if (limits[i] != kUnboundedSize && updates.dim(window[i]) > limits[i])
      return Broken(
          hlo, "C19",
          StrCat("updates must have size ", limits[i], " or less in dimension ", window[i], ", got ", Str(updates)));
  size_t batch = 0;
  for (int64_t i = 0; i < updates.rank(); ++i) {
    if (Contains(window, i)) continue;
    const int64_t size = indices.batch_sizes[batch++];
    if (!SizesMatch(updates.dim(i), size))
      return Broken(
          hlo, "C20",
          StrCat("updates must have size ", size, " in dimension ", i, " like the indices, got ", Str(updates)));
  }
  return {};
}

}  // namespace

ShapeResult Op<Opcode::kGather>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_TRY(OperandIsArray(hlo, 0));
  SHOAL_TRY(OperandIsArray(hlo, 1));
  const Shape& operand = hlo.operand_shape(0);
  SHOAL_ASSIGN(indices, IndicesOf(hlo, hlo.operand_shape(1), "C1", "C2"));
  Ints offset = hlo[kOffsetDims];
  const int64_t rank = static_cast<int64_t>(offset.size()) + indices.batch.size();
  SHOAL_TRY(DimsAscending(hlo, "C3", kOffsetDims));
  SHOAL_TRY(DimsWithin(hlo, "C4", kOffsetDims, rank));
  SHOAL_TRY(CheckMap(hlo, kStartIndexMap, indices, operand.rank(), "C5", "C6", "C7"));
  SHOAL_TRY(DimsWithin(hlo, "C8", kCollapsedSliceDims, operand.rank()));
  SHOAL_TRY(DimsAscending(hlo, "C9", kCollapsedSliceDims));
  SHOAL_TRY(CheckBatching(hlo, kOperandBatchingDims, kStartIndicesBatchingDims, operand.rank(), indices.rank,
                          {"C10", "C11", "C12", "C13", "C14"}));
  SHOAL_TRY(CheckSliceSizes(hlo));

  DimList result;
  int64_t window = 0;
  size_t batch = 0;
  const Shape* batches = indices.batch.Make(ElementType::kS32, shapes);
  for (int64_t i = 0; i < rank; ++i) {
    if (!Contains(offset, i)) {
      result.AddFrom(*batches, static_cast<int64_t>(batch++));
      continue;
    }
    while (Contains(hlo[kCollapsedSliceDims], window) || Contains(hlo[kOperandBatchingDims], window)) ++window;
    // A slice that covers a whole dynamic dimension is dynamic.
    const int64_t size = hlo[kSliceSizes][static_cast<size_t>(window)];
    result.Add(size, size == operand.dim(window) && operand.is_dynamic(window));
    ++window;
  }
  return result.Make(operand.element_type(), shapes);
}

Status Op<Opcode::kScatter>::Normalize(Instruction& hlo, Module&) { return CheckOddOperandCount(hlo); }

ShapeResult Op<Opcode::kScatter>::Infer(const Instruction& hlo, ShapePool& shapes) {
  const size_t n = hlo.operand_count() / 2;
  SHOAL_TRY(CheckOddOperandCount(hlo));
  if (n == 0) return Broken(hlo, "C2", "takes operands, indices and updates, got indices alone");
  SHOAL_TRY(OperandsAreArrays(hlo));
  SHOAL_ASSIGN(indices, IndicesOf(hlo, hlo.operand_shape(n), "C3", "C4"));
  const int64_t updates_rank = indices.batch.size() + static_cast<int64_t>(hlo[kUpdateWindowDims].size());
  std::vector<const Shape*> inits;
  std::vector<ElementType> types;
  for (size_t i = 0; i < n; ++i) {
    const Shape& operand = hlo.operand_shape(i);
    const Shape& updates = hlo.operand_shape(n + 1 + i);
    if (updates.rank() != updates_rank)
      return Broken(hlo, "C5", StrCat("updates must have rank ", updates_rank, ", got ", Str(updates)));
    SHOAL_TRY(CheckScatterDims(hlo, indices, operand.rank(), updates_rank));
    SHOAL_TRY(CheckUpdateSizes(hlo, indices, operand, updates));
    inits.push_back(shapes.Scalar(operand.element_type()));
    types.push_back(updates.element_type());
  }
  SHOAL_ASSIGN(reducer, SignatureOf(hlo, kToApply));
  SHOAL_TRY(CheckReducer(hlo, kToApply, reducer, inits, types, {"C21", "C22", "C23"}));
  return OneOrTuple(OperandShapes(hlo, 0, n), shapes);
}

}  // namespace shoal::internal
