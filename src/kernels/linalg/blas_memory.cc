#include "kernels/linalg/blas_memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

namespace shoal::internal {

void RequireBlasMemory() {
  // What OpenBLAS takes for a caller, and some more; of most of it only addresses.
  constexpr size_t kWorkBuffer = size_t{256} << 20;
  thread_local bool has_room = false;
  if (has_room) return;
  void* room = mmap(nullptr, kWorkBuffer, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) throw std::bad_alloc();
  munmap(room, kWorkBuffer);
  has_room = true;
}

}  // namespace shoal::internal

// Devices and tasks are threads, each with products of its own: OpenBLAS must start none. It reads this when the
// program's constructors run, before which this one does (those with a number come first).
__attribute__((constructor(101))) static void UseOneBlasThread() { setenv("OPENBLAS_NUM_THREADS", "1", 1); }
