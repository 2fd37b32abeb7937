// The constants of the kernel price formulas; kernel_constants.def says what each is.
#pragma once

#include <span>
#include <string_view>

namespace shoal::internal {

struct KernelConstants {
#define CONSTANT(name, start, spread, unit, what) double name = start;
#include "analyze/cost/kernel_constants.def"
#undef CONSTANT
};

struct KernelConstant {
  std::string_view name;
  double KernelConstants::* at;
  double start, spread;
  std::string_view unit, what;
};
std::span<const KernelConstant> AllKernelConstants();

}  // namespace shoal::internal
