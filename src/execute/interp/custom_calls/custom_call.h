// Supported custom calls: one row each in the table of table.cc.
#pragma once

#include "execute/interp/evaluate.h"

namespace shoal::internal {

struct CustomCallRow {
  std::string_view target;  // "__cublas$gemm"; '?' matches any character, a trailing '*' any suffix
  Evaluator evaluate;
};

// The row of a target; null if unknown.
const CustomCallRow* FindCustomCall(std::string_view target);

// The shape of the call's main result: the whole result, or the first element of a tuple.
const Shape& FirstResult(const Instruction& hlo);
// True if a value can be used where the shape is expected: equal leaves and sizes; dynamic dimensions may be smaller.
bool Fits(const Value& value, const Shape& shape);
// Small generated numbers that depend only on the name, the leaf and the element index. Increments `leaf` per array.
Value GeneratedValue(std::string_view name, uint64_t& leaf, const Shape& shape);

// matmuls (cublas_gemm.cc)
Result<Value> CublasMatmul(Call& call);
Result<Value> CublasMatmulF8(Call& call);
Result<Value> CublasGroupedMatmul(Call& call);  // in grouped_matmul.cc
// dots with block scales (block_scaled_dot.cc)
Result<Value> CublasMatmulMx(Call& call);
Result<Value> CudnnBlockScaledDot(Call& call);
Result<Value> BlockScaledDot(Call& call);
Result<Value> CublasTriangularSolve(Call& call);  // in triangular.cc
// convolutions (convolution.cc)
Result<Value> CudnnConvolution(Call& call);
Result<Value> CudnnConvolutionGraph(Call& call);  // in convolution_graph.cc
Result<Value> CudnnReorderFilter(Call& call);     // in convolution_vectors.cc
Result<Value> CudnnConvolutionBackwardInput(Call& call);
Result<Value> CudnnConvolutionBackwardFilter(Call& call);
// oneDNN (onednn.cc)
Result<Value> OneDnnMatmul(Call& call);
Result<Value> OneDnnConvolution(Call& call);
Result<Value> OneDnnSoftmax(Call& call);
Result<Value> OneDnnLayerNorm(Call& call);
Result<Value> CudnnNorm(Call& call);  // in layer_norm.cc
// attention (attention.cc)
Result<Value> CudnnAttention(Call& call);
Result<Value> CudnnAttentionBackward(Call& call);

// matrix factorizations (factors.cc)
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
// eigenvalues and singular values (spectra.cc)
Result<Value> HermitianEigen(Call& call);
Result<Value> Eigh(Call& call);
Result<Value> GeneralEigen(Call& call);
Result<Value> PackedEigen(Call& call);
Result<Value> SchurForm(Call& call);
Result<Value> SvdByDivideAndConquer(Call& call);
Result<Value> SvdByQr(Call& call);
Result<Value> CusolverSvd(Call& call);
Result<Value> CusolverSvdWithV(Call& call);
// linear equations (solvers.cc)
Result<Value> TriangularSolution(Call& call);
Result<Value> TridiagonalSolution(Call& call);
Result<Value> CusparseTridiagonal(Call& call);
Result<Value> PerturbedTridiagonal(Call& call);
Result<Value> SymmetricRankUpdate(Call& call);
Result<Value> CholeskyUpdate(Call& call);

// sorts, scans and selections (sorts.cc)
Result<Value> CubSort(Call& call);
Result<Value> CubScan(Call& call);
Result<Value> TopKCall(Call& call);
Result<Value> PartialReduce(Call& call);
// random numbers (random.cc)
Result<Value> ThreeFryCall(Call& call);

// compiler annotations (annotations.cc)
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

// TPU async collective fusions (async_collective_fusion.cc)
Result<Value> AsyncCollectiveStart(Call& call);
Result<Value> AsyncCollectiveDone(Call& call);

}  // namespace shoal::internal
