// Models the time of a GEMM on a GPU from its tiles and from the number of waves in which the tiles run.
#pragma once

#include <string>

#include "analyze/cost/kernel_descriptor.h"
#include "analyze/cost/machine.h"

namespace shoal::internal {

// The tiling of a library GEMM. The library is assumed to choose the fastest tile size for the shape.
struct LibraryTiles {
  double us = 0, with_memory = 0;  // microseconds of the tiles, without and with overlapping memory traffic
  double count = 1;                // number of tiles
  std::string from;
};
LibraryTiles ChooseTiles(const GemmShape& gemm, double memory_us, const DeviceModel& device,
                         const KernelConstants& constants);

// The time of a generated GEMM with the tile size from its config.
struct TiledTime {
  double total = 0, compute = 0;  // microseconds of all blocks, and microseconds of their multiplications
  std::string from;
};
TiledTime TiledGemmTime(const KernelDescriptor& kernel, const DeviceModel& device, const KernelConstants& constants);

double ConvolutionMicroseconds(const KernelDescriptor& kernel, const DeviceModel& device, const KernelConstants& constants);
// The fraction of peak flop/s that attention reaches with this head size.
double AttentionEfficiency(double head_size, bool backward, const KernelConstants& constants);

}  // namespace shoal::internal
