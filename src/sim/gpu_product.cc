#include "sim/gpu_product.h"

#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "sim/price.h"

namespace shoal {
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

double Soft4(double a, double b) { return std::pow(std::pow(a, 4) + std::pow(b, 4), .25); }

// Half of a last wave's emptiness is lost: blocks of the one before end at different times.
double Waves(double v) { return std::max(1.0, .5 * std::ceil(v) + .5 * v); }

}  // namespace

double PeakOf(const DeviceModel& device, MatrixUnit unit) {
  const Peak& peak = device.peak;
  auto or_else = [](double value, double otherwise) { return value > 0 ? value : otherwise; };
  switch (unit) {
    case MatrixUnit::kF64: return or_else(peak.f64, peak.f32 / 2);
    case MatrixUnit::kF32: return peak.f32;
    case MatrixUnit::kTf32: return or_else(peak.tf32, device.kind == DeviceKind::kTpu ? peak.bf16 / 2 : peak.f32);
    case MatrixUnit::kBf16: return peak.bf16;
    case MatrixUnit::kF8: return or_else(peak.f8, peak.bf16);
    case MatrixUnit::kF4: return or_else(peak.f4, or_else(peak.f8, peak.bf16));
    case MatrixUnit::kS8: return or_else(peak.s8, peak.bf16);
  }
  return peak.bf16;
}

LibraryTiles ChooseTiles(const ProductShape& p, double memory_us, const DeviceModel& device, const KernelConstants& c) {
  const bool vector_units = p.unit == MatrixUnit::kF32 || p.unit == MatrixUnit::kF64;
  double rate = LibraryShare(p.unit, c) * PeakOf(device, p.unit) * 1e-6 / device.cores;
  if (p.unit == MatrixUnit::kTf32 && p.neither_k_minor) rate *= c.product_mn;
  LibraryTiles best;
  double least = INFINITY;
  for (const TileSize& tile : kTiles) {
    if (vector_units && tile.m * tile.n > 128 * 128) continue;
    const double count = p.batch * std::ceil(p.m / tile.m) * std::ceil(p.n / tile.n);
    const double each = 2 * tile.m * tile.n * p.k / rate * (1 + c.product_edge * (1 / tile.m + 1 / tile.n)) +
                        (p.unit == MatrixUnit::kTf32 ? c.product_wave_tf32 : c.product_wave) * std::sqrt(tile.m * tile.n / 16384);
    const double us = std::ceil(count / device.cores) * each;
    const double total = Soft4(us, memory_us);
    if (total >= least) continue;
    least = total;
    best = {us, count, StrCat(p.flops() / 1e9, " Gflop ", ToString(p.unit), " in ", count, " tiles of ", tile.m, "x", tile.n)};
  }
  return best;
}

TiledTime TimeOfTiles(const DeviceKernel& kernel, const DeviceModel& device, const KernelConstants& c) {
  const ProductShape& p = *kernel.product;
  const TileConfig& tile = *kernel.tile;
  const double count = p.batch * std::ceil(tile.rows / tile.m) * std::ceil(tile.columns / tile.n);
  double rate = TiledShare(p.unit, c) * PeakOf(device, p.unit) * 1e-6 / device.cores;
  if (tile.warps < 4 || std::max(tile.m, tile.n) < 64) rate *= c.triton_narrow;
  const double registers = std::min(255.0, 100 + tile.m * tile.n / (32 * tile.warps));
  const double shared = (tile.m + tile.n) * tile.k * p.operand_bytes * tile.stages;
  const double resident = std::clamp(
      std::min(std::floor(227e3 / std::max(1.0, shared)), std::floor(65536 / (registers * 32 * tile.warps))), 1.0, 16.0);
  const double rounds = std::ceil(p.k / tile.k);
  const double m = std::max(16.0, tile.m), n = std::max(16.0, tile.n);
  TiledTime time;
  time.compute = Waves(count / device.cores) * 2 * m * n * rounds * tile.k / rate * (1 + c.triton_edge * (1 / m + 1 / n));
  const double step = c.triton_step * std::sqrt(tile.k * p.operand_bytes / 128) / std::max(1.0, tile.stages - 1);
  const bool odd = std::fmod(p.k * p.operand_bytes, 16) != 0 || std::fmod(std::min(p.m, p.n) * p.operand_bytes, 16) != 0;
  time.latency = Waves(count / (device.cores * resident)) * (c.triton_life + (rounds - 1) * step) *
                 (odd ? c.triton_odd : 1) * (p.operand_bytes >= 4 ? c.triton_wide : 1);
  time.from = StrCat(p.flops() / 1e9, " Gflop ", ToString(p.unit), " in ", count, " tiles of ", tile.m, "x", tile.n, "x", tile.k);
  return time;
}

double ConvolutionTime(const DeviceKernel& kernel, const DeviceModel& device, const KernelConstants& c) {
  const ConvolutionShape& shape = *kernel.convolution;
  const ProductShape& p = shape.product;
  const double peak = PeakOf(device, p.unit) * 1e-6;
  const bool short_floats = p.unit == MatrixUnit::kBf16;
  if (std::fmod(shape.features, 8) != 0 && shape.features < 16) return p.flops() / (c.convolution_thin * peak);
  double factor = 1;
  if (shape.pass == ConvolutionShape::Pass::kFilter) factor = short_floats ? c.convolution_filter : c.convolution_filter_f32;
  if (shape.pass == ConvolutionShape::Pass::kInput) factor = shape.strided ? c.convolution_input_strided : c.convolution_input;
  // With one tap it is a product, and done by a product's kernel.
  if (shape.taps == 1 && short_floats) return ChooseTiles(p, 0, device, c).us * factor;
  const double rate = peak / device.cores * (short_floats ? c.convolution_bf16 : c.convolution_tf32);
  const double cache = c.convolution_cache * device.bandwidth * 1e-6;
  const double k = shape.taps * std::ceil(shape.features / 32) * 32;
  double least = INFINITY;
  for (const TileSize& tile : kTiles) {
    if (tile.n < 32) continue;
    const double tiles = p.batch * std::ceil(p.m / tile.m) * std::ceil(p.n / tile.n);
    const double each = 2 * tile.m * tile.n * k / rate;
    // Neighbouring cores with large tiles share what they load.
    const double shared = tile.m * tile.n >= 128 * 128 ? 2 : 1;
    const double loads = tiles * (tile.m + tile.n) * k * p.operand_bytes / shared / cache;
    least = std::min(least, Soft4(std::ceil(tiles / device.cores) * each, loads));
  }
  return least * factor;
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

}  // namespace shoal
