// The rules of the simplifier for ops that move elements.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "formats/stablehlo/fold.h"
#include "formats/stablehlo/op_table.h"
#include "formats/stablehlo/simplifier.h"

namespace shoal::internal {

bool Simplifier::RewriteBroadcast(MlirOp& op) {
  if (op.operands.size() != 1) return false;
  MlirValue* x = op.operands[0];
  const MlirType& from = *x->type;
  const MlirType& to = *op.results[0].type;
  const std::span<const int64_t> dims = IntsOf(op, "broadcast_dimensions");
  if (dims.size() != from.dims.size()) return false;
  if (const MlirAttr* value = ConstantOf(x); value != nullptr && IsStatic(to) &&
                                             (value->splat || ElementCount(from) == 1))
    return ReplaceWithConstant(op, WithType(*value, to, arena_));
  if (IsIotaList(dims) && SameType(from, to)) return ReplaceWith(op, x);
  const bool same_count = IsStatic(from) && IsStatic(to) && ElementCount(from) == ElementCount(to);
  if (same_count && std::is_sorted(dims.begin(), dims.end()))
    return ReplaceWith(op, &NewOp("stablehlo.reshape", {x}, &to, Discardable(op), op)->results[0]);
  if (same_count && from.dims.size() == to.dims.size()) {
    std::vector<int64_t> permutation(dims.size());
    for (size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] < 0 || dims[i] >= std::ssize(dims)) return false;
      permutation[static_cast<size_t>(dims[i])] = static_cast<int64_t>(i);
    }
    std::vector<MlirNamedAttr> attrs = Discardable(op);
    attrs.push_back({"permutation", Ints(permutation)});
    return ReplaceWith(op, &NewOp("stablehlo.transpose", {x}, &to, attrs, op)->results[0]);
  }
  if (const MlirOp* inner = Producer(x, "stablehlo.broadcast_in_dim")) {
    MlirValue* source = Resolve(inner->operands[0]);
    const std::span<const int64_t> inner_dims = IntsOf(*inner, "broadcast_dimensions");
    if (ElementCount(*source->type) == ElementCount(from) && std::is_sorted(inner_dims.begin(), inner_dims.end()))
      return false;
    std::vector<int64_t> merged;
    for (const int64_t d : inner_dims) {
      if (d < 0 || d >= std::ssize(dims)) return false;
      merged.push_back(dims[static_cast<size_t>(d)]);
    }
    std::vector<MlirNamedAttr> attrs = Discardable(op);
    attrs.push_back({"broadcast_dimensions", Ints(merged)});
    return ReplaceWith(op, &NewOp("stablehlo.broadcast_in_dim", {source}, &to, attrs, op)->results[0]);
  }
  return false;
}

// reshape, and convert where it changes nothing.
bool Simplifier::RewriteReshape(MlirOp& op) {
  if (op.operands.size() != 1) return false;
  MlirValue* x = op.operands[0];
  const MlirType& to = *op.results[0].type;
  if (SameType(*x->type, to)) return ReplaceWith(op, x);
  if (op.name != "stablehlo.reshape") return false;
  if (const MlirAttr* value = ConstantOf(x); value != nullptr && IsStatic(to))
    return ReplaceWithConstant(op, WithType(*value, to, arena_));
  if (const MlirOp* inner = Producer(x, "stablehlo.reshape")) {
    op.operands[0] = Resolve(inner->operands[0]);
    Changed(op);
    return RewriteReshape(op);
  }
  return false;
}

bool Simplifier::RewriteTranspose(MlirOp& op) {
  if (op.operands.size() != 1) return false;
  MlirValue* x = op.operands[0];
  const MlirType& from = *x->type;
  const MlirType& to = *op.results[0].type;
  const std::span<const int64_t> permutation = IntsOf(op, "permutation");
  if (permutation.size() != from.dims.size()) return false;
  for (const int64_t d : permutation)
    if (d < 0 || d >= std::ssize(permutation)) return false;
  if (IsIotaList(permutation)) return ReplaceWith(op, x);
  if (const MlirAttr* value = ConstantOf(x); value != nullptr && value->splat)
    return ReplaceWithConstant(op, WithType(*value, to, arena_));
  if (const MlirOp* inner = Producer(x, "stablehlo.transpose")) {
    const std::span<const int64_t> first = IntsOf(*inner, "permutation");
    if (first.size() != permutation.size()) return false;
    std::vector<int64_t> merged;
    for (const int64_t d : permutation) merged.push_back(first[static_cast<size_t>(d)]);
    std::vector<MlirNamedAttr> attrs = Discardable(op);
    attrs.push_back({"permutation", Ints(merged)});
    return ReplaceWith(op, &NewOp("stablehlo.transpose", {Resolve(inner->operands[0])}, &to, attrs, op)->results[0]);
  }
  if (!IsStatic(from) || !IsStatic(to)) return false;
  int64_t last = -1;
  for (const int64_t d : permutation) {
    if (from.dims[static_cast<size_t>(d)] == 1) continue;
    if (d < last) return false;
    last = d;
  }
  return ReplaceWith(op, &NewOp("stablehlo.reshape", {x}, &to, Discardable(op), op)->results[0]);
}

