// The constants of the kernel time formulas. kernel_constants.def describes each constant.
#pragma once

#include <span>
#include <string_view>

namespace shoal::internal {

struct KernelConstants {
#define CONSTANT(name, start, spread, unit, description) double name = start;
#include "analyze/cost/kernel_constants.def"
#undef CONSTANT
};

struct KernelConstant {
  std::string_view name;
  double KernelConstants::* at;
  double start, spread;
  std::string_view unit, description;
};
std::span<const KernelConstant> AllKernelConstants();

}  // namespace shoal::internal
