// Copies on the thread pool, in tasks that each fit in a cache.
#pragma once

#include "core/base/thread_pool.h"
#include "kernels/arrays/strided.h"

namespace shoal::internal {

// CopyStrided on the pool.
void ParallelCopy(Ints sizes, int element_bytes, std::byte* out, const Strided& to, const std::byte* in,
                  const Strided& from, ThreadPool& pool);

void ParallelMemcpy(std::byte* out, const std::byte* in, int64_t bytes, ThreadPool& pool);

// An array for writing: the array itself if its buffer is not shared, else a copy.
Array MakeUnique(Array array, ThreadPool& pool);

}  // namespace shoal::internal
