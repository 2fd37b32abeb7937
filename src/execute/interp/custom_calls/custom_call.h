// The custom calls that the interpreter supports. Each has one row in the table of table.cc.
#pragma once

#include "core/ops/backend_config.h"
#include "execute/interp/evaluate.h"

namespace shoal::internal {

struct CustomCallRow {
  std::string_view target;  // such as "__cublas$gemm"; '?' matches any character, a trailing '*' any suffix
  Evaluator evaluate;
};

// The row of a target; null if the target is unknown.
const CustomCallRow* FindCustomCall(std::string_view target);

// The backend_config of a custom call.
inline BackendConfig ConfigOf(const Call& call) { return call.config != nullptr ? *call.config : BackendConfig::Of(call.hlo); }

// True if a value fits a shape: equal leaves and sizes, except that dynamic dimensions may be smaller.
bool Fits(const Value& value, const Shape& shape);
// Small generated numbers that depend only on the name, the leaf and the element index. Increments `leaf` per array.
Value GeneratedValue(std::string_view name, uint64_t& leaf, const Shape& shape);

// Matmuls (cublas_gemm.cc).
Result<Value> CublasMatmul(Call& call);
Result<Value> CublasMatmulF8(Call& call);
Result<Value> CublasGroupedMatmul(Call& call);  // in grouped_matmul.cc
// Dots with block scales (block_scaled_dot.cc).
Result<Value> CublasMatmulMx(Call& call);
Result<Value> CudnnBlockScaledDot(Call& call);
Result<Value> BlockScaledDot(Call& call);
Result<Value> CublasTriangularSolve(Call& call);  // in triangular.cc
// Convolutions (convolution.cc).
Result<Value> CudnnConvolution(Call& call);
Result<Value> CudnnConvolutionGraph(Call& call);  // in convolution_graph.cc
Result<Value> CudnnReorderFilter(Call& call);     // in convolution_vectors.cc
Result<Value> CudnnConvolutionBackwardInput(Call& call);
Result<Value> CudnnConvolutionBackwardFilter(Call& call);
// Calls of oneDNN (onednn.cc).
Result<Value> OneDnnMatmul(Call& call);
Result<Value> OneDnnConvolution(Call& call);
Result<Value> OneDnnSoftmax(Call& call);
Result<Value> OneDnnLayerNorm(Call& call);
Result<Value> CudnnNorm(Call& call);  // in layer_norm.cc
// Attention (attention.cc).
Result<Value> CudnnAttention(Call& call);
Result<Value> CudnnAttentionBackward(Call& call);

// Matrix factorizations (factors.cc).
Result<Value> CholeskyFactor(Call& call);
Result<Value> LuFactors(Call& call);
Result<Value> LuDecomposition(Call& call);
Result<Value> PivotsToPermutation(Call& call);
Result<Value> QrFactors(Call& call);
Result<Value> PivotedQrFactors(Call& call);
Result<Value> ReflectorProduct(Call& call);
Result<Value> ReflectorMultiply(Call& call);
Result<Value> HessenbergFactors(Call& call);
Result<Value> TridiagonalFactors(Call& call);
// Eigenvalues and singular values (spectra.cc).
Result<Value> HermitianEigen(Call& call);
Result<Value> Eigh(Call& call);
Result<Value> GeneralEigen(Call& call);
Result<Value> PackedEigen(Call& call);
Result<Value> SchurForm(Call& call);
Result<Value> SvdByDivideAndConquer(Call& call);
Result<Value> SvdByQr(Call& call);
Result<Value> CusolverSvd(Call& call);
Result<Value> CusolverSvdWithV(Call& call);
// Calls of cuSOLVER of jaxlib up to 0.4.38 (struct_config_calls.cc).
Result<Value> StructCholesky(Call& call);
Result<Value> StructLu(Call& call);
Result<Value> StructQr(Call& call);
Result<Value> StructReflectorProduct(Call& call);
Result<Value> StructHermitianEigen(Call& call);
Result<Value> StructTridiagonal(Call& call);
Result<Value> StructSvd(Call& call);
Result<Value> StructSvdWithV(Call& call);
Result<Value> StructTridiagonalSolution(Call& call);
// Calls of jaxlib up to 0.4.30 (scalar_operand_calls.cc, ducc_fft.cc).
Result<Value> StaticDuccFft(Call& call);
Result<Value> ScalarCholesky(Call& call);
Result<Value> ScalarLu(Call& call);
Result<Value> ScalarQr(Call& call);
Result<Value> ScalarReflectorProduct(Call& call);
Result<Value> ScalarSvd(Call& call);
Result<Value> ScalarHermitianEigen(Call& call);
Result<Value> ScalarEigen(Call& call);
Result<Value> ScalarSchur(Call& call);
Result<Value> ScalarHessenberg(Call& call);
Result<Value> ScalarTridiagonal(Call& call);
Result<Value> ScalarTriangularSolution(Call& call);
Result<Value> DuccFft(Call& call);
// Linear equations (solvers.cc).
Result<Value> TriangularSolution(Call& call);
Result<Value> TridiagonalSolution(Call& call);
Result<Value> CusparseTridiagonal(Call& call);
Result<Value> PerturbedTridiagonal(Call& call);
Result<Value> SymmetricRankUpdate(Call& call);
Result<Value> CholeskyUpdate(Call& call);

// Sorts, scans and selections (sorts.cc).
Result<Value> CubSort(Call& call);
Result<Value> CubScan(Call& call);
Result<Value> TopKCall(Call& call);
Result<Value> PartialReduce(Call& call);
// Random numbers (random.cc).
Result<Value> ThreeFryCall(Call& call);

// Compiler annotations (annotations.cc).
Result<Value> PassThrough(Call& call);
Result<Value> Reshard(Call& call);  // in reshard.cc
Result<Value> IgnoreCall(Call& call);
Result<Value> MakeBuffer(Call& call);
Result<Value> PadToStatic(Call& call);
Result<Value> SliceToDynamic(Call& call);
Result<Value> GetRngSeed(Call& call);
Result<Value> X64Combine(Call& call);
Result<Value> X64SplitHigh(Call& call);
Result<Value> X64SplitLow(Call& call);

// TPU async collective fusions (async_collective_fusion.cc).
Result<Value> AsyncCollectiveStart(Call& call);
Result<Value> AsyncCollectiveDone(Call& call);

}  // namespace shoal::internal