bool Simplifier::RewriteSlice(MlirOp& op) {
  if (op.operands.size() != 1) return false;
  MlirValue* x = op.operands[0];
  const MlirType& to = *op.results[0].type;
  if (IsStatic(to) && SameType(*x->type, to)) return ReplaceWith(op, x);
  const MlirAttr* value = ConstantOf(x);
  if (value == nullptr || !IsStatic(to)) return false;
  if (value->splat) return ReplaceWithConstant(op, WithType(*value, to, arena_));
  const std::span<const int64_t> starts = IntsOf(op, "start_indices"), strides = IntsOf(op, "strides");
  const std::span<const int64_t> dims = x->type->dims;
  const int64_t count = ElementCount(to);
  if (count > kMaxFoldedElements || count == 0 || starts.size() != dims.size() || strides.size() != dims.size()) return false;
  std::vector<int64_t> sources, index(dims.size());
  const int64_t total = ElementCount(*x->type);
  for (int64_t i = 0; i < count; ++i) {
    int64_t source = 0;
    for (size_t d = 0; d < dims.size(); ++d) source = source * dims[d] + starts[d] + index[d] * strides[d];
    if (source < 0 || source >= total) return false;
    sources.push_back(source);
    for (size_t d = dims.size(); d-- > 0;) {
      if (++index[d] < to.dims[d]) break;
      index[d] = 0;
    }
  }
  return ReplaceWithConstant(op, Permuted(*value, to, sources, arena_));
}

bool Simplifier::RewriteReverse(MlirOp& op) {
  if (op.operands.size() != 1 || !IsStatic(*op.operands[0]->type)) return false;
  const std::span<const int64_t> dims = op.operands[0]->type->dims;
  for (const int64_t d : IntsOf(op, "dimensions"))
    if (d < 0 || d >= std::ssize(dims) || dims[static_cast<size_t>(d)] != 1) return false;
  return ReplaceWith(op, op.operands[0]);
}

bool Simplifier::RewritePad(MlirOp& op) {
  if (op.operands.size() != 2 || !SameType(*op.operands[0]->type, *op.results[0].type)) return false;
  for (const std::string_view name : {"edge_padding_low", "edge_padding_high", "interior_padding"})
    for (const int64_t size : IntsOf(op, name))
      if (size != 0) return false;
  return ReplaceWith(op, op.operands[0]);
}

bool Simplifier::RewriteDynamicSlice(MlirOp& op) {
  const std::span<const int64_t> sizes = IntsOf(op, "slice_sizes");
  if (op.operands.size() != sizes.size() + 1 || !IsStatic(*op.operands[0]->type)) return false;
  std::vector<int64_t> starts, limits;
  const std::span<const int64_t> dims = op.operands[0]->type->dims;
  if (dims.size() != sizes.size()) return false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const MlirAttr* start = ConstantOf(op.operands[i + 1]);
    if (start == nullptr || !IsInteger(start->type->element) || dims[i] < sizes[i]) return false;
    starts.push_back(std::clamp<int64_t>(ElementAt(*start, 0).whole, 0, dims[i] - sizes[i]));
    limits.push_back(starts.back() + sizes[i]);
  }
  std::vector<MlirNamedAttr> attrs = Discardable(op);
  const std::vector<int64_t> strides(sizes.size(), 1);
  attrs.push_back({"start_indices", Ints(starts)});
  attrs.push_back({"limit_indices", Ints(limits)});
  attrs.push_back({"strides", Ints(strides)});
  return ReplaceWith(op, &NewOp("stablehlo.slice", {op.operands[0]}, op.results[0].type, attrs, op)->results[0]);
}

// An iota of several dimensions is one of a single dimension that is broadcast.
bool Simplifier::RewriteIota(MlirOp& op) {
  const MlirType& type = *op.results[0].type;
  const MlirAttr* dim = op.Find("iota_dimension");
  if (dim == nullptr || !IsStatic(type) || dim->number < 0 || dim->number >= std::ssize(type.dims)) return false;
  const int64_t size = type.dims[static_cast<size_t>(dim->number)];
  if (size == 1) return ReplaceWithConstant(op, SplatOf(0, type, arena_));
  if (type.dims.size() < 2) return false;
  MlirAttr* zero = arena_.New<MlirAttr>();
  zero->kind = MlirAttr::Kind::kInt;
  MlirOp* line = NewOp("stablehlo.iota", {}, Tensor(type.element, {size}), {{"iota_dimension", zero}}, op);
  MlirOp* broadcast = NewOp("stablehlo.broadcast_in_dim", {&line->results[0]}, &type,
                            {{"broadcast_dimensions", Ints({dim->number})}}, op);
  return ReplaceWith(op, &broadcast->results[0]);
}

