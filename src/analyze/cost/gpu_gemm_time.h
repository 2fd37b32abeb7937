// The time of GEMMs on the matrix units of a GPU, computed from tiles and waves of tiles.
#pragma once

#include <string>

#include "analyze/cost/kernel_descriptor.h"
#include "analyze/cost/machine.h"

namespace shoal::internal {

// The tiling of a library GEMM. The library is assumed to choose the fastest tile size for the shape.
struct LibraryTiles {
  double us = 0, with_memory = 0;  // microseconds of the tiles alone, and overlapped with memory traffic
  double count = 1;                // number of tiles
  std::string from;
};
LibraryTiles ChooseTiles(const GemmShape& gemm, double memory_us, const DeviceModel& device,
                         const KernelConstants& constants);

// The time of a generated GEMM with the tile of its config.
struct TiledTime {
  double total = 0, compute = 0;  // microseconds of the blocks, and the part spent on multiplication
  std::string from;
};
TiledTime TiledGemmTime(const KernelDescriptor& kernel, const DeviceModel& device, const KernelConstants& constants);

double ConvolutionMicroseconds(const KernelDescriptor& kernel, const DeviceModel& device, const KernelConstants& constants);
// The fraction of the peak that attention reaches with this head size.
double AttentionEfficiency(double head_size, bool backward, const KernelConstants& constants);

}  // namespace shoal::internal
