// Memory for OpenBLAS to work in.
#pragma once

namespace shoal::internal {

// To be called before OpenBLAS, on the same thread. Throws std::bad_alloc where there is no memory for its work buffer:
// OpenBLAS itself would try for ever.
void RequireBlasMemory();

}  // namespace shoal::internal
