// The custom calls that have a meaning here.
#include <algorithm>
#include <iterator>

#include "interp/custom_calls/custom_call.h"

namespace shoal {
namespace {

// Sorted by target.
constexpr CustomCallRow kRows[] = {
    {"AllocateBuffer", &MakeBuffer},
    {"ApproxTopK", &PartialReduce},
    {"AsyncCollectiveDone", &AsyncCollectiveDone},
    {"AsyncCollectiveStart", &AsyncCollectiveStart},
    {"CreateBuffer", &MakeBuffer},
    {"Eigh", &Eigh},
    {"GetRngSeed", &GetRngSeed},
    {"InspectSharding", &Nothing},
    {"LayoutConstraint", &PassThrough},
    {"LuDecomposition", &LuDecomposition},
    {"MoveToDevice", &PassThrough},
    {"MoveToHost", &PassThrough},
    {"PadToStatic", &PadToStatic},
    {"PartialReduce", &PartialReduce},
    {"Pin", &PassThrough},
    {"ProductOfElementaryHouseholderReflectors", &ReflectorProduct},
    {"Qr", &QrFactors},
    {"SPMDFullToShardShape", &Reshard},
    {"SPMDShardToFullShape", &Reshard},
    {"SetBound", &PassThrough},
    {"ShardBarrierFrom", &PassThrough},
    {"ShardBarrierTo", &PassThrough},
    {"Sharding", &PassThrough},
    {"SliceToDynamic", &SliceToDynamic},
    {"TopK", &TopKCall},
    {"Unpin", &PassThrough},
    {"X64Combine", &X64},
    {"X64SplitHigh", &X64},
    {"X64SplitLow", &X64},
    {"__cublas$gemm", &CublasMatmul},
    {"__cublas$lt$groupedMatmul", &CublasGroupedMatmul},
    {"__cublas$lt$matmul", &CublasMatmul},
    {"__cublas$lt$matmul$f8", &CublasMatmulF8},
    {"__cublas$lt$matmul$mx", &CublasMatmulMx},
    {"__cublas$triangularSolve", &CublasTriangularSolve},
    {"__cudnn$blockScaledDot", &CudnnBlockScaledDot},
    {"__cudnn$convBackwardFilter", &CudnnConvolutionBackwardFilter},
    {"__cudnn$convBackwardInput", &CudnnConvolutionBackwardInput},
    {"__cudnn$convBiasActivationForward", &CudnnConvolution},
    {"__cudnn$convForward", &CudnnConvolution},
    {"__cudnn$convForwardGraph", &CudnnConvolutionGraph},
    {"__cudnn$convReorderFilter", &CudnnReorderFilter},
    {"__cudnn$convReorderFilterAndBias", &CudnnReorderFilter},
    {"__cudnn$fmhaScaleBiasSoftmax", &CudnnAttention},
    {"__cudnn$fmhaScaleBiasSoftmaxBackward", &CudnnAttentionBackward},
    {"__cudnn$fmhaScaleBiasSoftmaxDropout", &CudnnAttention},
    {"__cudnn$fmhaScaleBiasSoftmaxDropoutBackward", &CudnnAttentionBackward},
    {"__cudnn$fmhaSoftmax", &CudnnAttention},
    {"__cudnn$fmhaSoftmaxBackward", &CudnnAttentionBackward},
    {"__cudnn$fmhaSoftmaxDropout", &CudnnAttention},
    {"__cudnn$fmhaSoftmaxDropoutBackward", &CudnnAttentionBackward},
    {"__cudnn$norm", &CudnnNorm},
    {"__gpu$TopK", &TopKCall},
    {"__nop", &MakeBuffer},
    {"__onednn$convolution", &OneDnnConvolution},
    {"__onednn$layernorm", &OneDnnLayerNorm},
    {"__onednn$matmul", &OneDnnMatmul},
    {"__onednn$softmax", &OneDnnSoftmax},
    {"__op$block_scaled_dot", &BlockScaledDot},
    {"annotate_device_placement", &PassThrough},
    {"cu_cholesky_update_ffi", &CholeskyUpdate},
    {"cu_lu_pivots_to_permutation", &PivotsToPermutation},
    {"cu_threefry2x32", &ThreeFryCall},
    {"cu_threefry2x32_ffi", &ThreeFryCall},
    {"cu_tridiagonal_solve_perturbed", &PerturbedTridiagonal},
    {"cuhybrid_eig_comp", &GeneralEigen},
    {"cuhybrid_eig_real", &GeneralEigen},
    {"cuhybrid_geqp3", &PivotedQrFactors},
    {"cusolver_geev_ffi", &PackedEigen},
    {"cusolver_geqrf_ffi", &QrFactors},
    {"cusolver_gesdd_ffi", &CusolverSvd},
    {"cusolver_gesvd_ffi", &CusolverSvd},
    {"cusolver_gesvdj_ffi", &CusolverSvdWithV},
    {"cusolver_gesvdp_ffi", &CusolverSvdWithV},
    {"cusolver_getrf_ffi", &LuFactors},
    {"cusolver_orgqr_ffi", &ReflectorProduct},
    {"cusolver_ormqr_ffi", &ReflectorMultiply},
    {"cusolver_potrf_ffi", &CholeskyFactor},
    {"cusolver_syevd_ffi", &HermitianEigen},
    {"cusolver_syrk_ffi", &SymmetricProduct},
    {"cusolver_sytrd_ffi", &TridiagonalFactors},
    {"cusparse_gtsv2_ffi", &CusparseTridiagonal},
    {"hip_cholesky_update_ffi", &CholeskyUpdate},
    {"hip_lu_pivots_to_permutation", &PivotsToPermutation},
    {"hip_threefry2x32", &ThreeFryCall},
    {"hip_threefry2x32_ffi", &ThreeFryCall},
    {"hip_tridiagonal_solve_perturbed", &PerturbedTridiagonal},
    {"hiphybrid_eig_comp", &GeneralEigen},
    {"hiphybrid_eig_real", &GeneralEigen},
    {"hiphybrid_geqp3", &PivotedQrFactors},
    {"hipsolver_geev_ffi", &PackedEigen},
    {"hipsolver_geqrf_ffi", &QrFactors},
    {"hipsolver_gesdd_ffi", &CusolverSvd},
    {"hipsolver_gesvd_ffi", &CusolverSvd},
    {"hipsolver_gesvdj_ffi", &CusolverSvdWithV},
    {"hipsolver_gesvdp_ffi", &CusolverSvdWithV},
    {"hipsolver_getrf_ffi", &LuFactors},
    {"hipsolver_orgqr_ffi", &ReflectorProduct},
    {"hipsolver_ormqr_ffi", &ReflectorMultiply},
    {"hipsolver_potrf_ffi", &CholeskyFactor},
    {"hipsolver_syevd_ffi", &HermitianEigen},
    {"hipsolver_syrk_ffi", &SymmetricProduct},
    {"hipsolver_sytrd_ffi", &TridiagonalFactors},
    {"hipsparse_gtsv2_ffi", &CusparseTridiagonal},
    {"lapack_?gees_ffi", &SchurForm},
    {"lapack_?geev_ffi", &GeneralEigen},
    {"lapack_?gehrd_ffi", &HessenbergFactors},
    {"lapack_?geqp3_ffi", &PivotedQrFactors},
    {"lapack_?geqrf_ffi", &QrFactors},
    {"lapack_?gesdd_ffi", &SvdByDivision},
    {"lapack_?gesvd_ffi", &SvdByQr},
    {"lapack_?getrf_ffi", &LuFactors},
    {"lapack_?gtsv_ffi", &TridiagonalSolution},
    {"lapack_?heevd_ffi", &HermitianEigen},
    {"lapack_?hetrd_ffi", &TridiagonalFactors},
    {"lapack_?orgqr_ffi", &ReflectorProduct},
    {"lapack_?ormqr_ffi", &ReflectorMultiply},
    {"lapack_?potrf_ffi", &CholeskyFactor},
    {"lapack_?syevd_ffi", &HermitianEigen},
    {"lapack_?sytrd_ffi", &TridiagonalFactors},
    {"lapack_?trsm_ffi", &TriangularSolution},
    {"lapack_?ungqr_ffi", &ReflectorProduct},
    {"lapack_?unmqr_ffi", &ReflectorMultiply},
    {"mhlo.topk", &TopKCall},
    {"tridiagonal_solve_perturbed_ffi", &PerturbedTridiagonal},
    {"xla.gpu.ext.cub_scan*", &CubScan},
    {"xla.gpu.ext.cub_sort_*", &CubSort},
    {"xla.sdy.*", &PassThrough},
    {"xla.sdy.GlobalToLocalShape", &Reshard},
    {"xla.sdy.LocalToGlobalShape", &Reshard},
};

constexpr bool Before(const CustomCallRow& a, const CustomCallRow& b) { return a.target < b.target; }
static_assert(std::is_sorted(std::begin(kRows), std::end(kRows), Before));

bool IsPattern(std::string_view target) { return target.find_first_of("?*") != std::string_view::npos; }

bool Matches(std::string_view pattern, std::string_view target) {
  if (pattern.ends_with('*')) {
    pattern.remove_suffix(1);
    target = target.substr(0, pattern.size());
  }
  return std::equal(pattern.begin(), pattern.end(), target.begin(), target.end(),
                    [](char wanted, char c) { return wanted == '?' || wanted == c; });
}

}  // namespace

const CustomCallRow* FindCustomCall(std::string_view target) {
  auto row = std::lower_bound(std::begin(kRows), std::end(kRows), CustomCallRow{target, nullptr}, Before);
  if (row != std::end(kRows) && row->target == target) return row;
  for (const CustomCallRow& pattern : kRows)
    if (IsPattern(pattern.target) && Matches(pattern.target, target)) return &pattern;
  return nullptr;
}

}  // namespace shoal
