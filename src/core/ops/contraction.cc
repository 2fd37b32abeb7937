#include "core/ops/contraction.h"

#include <algorithm>
#include <cmath>

#include "absl/container/inlined_vector.h"
#include "core/ops/dims.h"

namespace shoal::internal {
namespace {

using RaggedDot = Op<Opcode::kRaggedDot>;

bool InEither(Ints a, Ints b, int64_t dim) { return Contains(a, dim) || Contains(b, dim); }

// Checks that both lists have the same number of dimensions, with the same sizes.
Status CheckPairs(const Instruction& hlo, const Attr<Ints>& lhs_key, const Attr<Ints>& rhs_key,
                  std::string_view count_rule, std::string_view size_rule) {
  Ints lhs = hlo[lhs_key], rhs = hlo[rhs_key];
  if (lhs.size() != rhs.size())
    return Broken(
        hlo, count_rule,
        StrCat(lhs_key.name, " and ", rhs_key.name, " must have the same length, got ", Str(lhs), " and ", Str(rhs)));
  for (size_t i = 0; i < lhs.size(); ++i)
    if (!SizesMatch(hlo.operand_shape(0).dim(lhs[i]), hlo.operand_shape(1).dim(rhs[i])))
      return Broken(hlo, size_rule,
                    StrCat(lhs_key.name, " and ", rhs_key.name, " must have the same sizes, got ",
                           hlo.operand_shape(0).dim(lhs[i]), " and ", hlo.operand_shape(1).dim(rhs[i])));
  return {};
}

// Rules C0 to C6 of every kind of dot, for operands 0 and 1.
Status CheckDot(const Instruction& hlo) {
  SHOAL_TRY(OperandIsArray(hlo, 0));
  SHOAL_TRY(OperandIsArray(hlo, 1));
  const int64_t lhs_rank = hlo.operand_shape(0).rank(), rhs_rank = hlo.operand_shape(1).rank();
  SHOAL_TRY(DimsWithin(hlo, "C1", kLhsContractingDims, lhs_rank));
  SHOAL_TRY(DimsWithin(hlo, "C1", kLhsBatchDims, lhs_rank));
  SHOAL_TRY(DimsWithin(hlo, "C1", kRhsContractingDims, rhs_rank));
  SHOAL_TRY(DimsWithin(hlo, "C1", kRhsBatchDims, rhs_rank));
  for (auto [contracting, batch] :
       {std::pair(&kLhsContractingDims, &kLhsBatchDims), std::pair(&kRhsContractingDims, &kRhsBatchDims)}) {
    const Ints contracted = hlo[*contracting], batched = hlo[*batch];
    absl::InlinedVector<int64_t, 8> both(contracted.begin(), contracted.end());
    both.insert(both.end(), batched.begin(), batched.end());
    if (!AllDistinct(both))
      return Broken(hlo, "C2",
                    StrCat(contracting->name, " and ", batch->name, " must not repeat a dimension, got ",
                           Str(contracted), " and ", Str(batched)));
  }
  SHOAL_TRY(CheckPairs(hlo, kLhsContractingDims, kRhsContractingDims, "C3", "C4"));
  return CheckPairs(hlo, kLhsBatchDims, kRhsBatchDims, "C5", "C6");
}

// Adds the batch dimensions, then the free dimensions of the lhs, then those of the rhs.
void AddDotDims(DimList& result, const Instruction& hlo, Ints rhs_groups = {}) {
  const Shape& lhs = hlo.operand_shape(0);
  const Shape& rhs = hlo.operand_shape(1);
  const Ints lhs_contracting = hlo[kLhsContractingDims], lhs_batch = hlo[kLhsBatchDims];
  const Ints rhs_contracting = hlo[kRhsContractingDims], rhs_batch = hlo[kRhsBatchDims];
  for (int64_t i : lhs_batch) result.AddFrom(lhs, i);
  for (int64_t i = 0; i < lhs.rank(); ++i)
    if (!InEither(lhs_contracting, lhs_batch, i)) result.AddFrom(lhs, i);
  for (int64_t i = 0; i < rhs.rank(); ++i)
    if (!InEither(rhs_contracting, rhs_batch, i) && !Contains(rhs_groups, i)) result.AddFrom(rhs, i);
}

// Kind of the lhs dimension that is divided into groups.
enum class RaggedKind { kFree, kContracting, kBatch };

RaggedKind RaggedKindOf(const Instruction& hlo, int64_t dim) {
  if (Contains(hlo[kLhsBatchDims], dim)) return RaggedKind::kBatch;
  return Contains(hlo[kLhsContractingDims], dim) ? RaggedKind::kContracting : RaggedKind::kFree;
}

// Sizes of the dimensions outside the ragged one. The group sizes may have a row for each index of these dimensions.
std::vector<int64_t> OuterSizes(const Instruction& hlo, int64_t ragged) {
  const Shape& lhs = hlo.operand_shape(0);
  std::vector<int64_t> dims(hlo[kLhsBatchDims].begin(), hlo[kLhsBatchDims].end());
  const RaggedKind kind = RaggedKindOf(hlo, ragged);
  if (kind == RaggedKind::kContracting) {
    dims.insert(dims.end(), hlo[kLhsContractingDims].begin(), hlo[kLhsContractingDims].end());
  } else if (kind == RaggedKind::kFree) {
    for (int64_t i = 0; i < lhs.rank(); ++i)
      if (!InEither(hlo[kLhsContractingDims], hlo[kLhsBatchDims], i)) dims.push_back(i);
  }
  dims.erase(std::find(dims.begin(), dims.end(), ragged), dims.end());
  for (int64_t& dim : dims) dim = lhs.dim(dim);
  return dims;
}

// Rules C7 to C9: there is one ragged dimension, and the group sizes have a valid rank.
Status CheckRagged(const Instruction& hlo) {
  const Shape& sizes = hlo.operand_shape(2);
  Ints ragged = hlo[RaggedDot::kLhsRaggedDims];
  if (ragged.size() != 1) return Broken(hlo, "C7", StrCat("lhs_ragged_dims must have one entry, got ", Str(ragged)));
  SHOAL_TRY(DimsWithin(hlo, "C8", RaggedDot::kLhsRaggedDims, hlo.operand_shape(0).rank()));
  if (sizes.rank() == 1) return {};
  std::vector<int64_t> outer = OuterSizes(hlo, ragged[0]);
  const bool fits = sizes.rank() == static_cast<int>(outer.size()) + 1 &&
                    std::equal(outer.begin(), outer.end(), sizes.dims().begin());
  if (!fits)
    return Broken(hlo, "C9",
                  StrCat("group sizes must have one dimension, or the outer sizes ", Str(outer), " and one more, got ",
                         Str(sizes)));
  return {};
}

// Rules C10 to C13: if the ragged dimension is free, each group has its own rhs; otherwise all groups share one.
Status CheckGroups(const Instruction& hlo) {
  const Shape& rhs = hlo.operand_shape(1);
  const int64_t groups = hlo.operand_shape(2).dims().back();
  Ints dims = hlo[RaggedDot::kRhsGroupDims];
  SHOAL_TRY(DimsWithin(hlo, "C10", RaggedDot::kRhsGroupDims, rhs.rank()));
  for (int64_t dim : dims)
    if (InEither(hlo[kRhsContractingDims], hlo[kRhsBatchDims], dim))
      return Broken(hlo, "C11",
                    StrCat("rhs_group_dims must be neither batch nor contracting dimensions, got ", Str(dims)));
  const size_t expected = RaggedKindOf(hlo, hlo[RaggedDot::kLhsRaggedDims][0]) == RaggedKind::kFree ? 1 : 0;
  if (dims.size() != expected)
    return Broken(
        hlo, "C12",
        StrCat("rhs_group_dims must have ", expected, expected == 1 ? " entry, got " : " entries, got ", Str(dims)));
  if (expected == 1 && !SizesMatch(groups, rhs.dim(dims[0])))
    return Broken(hlo, "C13", StrCat("rhs must have ", groups, " groups in dimension ", dims[0], ", got ", Str(rhs)));
  return {};
}

// True for the placeholder scale of an unscaled operand: one bf16 element, for a bf16 operand with several elements.
bool IsPlaceholderScale(const Shape& operand, const Shape& scale) {
  auto is_one = [](int64_t size) { return size == 1; };
  return operand.element_type() == ElementType::kBf16 && scale.element_type() == ElementType::kBf16 &&
         std::all_of(scale.dims().begin(), scale.dims().end(), is_one) &&
         !std::all_of(operand.dims().begin(), operand.dims().end(), is_one);
}

// Rules C7 to C9: one scale per block of the operand.
Status CheckScale(const Instruction& hlo, size_t operand_number, const Attr<Ints>& contracting,
                  const Attr<Ints>& batch) {
  const Shape& operand = hlo.operand_shape(operand_number);
  const Shape& scale = hlo.operand_shape(operand_number + 2);
  const bool is_placeholder = IsPlaceholderScale(operand, scale);
  const bool has_dims = AllWithin(hlo[contracting], 0, scale.rank()) && AllWithin(hlo[batch], 0, scale.rank());
  if (is_placeholder ? scale.rank() != 0 && !has_dims : scale.rank() != operand.rank())
    return Broken(hlo, "C7", StrCat("scale of ", Str(operand), " must have the same rank, got ", Str(scale)));
  if (is_placeholder) return {};
  if (hlo[contracting].size() != 1)
    return Broken(hlo, "C8", StrCat(contracting.name, " must have one entry, got ", Str(hlo[contracting])));
  for (int64_t i = 0; i < operand.rank(); ++i)
    if (scale.dim(i) <= 0 || operand.dim(i) % scale.dim(i) != 0)
      return Broken(hlo, "C9", StrCat("scale of ", Str(operand), " must divide it into blocks, got ", Str(scale)));
  return {};
}

}  // namespace

bool IsNarrowContraction(const Instruction& hlo) {
  return Info(hlo.opcode).op_class == OpClass::kContraction && hlo.shape().IsArray() && BitWidth(hlo.shape().element_type()) < 32;
}

double ContractedSize(double lhs, double rhs, double result) { return std::sqrt(lhs * rhs / result); }

ElementType ContractionType(const Instruction& hlo) {
  if (hlo.shape_ != nullptr && hlo.shape().IsArray()) return hlo.shape().element_type();
  return HigherPrecision(hlo.operand_shape(0).element_type(), hlo.operand_shape(1).element_type());
}

ShapeResult Op<Opcode::kDot>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_TRY(CheckDot(hlo));
  DimList result;
  AddDotDims(result, hlo);
  return result.Make(ContractionType(hlo), shapes);
}

