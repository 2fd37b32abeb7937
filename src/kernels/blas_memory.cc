#include "kernels/blas_memory.h"

#include <sys/mman.h>

#include <mutex>
#include <new>

namespace shoal {

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

}  // namespace shoal

// The serial OpenBLAS looks for a free work buffer outside its own lock, so that two threads may get the same one and
// multiply with each other's data. The linker sends its calls here (--wrap in CMakeLists.txt), where one waits.
// NOLINTBEGIN(bugprone-reserved-identifier): the linker's names.
extern "C" void* __real_blas_memory_alloc(int position);
extern "C" void* __wrap_blas_memory_alloc(int position);

extern "C" void* __wrap_blas_memory_alloc(int position) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  return __real_blas_memory_alloc(position);
}
// NOLINTEND(bugprone-reserved-identifier)
