#include "analyze/cost/kernel_constants.h"

namespace shoal::internal {
namespace {

constexpr KernelConstant kConstants[] = {
#define CONSTANT(name, start, spread, unit, description) {#name, &KernelConstants::name, start, spread, unit, description},
#include "analyze/cost/kernel_constants.def"
#undef CONSTANT
};

}  // namespace

std::span<const KernelConstant> AllKernelConstants() { return kConstants; }

}  // namespace shoal::internal
