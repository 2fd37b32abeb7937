#include <algorithm>
#include <unordered_map>

#include "core/ops/callee.h"
#include "core/ops/collective.h"

namespace shoal::internal {
namespace {

// An in-place permute takes (input, output, input offsets, output offsets) and moves slices of size slice_sizes.
bool IsInPlace(const Instruction& hlo) { return !hlo[kPermuteSliceSizes].empty(); }

Status CheckPairLengths(const Instruction& hlo) {
  for (Ints pair : hlo[kSourceTargetPairs])
    if (pair.size() != 2) return Broken(hlo, "C1", StrCat("source_target_pairs must be pairs, got ", Str(pair)));
  return {};
}

Status CheckOperandCount(const Instruction& hlo) {
  if (!hlo.has(kPermuteSliceSizes) || hlo.operand_count() == 4) return {};
  return Broken(hlo, "C2", StrCat("takes 4 operands when slice_sizes are given, got ", hlo.operand_count()));
}

// Rule C4: offsets are a tuple with a start index for each dimension of the buffer, or a tuple of these for each slice.
Status CheckOffsets(const Instruction& hlo, const Shape& buffer, const Shape& offsets) {
  auto is_array = [](const Shape* shape) { return shape->IsArray(); };
  auto is_index = [&](const Shape* shape) {
    return shape->IsTuple() && shape->elements().size() == buffer.dims().size();
  };
  std::span<const Shape* const> parts = offsets.elements();
  const bool one_slice = parts.size() == buffer.dims().size() && std::all_of(parts.begin(), parts.end(), is_array);
  const bool many_slices = std::all_of(parts.begin(), parts.end(), is_index);
  if (buffer.IsArray() && offsets.IsTuple() && (one_slice || many_slices)) return {};
  return Broken(hlo, "C4",
                StrCat("offsets must be a tuple with ", buffer.dims().size(),
                       buffer.rank() == 1 ? " index into " : " indices into ", Str(buffer), ", got ", Str(offsets)));
}

Status CheckInPlace(const Instruction& hlo) {
  if (!IsInPlace(hlo)) return {};
  const Shape& input = hlo.operand_shape(0);
  const Shape& output = hlo.operand_shape(1);
  if (input.IsArray() && output.IsArray()) {
    SHOAL_TRY(CheckOffsets(hlo, input, hlo.operand_shape(2)));
    return CheckOffsets(hlo, output, hlo.operand_shape(3));
  }
  const size_t n = input.elements().size();
  if (!input.IsTuple() || !output.IsTuple() || output.elements().size() != n)
    return Broken(
        hlo, "C3",
        StrCat("operands 0 and 1 must be two arrays or two tuples of the same size, got ", Str(input), " and ",
               Str(output)));
  for (size_t side = 0; side < 2; ++side) {
    const Shape& offsets = hlo.operand_shape(2 + side);
    if (!offsets.IsTuple() || offsets.elements().size() != n)
      return Broken(hlo, "C4", StrCat("offsets must be a tuple of ", n, ", one per buffer, got ", Str(offsets)));
    for (size_t i = 0; i < n; ++i)
      SHOAL_TRY(CheckOffsets(hlo, *hlo.operand_shape(side).elements()[i], *offsets.elements()[i]));
  }
  return {};
}

// Number of times a device may be a source or a target: once for each slice.
int64_t SlicesMoved(const Instruction& hlo) {
  if (!IsInPlace(hlo)) return 1;
  const Shape* offsets = &hlo.operand_shape(2);
  if (hlo.operand_shape(0).IsTuple() && !offsets->elements().empty()) offsets = &offsets->element(0);
  return static_cast<int64_t>(offsets->elements().size());
}

// Rules C5 to C7.
Status CheckPairs(const Instruction& hlo) {
  const int64_t allowed = SlicesMoved(hlo);
  std::unordered_map<int64_t, int64_t> sources, targets;
  auto too_often = [&](std::string_view kind, int64_t id) {
    return StrCat("source_target_pairs must name each ", kind, " at most ",
                  allowed == 1 ? "once" : StrCat(allowed, " times"), ", got ", id, " again");
  };
  for (Ints pair : hlo[kSourceTargetPairs]) {
    if (pair[0] < 0 || pair[1] < 0)
      return Broken(hlo, "C5", StrCat("source_target_pairs must not be negative, got ", Str(pair)));
    if (++sources[pair[0]] > allowed) return Broken(hlo, "C6", too_often("source", pair[0]));
    if (++targets[pair[1]] > allowed) return Broken(hlo, "C7", too_often("target", pair[1]));
  }
  return {};
}

Status CheckPermute(const Instruction& hlo) {
  SHOAL_TRY(CheckPairLengths(hlo));
  SHOAL_TRY(CheckOperandCount(hlo));
  SHOAL_TRY(CheckInPlace(hlo));
  SHOAL_TRY(CheckPairs(hlo));
  return IsInPlace(hlo) ? Status() : OperandsAreArrays(hlo);
}

}  // namespace

Status CollectivePermuteAttrs::Normalize(Instruction& hlo, Module&) {
  SHOAL_TRY(CheckPairLengths(hlo));
  return CheckOperandCount(hlo);
}

ShapeResult Op<Opcode::kCollectivePermute>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_TRY(CheckPermute(hlo));
  return IsInPlace(hlo) ? &hlo.operand_shape(1) : OneOrTuple(OperandShapes(hlo), shapes);
}

// (input, output, context…), where the backend chooses the context.
ShapeResult Op<Opcode::kCollectivePermuteStart>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_TRY(CheckPermute(hlo));
  if (IsInPlace(hlo)) return StartShape(hlo, &hlo.operand_shape(0), &hlo.operand_shape(1), shapes);
  const Shape* moved = OneOrTuple(OperandShapes(hlo), shapes);
  return StartShape(hlo, moved, moved, shapes);
}

}  // namespace shoal::internal
