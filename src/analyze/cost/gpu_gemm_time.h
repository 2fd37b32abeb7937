// How long the matrix units of a GPU take for products, by tiles and waves of tiles.
#pragma once

#include <string>

#include "analyze/cost/kernel_descriptor.h"
#include "analyze/cost/machine.h"

namespace shoal::internal {

// Of a library, which chooses its tiles itself: the best for the shape.
struct LibraryTiles {
  double us = 0, with_memory = 0;  // microseconds of the tiles, and with what is loaded meanwhile
  double count = 1;
  std::string from;
};
LibraryTiles ChooseTiles(const GemmShape& product, double memory_us, const DeviceModel& device,
                         const KernelConstants& constants);

// Of a generated product with the tiles its config names.
struct TiledTime {
  double total = 0, compute = 0;  // microseconds of the blocks; of that, products
  std::string from;
};
TiledTime TimeOfTiles(const KernelDescriptor& kernel, const DeviceModel& device, const KernelConstants& constants);

double ConvolutionTime(const KernelDescriptor& kernel, const DeviceModel& device, const KernelConstants& constants);
// Part of the peak that attention reaches with heads of this size.
double AttentionRate(double head, bool backward, const KernelConstants& constants);

}  // namespace shoal::internal
