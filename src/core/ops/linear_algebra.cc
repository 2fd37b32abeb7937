#include "core/ops/linear_algebra.h"

#include <algorithm>

#include "core/ops/dims.h"

namespace shoal::internal {
namespace {

bool IsFloatOrComplex(ElementType type) { return IsFloat(type) || IsComplex(type); }

// True if the last two dimensions are a square matrix.
bool IsSquare(const Shape& shape) { return SizesMatch(shape.dim(shape.rank() - 2), shape.dim(shape.rank() - 1)); }

}  // namespace

ShapeResult Op<Opcode::kCholesky>::Infer(const Instruction& hlo, ShapePool&) {
  SHOAL_TRY(OperandIsArray(hlo, 0));
  const Shape& a = hlo.operand_shape(0);
  if (!IsFloatOrComplex(a.element_type()))
    return Broken(hlo, "C1", StrCat("operand must be float or complex, got ", Str(a)));
  if (a.rank() < 2) return Broken(hlo, "C2", StrCat("operand must have rank 2 or more, got ", Str(a)));
  if (!IsSquare(a)) return Broken(hlo, "C3", StrCat("operand must be square in its last dimensions, got ", Str(a)));
  return &a;
}

ShapeResult Op<Opcode::kTriangularSolve>::Infer(const Instruction& hlo, ShapePool&) {
  SHOAL_TRY(OperandIsArray(hlo, 0));
  SHOAL_TRY(OperandIsArray(hlo, 1));
  const Shape& a = hlo.operand_shape(0);
  const Shape& b = hlo.operand_shape(1);
  auto both = [&] { return StrCat(", got ", Str(a), " and ", Str(b)); };
  if (!IsFloatOrComplex(a.element_type()) || a.element_type() != b.element_type())
    return Broken(hlo, "C1", StrCat("operands must have the same float or complex type", both()));
  const int rank = a.rank();
  if (rank < 2) return Broken(hlo, "C2", StrCat("operand 0 must have rank 2 or more, got ", Str(a)));
  if (b.rank() != rank) return Broken(hlo, "C3", StrCat("operands must have the same rank", both()));
  if (!IsSquare(a)) return Broken(hlo, "C4", StrCat("operand 0 must be square in its last dimensions, got ", Str(a)));
  if (!SizesMatch(a.dim(rank - 1), b.dim(rank - (hlo[kLeftSide] ? 2 : 1))))
    return Broken(hlo, "C5",
                  StrCat("operands must have the same number of ", hlo[kLeftSide] ? "rows" : "columns", both()));
  if (!std::equal(a.dims().begin(), a.dims().end() - 2, b.dims().begin()))
    return Broken(hlo, "C6", StrCat("operands must have the same leading dimensions", both()));
  if (hlo[kTransposeA] == TransposeA::kInvalid)
    return Broken(hlo, "C7", "transpose_a must be NO_TRANSPOSE, TRANSPOSE or ADJOINT, got TRANSPOSE_INVALID");
  return &b;
}

namespace {

// Real transforms pair `length` reals with length / 2 + 1 complex numbers in the last dimension.
ElementType FftResultType(FftType type, ElementType operand) {
  if (type == FftType::kRfft) return operand == ElementType::kF32 ? ElementType::kC64 : ElementType::kC128;
  if (type == FftType::kIrfft) return operand == ElementType::kC64 ? ElementType::kF32 : ElementType::kF64;
  return operand;
}

// Rule C4: the transformed dimensions have the sizes in fft_length. Complex transforms do not require this.
Status CheckFftLength(const Instruction& hlo, FftType type, Ints length) {
  const Shape& in = hlo.operand_shape(0);
  if (type != FftType::kRfft && type != FftType::kIrfft) return {};
  for (size_t i = 0; i < length.size(); ++i) {
    const int64_t dim = in.rank() - static_cast<int64_t>(length.size()) + static_cast<int64_t>(i);
    const bool halved = type == FftType::kIrfft && i + 1 == length.size();
    if (halved && in.dim(dim) == 0 && length[i] == 0) continue;
    const int64_t expected = halved ? length[i] / 2 + 1 : length[i];
    if (length[i] < 0 || !SizesMatch(in.dim(dim), expected))
      return Broken(hlo, "C4",
                    StrCat("operand must have size ", expected, " in dimension ", dim, " for fft_length=", Str(length),
                           ", got ", Str(in)));
  }
  return {};
}

}  // namespace

ShapeResult Op<Opcode::kFft>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_TRY(OperandIsArray(hlo, 0));
  const Shape& in = hlo.operand_shape(0);
  const FftType type = hlo[kType];
  Ints length = hlo[kLength];
  if (length.empty() || length.size() > 3)
    return Broken(hlo, "C1", StrCat("fft_length must have 1 to 3 entries, got ", Str(length)));
  const ElementType element = in.element_type();
  const bool real = type == FftType::kRfft;
  if (real ? element != ElementType::kF32 && element != ElementType::kF64 : !IsComplex(element))
    return Broken(hlo, "C2", StrCat("operand must be ", real ? "f32 or f64" : "complex", ", got ", Str(in)));
  if (in.dims().size() < length.size())
    return Broken(hlo, "C3", StrCat("operand must have rank ", length.size(), " or more, got ", Str(in)));
  SHOAL_TRY(CheckFftLength(hlo, type, length));
  if (type != FftType::kRfft && type != FftType::kIrfft) return &in;

