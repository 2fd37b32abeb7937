// Splits the rows and lanes of a kernel into tasks for several threads.
#include <algorithm>

#include "core/ir/sizes.h"
#include "transform/loops/kernel.h"

namespace shoal::internal {

void SplitIntoTasks(FusedKernel& kernel) {
  KernelSchedule& schedule = kernel.schedule;
  const int64_t rows = kernel.RowCount(), lanes = kernel.inner_loops.back();
  int64_t per_row = kernel.InnerIterations();
  if (schedule.part_size != 0) per_row = per_row / kernel.inner_loops[0] * schedule.part_size;
  const int64_t task = std::max(kTaskElements, rows * per_row / 64);
  schedule.lane_block = lanes;
  const bool can_split_lanes = !kernel.IsReduced(kernel.lane_loop()) && schedule.part_size == 0;
  if (can_split_lanes && per_row > task) {
    schedule.lane_block = std::max<int64_t>(64, RoundUp(task / (per_row / lanes), 64));
    schedule.lane_block = std::min(schedule.lane_block, lanes);
  }
  schedule.row_block = std::clamp<int64_t>(task / per_row, 1, std::max<int64_t>(rows, 1));
}

}  // namespace shoal::internal
