// cholesky, triangular-solve, fft and batch normalisation.
#pragma once

#include "core/ops/attrs.h"
#include "core/ops/rules.h"

namespace shoal::internal {

struct LinearAlgebra : OpBase {
  static constexpr OpClass kClass = OpClass::kLinearAlgebra;
  static constexpr bool kInfersShape = true;
};

inline constexpr Attr<bool> kLower{"lower"};

// cholesky: the triangular L with L * L^H = operand, in the last two dimensions.
template <>
struct Op<Opcode::kCholesky> : LinearAlgebra {
  static constexpr std::array kAttrs{Optional(kLower)};
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static void Cost(const Instruction& hlo, OpCostBuilder& builder);
};

enum class TransposeA : uint8_t { kInvalid, kNoTranspose, kTranspose, kAdjoint };
template <>
struct EnumNames<TransposeA> {
  static constexpr std::string_view kNames[] = {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"};
};

// triangular-solve: x with op(operand0) * x = operand1, or x * op(operand0) = operand1.
template <>
struct Op<Opcode::kTriangularSolve> : LinearAlgebra {
  static constexpr Attr<bool> kLeftSide{"left_side"};
  static constexpr Attr<bool> kUnitDiagonal{"unit_diagonal"};
  static constexpr Attr<TransposeA> kTransposeA{"transpose_a"};
  static constexpr std::array kAttrs{Optional(kLeftSide), Optional(kLower), Optional(kUnitDiagonal),
                                     Optional(kTransposeA)};
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static void Cost(const Instruction& hlo, OpCostBuilder& builder);
};

enum class FftType : uint8_t { kFft, kIfft, kRfft, kIrfft };
// True if one side is real and the other side is half of a spectrum.
inline bool IsReal(FftType type) { return type == FftType::kRfft || type == FftType::kIrfft; }
inline bool IsInverse(FftType type) { return type == FftType::kIfft || type == FftType::kIrfft; }
template <>
struct EnumNames<FftType> {
  static constexpr std::string_view kNames[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
};

// fft: the discrete Fourier transform of the last fft_length.size() dimensions.
template <>
struct Op<Opcode::kFft> : LinearAlgebra {
  static constexpr Attr<FftType> kType{"fft_type"};
  static constexpr Attr<Ints> kLength{"fft_length"};
  static constexpr std::array kAttrs{Required(kType), Required(kLength)};
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static void Cost(const Instruction& hlo, OpCostBuilder& builder);
};
using FftOp = Op<Opcode::kFft>;

inline constexpr Attr<double> kEpsilon{"epsilon"};
inline constexpr Attr<int64_t> kFeatureIndex{"feature_index"};

struct BatchNorm : LinearAlgebra {
  static constexpr std::array kAttrs{Required(kEpsilon), Required(kFeatureIndex)};
};

// batch-norm-training: (normalised operand0 * scale + offset, mean, variance) over all but feature_index.
template <>
struct Op<Opcode::kBatchNormTraining> : BatchNorm {
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
};
// batch-norm-inference: normalised operand0 * scale + offset, with mean and variance from operands 3 and 4.
template <>
struct Op<Opcode::kBatchNormInference> : BatchNorm {
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
};
// batch-norm-grad: gradients of operand0, scale and offset.
template <>
struct Op<Opcode::kBatchNormGrad> : BatchNorm {
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
};

}  // namespace shoal::internal