  std::vector<int64_t> dims(in.dims().begin(), in.dims().end());
  if (type == FftType::kIrfft) dims.back() = length.back();
  if (type == FftType::kRfft && length.back() != 0) dims.back() = length.back() / 2 + 1;
  return shapes.Array(FftResultType(type, element), dims, in.dynamic_dims(), in.layout());
}

namespace {

// Rules C1 to C5 of batch normalisation: operands `vectors` have one element per feature of operand 0.
Status CheckFeatures(const Instruction& hlo, std::initializer_list<size_t> vectors) {
  SHOAL_TRY(OperandIsArray(hlo, 0));
  const Shape& operand = hlo.operand_shape(0);
  const int64_t feature = hlo[kFeatureIndex];
  if (feature < 0 || feature >= operand.rank())
    return Broken(hlo, "C1", StrCat("feature_index must lie in [0, ", operand.rank(), "), got ", feature));
  if (!IsFloat(operand.element_type())) return Broken(hlo, "C2", StrCat("operand must be float, got ", Str(operand)));
  for (size_t i : vectors) {
    SHOAL_TRY(OperandIsArray(hlo, i));
    const Shape& vector = hlo.operand_shape(i);
    if (vector.rank() != 1) return Broken(hlo, "C3", StrCat("operand ", i, " must have rank 1, got ", Str(vector)));
    if (!IsFloat(vector.element_type()))
      return Broken(hlo, "C4", StrCat("operand ", i, " must be float like operand 0, got ", Str(vector)));
    if (!SizesMatch(vector.dim(0), operand.dim(feature)))
      return Broken(
          hlo, "C5",
          StrCat("operand ", i, " must have size ", operand.dim(feature), ", one for each feature, got ", Str(vector)));
  }
  return {};
}

// The shape (operand 0, vector, vector), in which a vector has one element per feature.
const Shape* WithFeatures(const Instruction& hlo, ShapePool& shapes) {
  const Shape& operand = hlo.operand_shape(0);
  DimList features;
  features.AddFrom(operand, hlo[kFeatureIndex]);
  const Shape* vector = features.Make(operand.element_type(), shapes);
  const Shape* parts[] = {&operand, vector, vector};
  return shapes.Tuple(parts);
}

}  // namespace

ShapeResult Op<Opcode::kBatchNormTraining>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_TRY(CheckFeatures(hlo, {1, 2}));
  return WithFeatures(hlo, shapes);
}

ShapeResult Op<Opcode::kBatchNormInference>::Infer(const Instruction& hlo, ShapePool&) {
  SHOAL_TRY(CheckFeatures(hlo, {1, 2, 3, 4}));
  return &hlo.operand_shape(0);
}

ShapeResult Op<Opcode::kBatchNormGrad>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_TRY(CheckFeatures(hlo, {1, 2, 3}));
  SHOAL_TRY(OperandIsArray(hlo, 4));
  const Shape& gradient = hlo.operand_shape(4);
  if (!IsFloat(gradient.element_type()))
    return Broken(hlo, "C4", StrCat("operand 4 must be float like operand 0, got ", Str(gradient)));
  if (!SameDims(hlo.operand_shape(0), gradient))
    return Broken(hlo, "C6",
                  StrCat("operand 4 must have the dimensions of ", Str(hlo.operand_shape(0)), ", got ", Str(gradient)));
  return WithFeatures(hlo, shapes);
}

}  // namespace shoal::internal
