// The serial OpenBLAS looks for a free work buffer outside its own lock, so that two threads may get the same one and
// multiply with each other's data. The linker sends its calls here (--wrap in CMakeLists.txt), where one waits.
#include <mutex>

// NOLINTBEGIN(bugprone-reserved-identifier): the linker's names.
extern "C" void* __real_blas_memory_alloc(int position);
extern "C" void* __wrap_blas_memory_alloc(int position);

extern "C" void* __wrap_blas_memory_alloc(int position) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  return __real_blas_memory_alloc(position);
}
// NOLINTEND(bugprone-reserved-identifier)
