#include "analyze/cost/gpu_gemm_time.h"

#include <algorithm>
#include <cmath>

#include "analyze/cost/kernel_time.h"
#include "core/base/strings.h"
#include "core/base/units.h"

namespace shoal::internal {
namespace {

struct TileSize {
  double m, n;
};
// Tile sizes of the library GEMM kernels.
constexpr TileSize kTiles[] = {{64, 16},   {64, 32},   {64, 64},   {64, 128},  {128, 32},  {128, 64},  {64, 192},
                               {192, 64},  {64, 256},  {256, 64},  {96, 128},  {128, 96},  {128, 128}, {128, 160},
                               {160, 128}, {128, 176}, {176, 128}, {128, 192}, {192, 128}, {96, 256},  {256, 96},
                               {128, 256}, {256, 128}};

double LibraryEfficiency(MatrixUnit unit, const KernelConstants& c) {
  switch (unit) {
    case MatrixUnit::kTf32: return c.product_tf32;
    case MatrixUnit::kF32:
    case MatrixUnit::kF64: return c.product_f32;
    case MatrixUnit::kF8:
    case MatrixUnit::kF4:
    case MatrixUnit::kS8: return c.product_f8;
    case MatrixUnit::kBf16: return c.product_bf16;
  }
  return c.product_bf16;
}

double TiledEfficiency(MatrixUnit unit, const KernelConstants& c) {
  switch (unit) {
    case MatrixUnit::kTf32: return c.triton_tf32;
    case MatrixUnit::kF32:
    case MatrixUnit::kF64: return c.triton_f32;
    case MatrixUnit::kF8:
    case MatrixUnit::kF4:
    case MatrixUnit::kS8: return c.triton_f8;
    case MatrixUnit::kBf16: return c.triton_bf16;
  }
  return c.triton_bf16;
}

// Tile sizes of the library convolution kernels.
constexpr TileSize kConvolutionTiles[] = {{64, 64}, {128, 64}, {64, 128}, {128, 128}, {256, 64}, {128, 256}, {256, 128}};

// Combines the times of two overlapping activities. The result approaches the maximum as `power` grows.
double PNorm(double a, double b, double power) { return std::pow(std::pow(a, power) + std::pow(b, power), 1 / power); }

// Counts only half of the last wave's idle slots as lost, because blocks of the previous wave end at different times.
double EffectiveWaves(double v) { return std::max(1.0, .5 * std::ceil(v) + .5 * v); }

}  // namespace

double PeakOf(const DeviceModel& device, MatrixUnit unit) {
  const Peak& peak = device.peak;
  auto or_fallback = [](double value, double fallback) { return value > 0 ? value : fallback; };
  switch (unit) {
    case MatrixUnit::kF64: return or_fallback(peak.f64, peak.f32 / 2);
    case MatrixUnit::kF32: return peak.f32;
    // A TPU rounds f32 operands to bf16 unless the module requests more precision.
    case MatrixUnit::kTf32: return or_fallback(peak.tf32, device.kind == DeviceKind::kTpu ? peak.bf16 : peak.f32);
    case MatrixUnit::kBf16: return peak.bf16;
    case MatrixUnit::kF8: return or_fallback(peak.f8, peak.bf16);
    case MatrixUnit::kF4: return or_fallback(peak.f4, or_fallback(peak.f8, peak.bf16));
    case MatrixUnit::kS8: return or_fallback(peak.s8, peak.bf16);
  }
  return peak.bf16;
}

LibraryTiles ChooseTiles(const GemmShape& p, double memory_us, const DeviceModel& device, const KernelConstants& c) {
  const bool vector_units = p.unit == MatrixUnit::kF32 || p.unit == MatrixUnit::kF64;
  double rate = LibraryEfficiency(p.unit, c) * PeakOf(device, p.unit) * 1e-6 / device.cores;
  if (p.unit == MatrixUnit::kTf32 && p.neither_k_minor) rate *= c.product_mn;
  LibraryTiles best;
  const TileSize* chosen = nullptr;
  double min_total = INFINITY;
  for (const TileSize& tile : kTiles) {
    if (vector_units && tile.m * tile.n > 128 * 128) continue;
    const double count = p.batch * std::ceil(p.m / tile.m) * std::ceil(p.n / tile.n);
    const double waves = std::ceil(count / device.cores);
    const double tile_us = 2 * tile.m * tile.n * p.k / rate * (1 + c.product_edge * (1 / tile.m + 1 / tile.n));
    // Blocks are persistent: a block loads its next tile while it stores the current one.
    const double tile_overhead = (p.unit == MatrixUnit::kTf32 ? c.product_wave_tf32 : c.product_wave) * std::sqrt(tile.m * tile.n / 16384);
    const double us = waves * tile_us + tile_overhead * (1 + c.product_again * (waves - 1));
    const double total = PNorm(us, memory_us, c.product_power);
    if (total >= min_total) continue;
    min_total = total;
    best = {us, total, count, {}};
    chosen = &tile;
  }
  if (chosen != nullptr)
    best.from = StrCat(FormatSi(p.flops()), "flop ", ToString(p.unit), " in ", best.count, " tiles of ", chosen->m, "x", chosen->n);
  return best;
}

// Several blocks share a core. Each block iterates over k and prefetches the operands of one iteration per stage. The
// time of an iteration is limited by multiplication, by loads from L2 or by the latency of a load.
TiledTime TiledGemmTime(const KernelDescriptor& kernel, const DeviceModel& device, const KernelConstants& c) {
  const GemmShape& p = *kernel.product;
  const TileConfig& tile = *kernel.tile;
  const double count = p.batch * std::ceil(tile.rows / tile.m) * std::ceil(tile.columns / tile.n);
  double rate = TiledEfficiency(p.unit, c) * PeakOf(device, p.unit) * 1e-6 / device.cores;
  if (tile.warps < 4 || std::max(tile.m, tile.n) < 64) rate *= c.triton_narrow;
  const double registers = std::min(255.0, 100 + tile.m * tile.n / (32 * tile.warps));
  const double loaded = (tile.m + tile.n) * tile.k * p.operand_bytes;
  const double resident = std::clamp(std::min(std::floor(227e3 / std::max(1.0, loaded * tile.stages)),
                                              std::floor(65536 / (registers * 32 * tile.warps))), 1.0, 16.0);
  const double blocks_per_core = std::min(resident, std::ceil(count / device.cores));
  const double iterations = std::ceil(p.k / tile.k);
  const double m = std::max(16.0, tile.m), n = std::max(16.0, tile.n);
  // Four-byte operands are transposed while they are loaded if k is not the minor dimension of either operand.
  const double transpose_factor = p.neither_k_minor && p.operand_bytes >= 4 ? c.triton_mn : 1;
  const bool is_unaligned = std::fmod(p.k * p.operand_bytes, 16) != 0 || std::fmod(std::min(p.m, p.n) * p.operand_bytes, 16) != 0;
  const bool is_ragged = p.k > tile.k && std::fmod(p.k, tile.k) != 0;
  const double math_us = 2 * m * n * std::min(tile.k, std::max(16.0, p.k)) / rate * blocks_per_core * (1 + c.triton_edge * (1 / m + 1 / n)) * transpose_factor;
  const double load_us = loaded / (c.triton_cache * device.bandwidth * 1e-6 / device.cores) * blocks_per_core;
  const double latency = c.triton_step * std::pow(loaded / 16384, c.triton_longer) * (is_ragged ? c.triton_ragged : 1) *
                         (is_unaligned ? c.triton_odd : 1) * transpose_factor;
  const bool is_pipelined = tile.stages > 1;
  const double power = is_pipelined ? c.triton_overlap : c.triton_alone;
  const double iteration_us = PNorm(PNorm(math_us, load_us, power), latency / std::max(1.0, tile.stages - 1), power);
  const double waves = EffectiveWaves(count / (device.cores * resident));
  TiledTime time;
  time.compute = waves * iterations * math_us;
  time.total = waves * (c.triton_life + latency * c.triton_first + (iterations - 1) * iteration_us + math_us + c.triton_write * m * n / 16384);
  time.from = StrCat(FormatSi(p.flops()), "flop ", ToString(p.unit), " in ", count, " tiles of ", tile.m, "x", tile.n,
                     "x", tile.k, ", ", blocks_per_core, " per core");
  return time;
}

// Returns the GEMM that performs one pass of a convolution.
GemmShape PassGemm(const ConvolutionShape& shape, bool short_floats, const KernelConstants& c) {
  GemmShape p = shape.gemm;
  const double stride = shape.strided ? 4 : 1;  // input positions per output position
  // Channels are loaded in blocks. If there are fewer channels than a block holds, the rest of the block is padding.
  const double block = short_floats ? c.convolution_block : c.convolution_block_tf32;
  auto padded = [&](double channels) { return channels < block ? channels + (block - channels) * c.convolution_padding : channels; };
  const double outputs = shape.gemm.n;
  switch (shape.pass) {
    case ConvolutionShape::Pass::kForward: p.k = shape.taps * padded(shape.features); break;
    case ConvolutionShape::Pass::kInput:
      p.m = shape.gemm.m * stride, p.n = shape.features, p.k = shape.taps * padded(outputs) / stride;
      break;
    case ConvolutionShape::Pass::kFilter:
      p.m = outputs, p.n = shape.taps * padded(shape.features), p.k = shape.gemm.m;
      break;
  }
  return p;
}

double ConvolutionMicroseconds(const KernelDescriptor& kernel, const DeviceModel& device, const KernelConstants& c) {
  const ConvolutionShape& shape = *kernel.convolution;
  const double peak = PeakOf(device, shape.gemm.unit) * 1e-6;
  const bool short_floats = shape.gemm.unit == MatrixUnit::kBf16;
  if (std::fmod(shape.features, 8) != 0 && shape.features < 16) return shape.gemm.flops() / (c.convolution_thin * peak);
  const bool filter = shape.pass == ConvolutionShape::Pass::kFilter;
  // A convolution with one tap runs as a GEMM kernel.
  const bool is_gemm = shape.taps == 1 && short_floats;
  double factor = 1;
  if (filter && !is_gemm) factor = short_floats ? c.convolution_filter : c.convolution_filter_f32;
  if (shape.pass == ConvolutionShape::Pass::kInput) factor = c.convolution_input * (shape.strided ? c.convolution_input_strided : 1);
  const GemmShape p = PassGemm(shape, short_floats, c);
  const double rate = peak / device.cores * (short_floats ? c.convolution_bf16 : c.convolution_tf32);
  double min_us = INFINITY;
  for (const TileSize& tile : kConvolutionTiles) {
    const double tiles = p.batch * std::ceil(p.m / tile.m) * std::ceil(p.n / tile.n);
    // If there are few tiles with long sums, k is split into parts. A second kernel adds the partial sums.
    const double parts = filter ? std::clamp(std::floor(device.cores / tiles), 1.0, std::max(1.0, p.k / 512)) : 1;
    const double tile_us = 2 * tile.m * tile.n * p.k / parts / rate * (1 + c.convolution_edge * (1 / tile.m + 1 / tile.n)) + c.convolution_wave;
    min_us = std::min(min_us, std::ceil(tiles * parts / device.cores) * tile_us + (parts > 1 ? c.convolution_sum : 0));
  }
  if (is_gemm && !filter) min_us = ChooseTiles(p, 0, device, c).us - c.convolution_start + c.product_start;
  return std::max(0.0, min_us) * factor;
}

double AttentionEfficiency(double head_size, bool backward, const KernelConstants& c) {
  const double at64 = backward ? c.attention_back_64 : c.attention_64;
  const double at128 = backward ? c.attention_back_128 : c.attention_128;
  const double at256 = backward ? c.attention_back_256 : c.attention_256;
  // Interpolate linearly in the logarithm of the head size.
  const double x = std::clamp(std::log2(std::max(1.0, head_size) / 64), -1.0, 2.0);
  if (x <= 0) return at64 * std::exp2(x);
  return x <= 1 ? at64 + (at128 - at64) * x : at128 + (at256 - at128) * (x - 1);
}

}  // namespace shoal::internal
