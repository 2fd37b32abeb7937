#include "kernels/linalg/blas_memory.h"

#include <sys/mman.h>

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

// These replace OpenBLAS's own functions, which read the environment. Devices and tasks are threads that call OpenBLAS, so
// OpenBLAS must not start threads; and shoal must not change the environment of the process, which may use another
// OpenBLAS as well.
extern "C" {
int openblas_num_threads_env() { return 1; }
int openblas_goto_num_threads_env() { return 0; }
int openblas_omp_num_threads_env() { return 0; }
int openblas_omp_adaptive_env() { return 0; }
int openblas_block_factor() { return 0; }
unsigned int openblas_thread_timeout() { return 0; }
int openblas_verbose() { return 0; }
void openblas_read_env() {}
}