ShapeResult Op<Opcode::kRaggedDot>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_TRY(CheckDot(hlo));
  SHOAL_TRY(OperandIsArray(hlo, 2));
  SHOAL_TRY(CheckRagged(hlo));
  SHOAL_TRY(CheckGroups(hlo));
  const Shape& sizes = hlo.operand_shape(2);
  DimList result;
  if (RaggedKindOf(hlo, hlo[kLhsRaggedDims][0]) == RaggedKind::kContracting) result.AddFrom(sizes, sizes.rank() - 1);
  AddDotDims(result, hlo, hlo[kRhsGroupDims]);
  return result.Make(ContractionType(hlo), shapes);
}

ShapeResult Op<Opcode::kScaledDot>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_TRY(CheckDot(hlo));
  SHOAL_TRY(OperandIsArray(hlo, 2));
  SHOAL_TRY(OperandIsArray(hlo, 3));
  SHOAL_TRY(CheckScale(hlo, 0, kLhsContractingDims, kLhsBatchDims));
  SHOAL_TRY(CheckScale(hlo, 1, kRhsContractingDims, kRhsBatchDims));
  if (hlo.operand_shape(2).rank() == 0 && hlo.operand_shape(3).rank() == 0)
    return Broken(hlo, "C10", "at least one of the scales must have dimensions, got two scalars");
  DimList result;
  AddDotDims(result, hlo);
  return result.Make(ContractionType(hlo), shapes);
}

}  // namespace shoal::internal
