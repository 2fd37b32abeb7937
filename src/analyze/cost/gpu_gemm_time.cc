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
// Tiles of the libraries' kernels.
constexpr TileSize kTiles[] = {{64, 16},   {64, 32},   {64, 64},   {64, 128},  {128, 32},  {128, 64},  {64, 192},
                               {192, 64},  {64, 256},  {256, 64},  {96, 128},  {128, 96},  {128, 128}, {128, 160},
                               {160, 128}, {128, 176}, {176, 128}, {128, 192}, {192, 128}, {96, 256},  {256, 96},
                               {128, 256}, {256, 128}};

double LibraryShare(MatrixUnit unit, const KernelConstants& c) {
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

double TiledShare(MatrixUnit unit, const KernelConstants& c) {
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

// Tiles of its convolutions.
constexpr TileSize kConvolutionTiles[] = {{64, 64}, {128, 64}, {64, 128}, {128, 128}, {256, 64}, {128, 256}, {256, 128}};

// What overlaps: the longer of the two, and the less of the other the higher the power.
double Joined(double a, double b, double power) { return std::pow(std::pow(a, power) + std::pow(b, power), 1 / power); }

// Half of a last wave's emptiness is lost: blocks of the one before end at different times.
double Waves(double v) { return std::max(1.0, .5 * std::ceil(v) + .5 * v); }

}  // namespace

double PeakOf(const DeviceModel& device, MatrixUnit unit) {
  const Peak& peak = device.peak;
  auto or_else = [](double value, double otherwise) { return value > 0 ? value : otherwise; };
  switch (unit) {
    case MatrixUnit::kF64: return or_else(peak.f64, peak.f32 / 2);
    case MatrixUnit::kF32: return peak.f32;
    // A TPU rounds f32 operands to bf16 unless more precision is asked for.
    case MatrixUnit::kTf32: return or_else(peak.tf32, device.kind == DeviceKind::kTpu ? peak.bf16 : peak.f32);
    case MatrixUnit::kBf16: return peak.bf16;
    case MatrixUnit::kF8: return or_else(peak.f8, peak.bf16);
    case MatrixUnit::kF4: return or_else(peak.f4, or_else(peak.f8, peak.bf16));
    case MatrixUnit::kS8: return or_else(peak.s8, peak.bf16);
  }
  return peak.bf16;
}

LibraryTiles ChooseTiles(const GemmShape& p, double memory_us, const DeviceModel& device, const KernelConstants& c) {
  const bool vector_units = p.unit == MatrixUnit::kF32 || p.unit == MatrixUnit::kF64;
  double rate = LibraryShare(p.unit, c) * PeakOf(device, p.unit) * 1e-6 / device.cores;
  if (p.unit == MatrixUnit::kTf32 && p.neither_k_minor) rate *= c.product_mn;
  LibraryTiles best;
  const TileSize* chosen = nullptr;
  double least = INFINITY;
  for (const TileSize& tile : kTiles) {
    if (vector_units && tile.m * tile.n > 128 * 128) continue;
    const double count = p.batch * std::ceil(p.m / tile.m) * std::ceil(p.n / tile.n);
    const double waves = std::ceil(count / device.cores);
    const double each = 2 * tile.m * tile.n * p.k / rate * (1 + c.product_edge * (1 / tile.m + 1 / tile.n));
    // Blocks stay for the next tile: its loads begin while the last one is written.
    const double begin = (p.unit == MatrixUnit::kTf32 ? c.product_wave_tf32 : c.product_wave) * std::sqrt(tile.m * tile.n / 16384);
    const double us = waves * each + begin * (1 + c.product_again * (waves - 1));
    const double total = Joined(us, memory_us, c.product_power);
    if (total >= least) continue;
    least = total;
    best = {us, total, count, {}};
    chosen = &tile;
  }
  if (chosen != nullptr)
    best.from = StrCat(FormatSi(p.flops()), "flop ", ToString(p.unit), " in ", best.count, " tiles of ", chosen->m, "x", chosen->n);
  return best;
}

// Blocks share a core; each goes through its part of k round by round, loading ahead as far as it has stages. A round takes
// as long as its products, its loads from L2 or the latency of a load.
TiledTime TimeOfTiles(const KernelDescriptor& kernel, const DeviceModel& device, const KernelConstants& c) {
  const GemmShape& p = *kernel.product;
  const TileConfig& tile = *kernel.tile;
  const double count = p.batch * std::ceil(tile.rows / tile.m) * std::ceil(tile.columns / tile.n);
  double rate = TiledShare(p.unit, c) * PeakOf(device, p.unit) * 1e-6 / device.cores;
  if (tile.warps < 4 || std::max(tile.m, tile.n) < 64) rate *= c.triton_narrow;
  const double registers = std::min(255.0, 100 + tile.m * tile.n / (32 * tile.warps));
  const double loaded = (tile.m + tile.n) * tile.k * p.operand_bytes;
  const double resident = std::clamp(std::min(std::floor(227e3 / std::max(1.0, loaded * tile.stages)),
                                              std::floor(65536 / (registers * 32 * tile.warps))), 1.0, 16.0);
  const double sharing = std::min(resident, std::ceil(count / device.cores));
  const double rounds = std::ceil(p.k / tile.k);
  const double m = std::max(16.0, tile.m), n = std::max(16.0, tile.n);
  // Of four bytes and the summed dimension minor in neither: transposed on the way.
  const double turned = p.neither_k_minor && p.operand_bytes >= 4 ? c.triton_mn : 1;
  const bool odd = std::fmod(p.k * p.operand_bytes, 16) != 0 || std::fmod(std::min(p.m, p.n) * p.operand_bytes, 16) != 0;
  const bool ragged = p.k > tile.k && std::fmod(p.k, tile.k) != 0;
  const double products = 2 * m * n * std::min(tile.k, std::max(16.0, p.k)) / rate * sharing * (1 + c.triton_edge * (1 / m + 1 / n)) * turned;
  const double loads = loaded / (c.triton_cache * device.bandwidth * 1e-6 / device.cores) * sharing;
  const double latency = c.triton_step * std::pow(loaded / 16384, c.triton_longer) * (ragged ? c.triton_ragged : 1) *
                         (odd ? c.triton_odd : 1) * turned;
  const bool ahead = tile.stages > 1;
  const double power = ahead ? c.triton_overlap : c.triton_alone;
  const double round = Joined(Joined(products, loads, power), latency / std::max(1.0, tile.stages - 1), power);
  const double waves = Waves(count / (device.cores * resident));
  TiledTime time;
  time.compute = waves * rounds * products;
  time.total = waves * (c.triton_life + latency * c.triton_first + (rounds - 1) * round + products + c.triton_write * m * n / 16384);
  time.from = StrCat(FormatSi(p.flops()), "flop ", ToString(p.unit), " in ", count, " tiles of ", tile.m, "x", tile.n, "x", tile.k,
                     ", ", sharing, " to a core");
  return time;
}

// The product that each pass of a convolution is done by.
GemmShape PassGemm(const ConvolutionShape& shape, bool short_floats, const KernelConstants& c) {
  GemmShape p = shape.product;
  const double stride = shape.strided ? 4 : 1;  // places of the input for each of the output
  // Channels are loaded in blocks; fewer fill only a part of one.
  const double block = short_floats ? c.convolution_block : c.convolution_block_tf32;
  auto padded = [&](double channels) { return channels < block ? channels + (block - channels) * c.convolution_padding : channels; };
  const double outputs = shape.product.n;
  switch (shape.pass) {
    case ConvolutionShape::Pass::kForward: p.k = shape.taps * padded(shape.features); break;
    case ConvolutionShape::Pass::kInput:
      p.m = shape.product.m * stride, p.n = shape.features, p.k = shape.taps * padded(outputs) / stride;
      break;
    case ConvolutionShape::Pass::kFilter:
      p.m = outputs, p.n = shape.taps * padded(shape.features), p.k = shape.product.m;
      break;
  }
  return p;
}

double ConvolutionTime(const KernelDescriptor& kernel, const DeviceModel& device, const KernelConstants& c) {
  const ConvolutionShape& shape = *kernel.convolution;
  const double peak = PeakOf(device, shape.product.unit) * 1e-6;
  const bool short_floats = shape.product.unit == MatrixUnit::kBf16;
  if (std::fmod(shape.features, 8) != 0 && shape.features < 16) return shape.product.flops() / (c.convolution_thin * peak);
  const bool filter = shape.pass == ConvolutionShape::Pass::kFilter;
  // With one tap it is a product, and done by a product's kernel.
  const bool is_product = shape.taps == 1 && short_floats;
  double factor = 1;
  if (filter && !is_product) factor = short_floats ? c.convolution_filter : c.convolution_filter_f32;
  if (shape.pass == ConvolutionShape::Pass::kInput) factor = c.convolution_input * (shape.strided ? c.convolution_input_strided : 1);
  const GemmShape p = PassGemm(shape, short_floats, c);
  const double rate = peak / device.cores * (short_floats ? c.convolution_bf16 : c.convolution_tf32);
  double least = INFINITY;
  for (const TileSize& tile : kConvolutionTiles) {
    const double tiles = p.batch * std::ceil(p.m / tile.m) * std::ceil(p.n / tile.n);
    // Few tiles with long sums are cut along what is summed; another kernel adds the parts.
    const double parts = filter ? std::clamp(std::floor(device.cores / tiles), 1.0, std::max(1.0, p.k / 512)) : 1;
    const double each = 2 * tile.m * tile.n * p.k / parts / rate * (1 + c.convolution_edge * (1 / tile.m + 1 / tile.n)) + c.convolution_wave;
    least = std::min(least, std::ceil(tiles * parts / device.cores) * each + (parts > 1 ? c.convolution_sum : 0));
  }
  if (is_product && !filter) least = ChooseTiles(p, 0, device, c).us - c.convolution_start + c.product_start;
  return std::max(0.0, least) * factor;
}

double AttentionRate(double head, bool backward, const KernelConstants& c) {
  const double at64 = backward ? c.attention_back_64 : c.attention_64;
  const double at128 = backward ? c.attention_back_128 : c.attention_128;
  const double at256 = backward ? c.attention_back_256 : c.attention_256;
  // Between the sizes along the logarithm.
  const double x = std::clamp(std::log2(std::max(1.0, head) / 64), -1.0, 2.0);
  if (x <= 0) return at64 * std::exp2(x);
  return x <= 1 ? at64 + (at128 - at64) * x : at128 + (at256 - at128) * (x - 1);
}

}  // namespace shoal::internal
