#include "kernels/linalg/blas_memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

namespace shoal::internal {

void RequireBlasMemory() {
  // Slightly more than OpenBLAS takes per calling thread. Most of it is only address space.
  constexpr size_t kWorkBuffer = size_t{256} << 20;
  thread_local bool is_checked = false;
  if (is_checked) return;
  void* block = mmap(nullptr, kWorkBuffer, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (block == MAP_FAILED) throw std::bad_alloc();
  munmap(block, kWorkBuffer);
  is_checked = true;
}

}  // namespace shoal::internal

// Devices and tasks are threads that call OpenBLAS, so OpenBLAS must not start threads. It reads this variable in the
// program's constructors; this one runs before them because constructors with a priority come first.
__attribute__((constructor(101))) static void UseOneBlasThread() { setenv("OPENBLAS_NUM_THREADS", "1", 1); }
