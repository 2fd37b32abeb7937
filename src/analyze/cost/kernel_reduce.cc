// Describes the reduction kernels of XLA's own emitter: the reduced dimensions and their split into blocks.
#include <algorithm>
#include <cmath>

#include "analyze/cost/kernel_parts.h"
#include "analyze/cost/kernel_traffic.h"
#include "core/ops/families.h"

namespace shoal::internal {

int64_t MinorDimension(const Shape& shape) {
  const Layout* layout = shape.layout();
  if (layout != nullptr && !layout->minor_to_major.empty()) return layout->minor_to_major[0];
  return shape.rank() - 1;
}

bool Has(Ints dims, int64_t d) { return std::find(dims.begin(), dims.end(), d) != dims.end(); }

double MinorRun(const Shape& shape, Ints reduced) {
  const Layout* layout = shape.layout();
  double run = 1;
  const bool is_reduced = Has(reduced, MinorDimension(shape));
  for (int i = 0; i < shape.rank(); ++i) {
    const int64_t d = layout != nullptr && static_cast<int>(layout->minor_to_major.size()) == shape.rank()
                          ? layout->minor_to_major[static_cast<size_t>(i)]
                          : shape.rank() - 1 - i;
    if (Has(reduced, d) != is_reduced) break;
    run *= static_cast<double>(shape.dim(d));
  }
  return run;
}

void DescribeNativeReduce(const Instruction& reduce, KernelDescriptor& kernel) {
  const Shape& source = reduce.operand_shape(0);
  const Ints reduced = reduce[kDimensions];
  const double elements = ElementsOf(source);
  const double run = std::max(1.0, MinorRun(source, reduced));
  // An XLA pass splits a long reduction into two kernels. If the module predates this pass, assume the same split.
  if (Has(reduced, MinorDimension(source))) {
    // XLA assigns 16 elements to each thread and at least 256 threads to each block.
    const double per_row = std::clamp(std::exp2(std::ceil(std::log2(std::max(1.0, run / 16)))), 32.0, 1024.0);
    kernel.family = KernelKind::kRowReduce;
    kernel.threads = std::max(256.0, per_row);
    const double parts = std::ceil(run / (16 * 1024));
    kernel.blocks = std::ceil(elements / run / std::max(1.0, 256 / per_row)) * parts;
    kernel.rounds = run / per_row / parts;
    kernel.row_length = run;
    return;
  }
  double length = 1;
  for (int64_t d : reduced)
    if (d >= 0 && d < source.rank()) length *= static_cast<double>(source.dim(d));
  kernel.family = KernelKind::kColumnReduce;
  kernel.threads = 1024;  // 32 rows of 32 pairs of columns
  const double parts = std::ceil(length / (128 * 32));
  kernel.blocks = std::ceil(elements / std::max(1.0, length * run)) * std::ceil(run / 64) * parts;
  kernel.rounds = length / 32 / parts;
  kernel.row_length = run;
}

}  // namespace shoal::internal
