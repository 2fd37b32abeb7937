// A check that OpenBLAS has memory for its work buffer.
#pragma once

namespace shoal::internal {

// Call before OpenBLAS, on the same thread. Throws std::bad_alloc if there is no memory for its work buffer; OpenBLAS
// itself would retry forever.
void RequireBlasMemory();

}  // namespace shoal::internal
