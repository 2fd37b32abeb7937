// Copies on the thread pool: CopyStrided in pieces of about what fits into a cache.
#pragma once

#include "core/base/thread_pool.h"
#include "kernels/arrays/strided.h"

namespace shoal::internal {

// As CopyStrided.
void ParallelCopy(Ints sizes, int element_bytes, std::byte* out, const Strided& to, const std::byte* in,
                  const Strided& from, ThreadPool& pool);

void ParallelMemcpy(std::byte* out, const std::byte* in, int64_t bytes, ThreadPool& pool);

// What an array holds, to be written: the array itself if it is the only one to hold its bytes, else a copy.
Array Owned(Array array, ThreadPool& pool);

}  // namespace shoal::internal
