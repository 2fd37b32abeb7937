// Dots whose operands have one scale per block of the contracting dimension: scaled-dot as in the GPU libraries.
#include <algorithm>

#include "execute/interp/custom_calls/cublas_gemm.h"
#include "kernels/arrays/strided.h"
#include "kernels/elementwise/element_loops.h"

namespace shoal::internal {
namespace {

// cuDNN stores scales in tiles of 128 rows and 4 columns.
constexpr int64_t kTileRows = 128, kTileColumns = 4;
// In memory, a tile consists of 32 groups of 4 rows; the rows of a group are 32 rows apart.
constexpr int64_t kRowStride = 32;

Diag BadScale(const Instruction& hlo, const Array& operand, const Array& scale, std::string_view requirement) {
  return ExecutionError(hlo, StrCat("scale of ", ToString(operand), " must ", requirement, ", got ", ToString(scale)));
}

// Returns the scales in row-major order.
Result<Array> Unswizzled(const Instruction& hlo, const Array& operand, const Array& scale) {
  const int64_t rows = scale.dim(scale.rank() - 2), columns = scale.dim(scale.rank() - 1);
  if (rows % kTileRows != 0 || columns % kTileColumns != 0)
    return BadScale(hlo, operand, scale, "consist of tiles of 128 rows and 4 columns");
  const int64_t batch = scale.rank() == 3 ? scale.dim(0) : 1;
  const Array tiles = scale.WithDims(
      {batch, rows / kTileRows, columns / kTileColumns, kRowStride, kTileRows / kRowStride, kTileColumns});
  constexpr int64_t kOrder[] = {0, 1, 4, 3, 2, 5};
  return Transposed(tiles, kOrder).WithDims(ToDims(scale.dims()));
}

// Multiplies the operand, [batch, row, column] or [row, column], by its scales. One scale applies to `block` columns.
// `scale` may have more elements than the operand needs.
Result<Array> Dequantized(const Instruction& hlo, const Array& operand, const Array& scale, int64_t block) {
  const int last = operand.rank() - 1;
  if (block < 1 || operand.dim(last) % block != 0)
    return BadScale(hlo, operand, scale, StrCat("divide it into blocks of ", block));
  Dims sizes = ToDims(operand.dims());
  sizes.back() /= block;
  for (int d = 0; d <= last; ++d) {
    const int64_t required = sizes[static_cast<size_t>(d)];
    const bool is_batch = d < last - 1;
    if (is_batch ? scale.dim(d) != required : scale.dim(d) < required)
      return BadScale(hlo, operand, scale, StrCat("have ", ToString(AsInts(sizes)), " elements"));
  }
  const Strided from{0, RowMajorStrides(scale.dims())};
  return ApplyBlockScales(operand, Gathered(scale, std::move(sizes), from));
}

// Checks the operands: `min_operands` to five. All are arrays of rank two or three, but the fifth is a scalar.
Status CheckOperands(const Call& call, size_t min_operands) {
  SHOAL_TRY(CheckGemmForm(call, std::max(min_operands, call.operands.size())));
  if (call.operands.size() > 5) return ExecutionError(call.hlo, "expected at most five operands");
  const int rank = call.array(0).rank();
  if (rank != 2 && rank != 3)
    return ExecutionError(call.hlo, StrCat("operands must have rank 2 or 3, got ", ToString(call.array(0))));
  for (size_t i = 1; i < std::min<size_t>(call.operands.size(), 4); ++i)
    if (call.array(i).rank() != rank)
      return ExecutionError(call.hlo, StrCat("operands must have rank ", rank, ", got ", ToString(call.array(i))));
  if (call.operands.size() == 5 && call.array(4).count() != 1)
    return ExecutionError(call.hlo, StrCat("global scale must be one number, got ", ToString(call.array(4))));
  return {};
}

// Computes result[batch, row of lhs, row of rhs], rounds it, and then multiplies it by the global scale.
Result<Value> RowDots(const Call& call, const Array& lhs, const Array& rhs) {
  constexpr int64_t kBatch[] = {0};
  const int64_t contracting[] = {lhs.rank() - 1};
  const Ints batch = lhs.rank() == 3 ? Ints(kBatch) : Ints();
  const ContractionDims dims{batch, batch, contracting, contracting};
  SHOAL_TRY(CheckContractionDims(call.hlo, lhs, rhs, dims));
  const ElementType type = FirstElement(call.hlo.shape()).element_type();
  Array result = DotGeneral(lhs, rhs, dims, type);
  if (call.operands.size() == 5) {
    const Array global_scale = call.array(4).WithDims(Dims(static_cast<size_t>(result.rank()), 1));
    result = Converted(ApplyBlockScales(result, global_scale), type);
  }
  return FinishedGemm(call.hlo, GemmConfig(BackendConfig("{}")), {}, std::move(result));
}

// The block size that cuDNN uses for scales of this type; zero if unsupported.
int64_t BlockSizeOf(ElementType scale) {
  if (scale == ElementType::kF8e8m0fnu) return 32;
  return scale == ElementType::kF8e4m3fn ? 16 : 0;
}

bool DividesIntoBlocks(const Array& operand, const Array& scale) {
  return std::equal(operand.dims().begin(), operand.dims().end(), scale.dims().begin(), scale.dims().end(),
                    [](int64_t size, int64_t blocks) { return blocks == 0 ? size == 0 : size % blocks == 0; });
}

}  // namespace

// Operands: (lhs, rhs, lhs scale, rhs scale). The scales have the layout of scaled-dot.
Result<Value> CublasMatmulMx(Call& call) {
  SHOAL_TRY(CheckGemmForm(call, 4));
  const GemmConfig config(ConfigOf(call));
  SHOAL_TRY(CheckContractionDims(call.hlo, call.array(0), call.array(1), config.numbers.dims()));
  for (size_t i = 0; i < 2; ++i)
    if (!DividesIntoBlocks(call.array(i), call.array(i + 2)))
      return BadScale(call.hlo, call.array(i), call.array(i + 2), "divide it into blocks");
  const Array lhs = ApplyBlockScales(call.array(0), call.array(2)), rhs = ApplyBlockScales(call.array(1), call.array(3));
  const ElementType type = SumType(lhs.type(), rhs.type(), FirstElement(call.hlo.shape()).element_type());
  return FinishedGemm(call.hlo, config, {}, DotGeneral(lhs, rhs, config.numbers.dims(), type));
}

// Operands: (lhs, rhs, lhs scale, rhs scale, optional global scale). The scales are swizzled.
Result<Value> CudnnBlockScaledDot(Call& call) {
  SHOAL_TRY(CheckOperands(call, 4));
  Array factors[2];
  for (size_t i = 0; i < 2; ++i) {
    const Array& operand = call.array(i);
    const Array& scale = call.array(i + 2);
    const int64_t block = BlockSizeOf(scale.type());
    if (block == 0) return BadScale(call.hlo, operand, scale, "be f8e8m0fnu or f8e4m3fn");
    SHOAL_ASSIGN(scales, Unswizzled(call.hlo, operand, scale));
    SHOAL_ASSIGN(factor, Dequantized(call.hlo, operand, scales, block));
    factors[i] = std::move(factor);
  }
  return RowDots(call, factors[0], factors[1]);
}

// The form of the call before the compiler selects a library. The scales are not swizzled, and rhs may have no scale.
// If the scales are padded, backend_config has the block size.
Result<Value> BlockScaledDot(Call& call) {
  SHOAL_TRY(CheckOperands(call, 3));
  const BackendConfig config = ConfigOf(call).Object("block_scaled_dot_backend_config");
  Array factors[2] = {call.array(0), call.array(1)};
  for (size_t i = 0; i < 2 && i + 2 < call.operands.size(); ++i) {
    const int64_t columns = factors[i].dims().back(), scales = call.array(i + 2).dims().back();
    const int64_t block = config.Int("block_size", scales == 0 ? 0 : columns / scales);
    SHOAL_ASSIGN(factor, Dequantized(call.hlo, factors[i], call.array(i + 2), block));
    factors[i] = std::move(factor);
  }
  return RowDots(call, factors[0], factors[1]);
}

}  // namespace shoal::internal
