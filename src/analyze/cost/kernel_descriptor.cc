#include "analyze/cost/kernel_descriptor.h"

#include <algorithm>
#include <cmath>

#include "analyze/cost/kernel_parts.h"
#include "analyze/cost/kernel_products.h"
#include "analyze/cost/kernel_traffic.h"
#include "core/ops/families.h"

namespace shoal::internal {
namespace {

constexpr std::string_view kKernelKindNames[] = {
    "nothing",        "loop fusion",  "row reduction", "column reduction", "transpose",   "Triton rows",
    "Triton columns", "library GEMM", "Triton GEMM",   "copy",             "driver copy", "scatter",
    "attention",      "convolution",  "radix sort",    "sort",             "top-k",       "host copy",
    "unknown call"};

bool IsKernelFree(const Instruction& hlo) {
  return Info(hlo.opcode).op_class == OpClass::kStructure || hlo.opcode == Opcode::kBitcast ||
         hlo.opcode == Opcode::kReshape;
}

const Instruction* FindOp(std::span<const Instruction* const> body, Opcode opcode, int depth = 0) {
  for (const Instruction* hlo : body) {
    if (hlo->opcode == opcode) return hlo;
    if (hlo->opcode != Opcode::kFusion || depth > 8) continue;
    if (const Computation* nested = (*hlo)[kCalls])
      if (const Instruction* found = FindOp(MakeFusionRegion(*nested).body, opcode, depth + 1)) return found;
  }
  return nullptr;
}

bool MovesLayout(const Instruction& hlo) {
  if (hlo.opcode == Opcode::kTranspose) {
    const Ints dims = hlo[kDimensions];
    // A transpose that keeps the minor dimension moves whole rows, so it needs no transpose kernel.
    return !dims.empty() && dims.back() != static_cast<int64_t>(dims.size()) - 1;
  }
  return hlo.opcode == Opcode::kCopy && hlo.operand_count() == 1 && hlo.shape().IsArray() &&
         hlo.shape().rank() > 0 && hlo.operand_shape(0).IsArray() && MinorDimension(hlo.shape()) != MinorDimension(hlo.operand_shape(0));
}

std::optional<TileConfig> TileConfigOf(const ConfigJson& config, const Shape& result) {
  const ConfigJson& block = MemberOf(MemberOf(config, "fusion_backend_config"), "block_level_fusion_config");
  const ConfigJson& tiles = MemberOf(block, "output_tiles");
  if (!tiles.is_array() || tiles.empty() || !result.IsArray()) return std::nullopt;
  std::vector<double> sizes = NumbersOf(MemberOf(tiles[0], "sizes"));
  TileConfig tile;
  tile.warps = std::max(1.0, NumberOf(MemberOf(block, "num_warps"), 4));
  tile.stages = std::max(1.0, NumberOf(MemberOf(block, "num_stages"), 1));
  const auto rank = static_cast<size_t>(result.rank());
  auto dim = [&](size_t from_last) {
    return from_last <= rank && from_last > 0 ? static_cast<double>(result.dim(static_cast<int64_t>(rank - from_last))) : 1;
  };
  if (!sizes.empty()) tile.n = std::max(1.0, sizes.back());
  if (sizes.size() > 1) tile.m = std::max(1.0, sizes[sizes.size() - 2]);
  tile.columns = dim(1), tile.rows = dim(2);
  return tile;
}

double TileBlocks(const ConfigJson& config, const Shape& result) {
  const ConfigJson& block = MemberOf(MemberOf(config, "fusion_backend_config"), "block_level_fusion_config");
  const ConfigJson& tiles = MemberOf(block, "output_tiles");
  if (!tiles.is_array() || tiles.empty() || !result.IsArray()) return 1;
  const std::vector<double> sizes = NumbersOf(MemberOf(tiles[0], "sizes"));
  double blocks = 1;
  for (size_t i = 0; i < sizes.size() && i < result.dims().size(); ++i)
    blocks *= std::ceil(static_cast<double>(result.dim(static_cast<int64_t>(i))) / std::max(1.0, sizes[i]));
  return blocks;
}

void DescribeTriton(const FusionRegion& region, const ConfigJson& config, KernelDescriptor& kernel) {
  const Shape& result = region.roots.front()->shape();
  kernel.tile = TileConfigOf(config, result);
  if (const Instruction* dot = FindOp(region.body, Opcode::kDot)) {
    kernel.product = GemmOf(*dot);
    if (kernel.product && kernel.tile) {
      const std::vector<double> k = NumbersOf(MemberOf(ConfigOf(*dot), "sizes"));
      if (!k.empty()) kernel.tile->k = std::max(1.0, k[0]);
      kernel.flops = kernel.product->flops();
      // A compiler without a device cannot autotune, so it writes the smallest tile even for a large GEMM. Assume that
      // such a GEMM is autotuned on the target machine.
      const bool untuned = kernel.tile->m * kernel.tile->n <= 128 && kernel.tile->stages <= 1 && kernel.flops > 1e9;
      kernel.family = untuned ? KernelKind::kGemm : KernelKind::kTritonGemm;
      return;
    }
  }
  kernel.blocks = TileBlocks(config, result);
  kernel.threads = 32 * (kernel.tile ? kernel.tile->warps : 4);
  const Instruction* reduce = FindOp(region.body, Opcode::kReduce);
  const bool transposes = std::any_of(region.body.begin(), region.body.end(), [](const Instruction* hlo) { return MovesLayout(*hlo); });
  if (reduce == nullptr || transposes || reduce->operands.empty()) {
    kernel.family = KernelKind::kTranspose;
    return;
  }
  const Shape& source = reduce->operand_shape(0);
  const bool rows = source.IsArray() && source.rank() > 0 && Has((*reduce)[kDimensions], MinorDimension(source));
  kernel.family = rows ? KernelKind::kTritonRow : KernelKind::kTritonColumn;
  kernel.row_length = source.IsArray() && source.rank() > 0 ? MinorRun(source, (*reduce)[kDimensions]) : 1;
  const double bytes = BitWidth(source.element_type()) / 8.0;
  if (!rows && kernel.tile && source.rank() > 0)
    kernel.contiguous = std::min(kernel.tile->n, static_cast<double>(source.dim(MinorDimension(source)))) * bytes;
  for (size_t i = 0; i < region.inputs.size(); ++i)
    kernel.full_inputs += region.inputs[i] != nullptr && ElementsOf(region.inputs[i]->shape()) >= .9 * kernel.source_elements;
  for (const Instruction* hlo : region.body)
    kernel.masked |= hlo->opcode == Opcode::kBroadcast && hlo->shape().element_type() == ElementType::kPred &&
                     ElementsOf(hlo->shape()) >= .9 * kernel.source_elements;
}

void DescribeSort(const Instruction& sort, KernelDescriptor& kernel) {
  kernel.family = KernelKind::kSort;
  const Shape& key = sort.operand_shape(0);
  kernel.key_bytes = BitWidth(key.element_type()) / 8.0;
  kernel.value_bytes = 0;
  for (size_t i = 1; i < sort.operand_count(); ++i)
    kernel.value_bytes += BitWidth(sort.operand_shape(i).element_type()) / 8.0;
  const Ints dims = sort[kDimensions];
  kernel.row_length = !dims.empty() && dims[0] >= 0 && dims[0] < key.rank() ? static_cast<double>(key.dim(dims[0])) : ElementsOf(key);
  kernel.rows = ElementsOf(key) / std::max(1.0, kernel.row_length);
}

void DescribeScatter(const Instruction& scatter, KernelDescriptor& kernel) {
  kernel.family = KernelKind::kScatter;
  const Shape& update = UpdateOf(scatter).shape();
  kernel.elements = ElementsOf(update);
  kernel.row_length = DataBytes(scatter.operand_shape(0));
  kernel.element_bytes = DataBytes(update) / std::max(1.0, kernel.elements);
  const Computation* combiner = scatter[kToApply];
  const bool adds = combiner != nullptr && combiner->root != nullptr && combiner->root->opcode != Opcode::kParameter;
  kernel.cas = adds && kernel.element_bytes < 4;
  kernel.fast_copy = !adds;
}

void DescribeLoop(const FusionRegion& region, bool is_input_fusion, KernelDescriptor& kernel) {
  kernel.family = KernelKind::kLoop;
  double parts = 1;
  for (const Instruction* hlo : region.body)
    if (hlo->opcode == Opcode::kConcatenate) parts = std::max(parts, static_cast<double>(hlo->operand_count()));
  const bool concatenates = !region.roots.empty() && region.roots[0]->opcode == Opcode::kConcatenate;
  if (concatenates || is_input_fusion) kernel.elements /= parts;
}

void DescribeRegion(const FusionRegion& region, const ConfigJson& config, FusionKind kind, KernelDescriptor& kernel) {
  if (region.roots.empty()) return;
  const bool triton = !MemberOf(MemberOf(config, "fusion_backend_config"), "block_level_fusion_config").empty();
  if (const Instruction* scatter = FindOp(region.body, Opcode::kScatter); scatter != nullptr && IsInPlaceUpdate(*scatter))
    return DescribeScatter(*scatter, kernel);
  if (const Instruction* sort = FindOp(region.body, Opcode::kSort); sort != nullptr && !sort->operands.empty())
    return DescribeSort(*sort, kernel);
  if (triton) return DescribeTriton(region, config, kernel);
  if (const Instruction* dot = FindOp(region.body, Opcode::kDot)) {
    kernel.product = GemmOf(*dot);
    if (kernel.product) {
      kernel.family = KernelKind::kGemm;
      kernel.flops = kernel.product->flops();
      return;
    }
  }
  if (const Instruction* convolution = FindOp(region.body, Opcode::kConvolution))
    if (const auto shape = ConvolutionOf(*convolution)) {
      kernel.family = KernelKind::kConvolution;
      kernel.convolution = shape;
      kernel.product = shape->gemm;
      kernel.flops = shape->gemm.flops();
      return;
    }
  const Instruction* reduce = FindOp(region.body, Opcode::kReduce);
  const bool transposes = std::any_of(region.body.begin(), region.body.end(), [](const Instruction* hlo) { return MovesLayout(*hlo); });
  if (kind != FusionKind::kLoop && reduce != nullptr && !reduce->operands.empty() && reduce->operand_shape(0).IsArray() &&
      reduce->operand_shape(0).rank() > 0)
    return DescribeNativeReduce(*reduce, kernel);
  if (kind != FusionKind::kLoop && transposes) {
    kernel.family = KernelKind::kTranspose;
    kernel.blocks = std::ceil(kernel.elements / (kernel.element_bytes <= 2 ? 4096 : 1024));
    return;
  }
  DescribeLoop(region, kind == FusionKind::kInput, kernel);
}

}  // namespace

std::string_view ToString(KernelKind kind) { return kKernelKindNames[static_cast<size_t>(kind)]; }

std::string_view ToString(MatrixUnit unit) {
  constexpr std::string_view kNames[] = {"f64", "f32", "tf32", "bf16", "f8", "f4", "s8"};
  return kNames[static_cast<size_t>(unit)];
}

KernelDescriptor DescribeKernel(const Instruction& hlo) {
  KernelDescriptor kernel;
  if (IsKernelFree(hlo)) return kernel;
  const ConfigJson config = ConfigOf(hlo);
  kernel.estimated_cycles = NumberOf(MemberOf(MemberOf(config, "window_config"), "estimated_cycles"), 0);
  if (kernel.estimated_cycles == 0) kernel.estimated_cycles = NumberOf(MemberOf(config, "estimated_cycles"), 0);
  if (hlo.opcode == Opcode::kCustomCall) {
    DescribeCall(hlo, config, kernel);
    return kernel;
  }
  if (hlo.opcode == Opcode::kFusion) {
    const Computation* fused = hlo[kCalls];
    if (fused == nullptr || fused->root == nullptr) return kernel;
    const FusionRegion region = MakeFusionRegion(*fused);
    MeasureTraffic(region, kernel);
    DescribeRegion(region, config, hlo[Op<Opcode::kFusion>::kKind], kernel);
    return kernel;
  }
  const Instruction* self[] = {&hlo};
  const FusionRegion region = MakeFusionRegion(self, self);
  MeasureTraffic(region, kernel);
  if (hlo.opcode == Opcode::kCopy && !MovesLayout(hlo)) {
    kernel.family = KernelKind::kCopy;
    return kernel;
  }
  DescribeRegion(region, config, FusionKind::kInput, kernel);
  return kernel;
}

KernelDescriptor DescribeKernel(const FusionRegion& region) {
  KernelDescriptor kernel;
  MeasureTraffic(region, kernel);
  DescribeRegion(region, ConfigJson::object(), FusionKind::kInput, kernel);
  return kernel;
}

}  // namespace shoal::internal