// A gather at one constant position is a slice.
bool Simplifier::RewriteGather(MlirOp& op) {
  if (op.operands.size() != 2 || !IsStatic(*op.operands[0]->type)) return false;
  const MlirAttr* index = ConstantOf(op.operands[1]);
  const MlirAttr* vector_dim = op.Find("index_vector_dim");
  const std::span<const int64_t> map = IntsOf(op, "start_index_map"), sizes = IntsOf(op, "slice_sizes");
  const std::span<const int64_t> collapsed = IntsOf(op, "collapsed_slice_dims");
  if (index == nullptr || (vector_dim != nullptr && vector_dim->number != 0) || index->type->dims.size() > 1) return false;
  const std::span<const int64_t> dims = op.operands[0]->type->dims;
  if (ElementCount(*index->type) != std::ssize(map) || sizes.size() != dims.size()) return false;
  std::vector<int64_t> starts(sizes.size()), limits(sizes.begin(), sizes.end()), kept;
  for (size_t i = 0; i < map.size(); ++i) {
    if (map[i] < 0 || map[i] >= std::ssize(dims)) return false;
    const auto d = static_cast<size_t>(map[i]);
    if (dims[d] < sizes[d]) return false;
    const int64_t offset = std::clamp<int64_t>(ElementAt(*index, static_cast<int64_t>(i)).whole, 0, dims[d] - sizes[d]);
    starts[d] += offset;
    limits[d] += offset;
  }
  for (size_t d = 0; d < sizes.size(); ++d)
    if (std::find(collapsed.begin(), collapsed.end(), static_cast<int64_t>(d)) == collapsed.end()) kept.push_back(sizes[d]);
  const ElementType element = op.results[0].type->element;
  if (!SameType(*Tensor(element, kept), *op.results[0].type)) return false;
  const std::vector<int64_t> strides(sizes.size(), 1);
  MlirOp* slice = NewOp("stablehlo.slice", {op.operands[0]}, Tensor(element, {sizes.begin(), sizes.end()}),
                        {{"start_indices", Ints(starts)}, {"limit_indices", Ints(limits)}, {"strides", Ints(strides)}}, op);
  if (collapsed.empty()) return ReplaceWith(op, &slice->results[0]);
  return ReplaceWith(op, &NewOp("stablehlo.reshape", {&slice->results[0]}, op.results[0].type, {}, op)->results[0]);
}

// One operand is the result. Operands without elements are left out, and nested concatenations are one.
bool Simplifier::RewriteConcatenate(MlirOp& op) {
  const MlirAttr* dimension = op.Find("dimension");
  if (dimension == nullptr || op.operands.empty()) return false;
  if (op.operands.size() == 1 && SameType(*op.operands[0]->type, *op.results[0].type))
    return ReplaceWith(op, op.operands[0]);
  std::vector<MlirValue*> operands;
  for (MlirValue* operand : op.operands) {
    const auto d = static_cast<size_t>(dimension->number);
    if (d >= operand->type->dims.size()) return false;
    if (IsStatic(*operand->type) && operand->type->dims[d] == 0) continue;
    operands.push_back(operand);
  }
  if (operands.empty() || operands.size() == op.operands.size()) {
    // All constants: fold along the outermost dimension, where the elements are consecutive.
    const int64_t count = IsStatic(*op.results[0].type) ? ElementCount(*op.results[0].type) : 0;
    if (count < 1 || count > kMaxFoldedElements || dimension->number != 0) return false;
    std::vector<std::byte> bytes;
    const auto size = static_cast<size_t>(StorageBytes(op.results[0].type->element));
    for (MlirValue* operand : op.operands) {
      const MlirAttr* value = ConstantOf(operand);
      if (value == nullptr) return false;
      const int64_t elements = ElementCount(*operand->type);
      for (int64_t i = 0; i < elements; ++i) {
        const std::byte* element = value->data.data() + (value->splat ? 0 : static_cast<size_t>(i) * size);
        bytes.insert(bytes.end(), element, element + size);
      }
    }
    if (bytes.size() != static_cast<size_t>(count) * size) return false;
    MlirAttr* attr = arena_.New<MlirAttr>();
    attr->kind = MlirAttr::Kind::kDense;
    attr->type = op.results[0].type;
    attr->data = arena_.Copy(bytes);
    return ReplaceWithConstant(op, attr);
  }
  op.operands = arena_.Copy(operands);
  Changed(op);
  return false;
}

}  // namespace shoal::internal
