#include "kernels/arrays/parallel_copy.h"

#include <algorithm>
#include <cstring>

namespace shoal::internal {
namespace {

constexpr int64_t kTaskBytes = int64_t{1} << 17;

}  // namespace

void ParallelMemcpy(std::byte* out, const std::byte* in, int64_t bytes, ThreadPool& pool) {
  ForBlocks(pool, bytes, kTaskBytes, [&](int64_t begin, int64_t end) {
    std::memcpy(out + begin, in + begin, static_cast<size_t>(end - begin));
  });
}

void ParallelCopy(Ints sizes, int element_bytes, std::byte* out, const Strided& to, const std::byte* in,
                  const Strided& from, ThreadPool& pool) {
  const int64_t bytes = ElementCount(sizes) * element_bytes;
  if (bytes <= 2 * kTaskBytes) return CopyStrided(sizes, element_bytes, out, to, in, from);
  auto loops = MergedLoops(sizes, AsInts(to.strides), AsInts(from.strides));
  // Splits the outermost loop. Merges it with the following loops while it has too few iterations for all tasks.
  const int64_t tasks = bytes / kTaskBytes;
  int64_t outer = loops[0].size;
  size_t split = 1;
  while (outer < tasks && split < loops.size() && outer * loops[split].size <= 4 * tasks) outer *= loops[split++].size;
  if (outer < tasks && split < loops.size()) outer *= loops[split++].size;
  Dims inner;
  Strided inner_to, inner_from;
  for (size_t d = split; d < loops.size(); ++d) {
    inner.push_back(loops[d].size);
    inner_to.strides.push_back(loops[d].out);
    inner_from.strides.push_back(loops[d].in);
  }
  // The last of the split loops is divided into chunks of consecutive iterations.
  const StridedLoop last = loops[split - 1];
  const int64_t rows = outer / last.size;
  const int64_t chunk = std::clamp<int64_t>(last.size * rows / tasks + 1, 1, last.size);
  const int64_t chunks = (last.size + chunk - 1) / chunk;
  inner.insert(inner.begin(), 0);
  inner_to.strides.insert(inner_to.strides.begin(), last.out);
  inner_from.strides.insert(inner_from.strides.begin(), last.in);
  pool.Run(rows * chunks, [&](int64_t task) {
    int64_t rest = task / chunks;
    const int64_t first = task % chunks * chunk;
    Strided task_to = inner_to, task_from = inner_from;
    task_to.offset = to.offset + first * last.out;
    task_from.offset = from.offset + first * last.in;
    for (size_t d = split - 1; d-- > 0;) {
      task_to.offset += rest % loops[d].size * loops[d].out;
      task_from.offset += rest % loops[d].size * loops[d].in;
      rest /= loops[d].size;
    }
    Dims task_sizes = inner;
    task_sizes[0] = std::min(chunk, last.size - first);
    CopyStrided(AsInts(task_sizes), element_bytes, out, task_to, in, task_from);
  });
}

Array MakeUnique(Array array, ThreadPool& pool) {
  if (array.unique()) return array;
  Array copy(array.type(), array.dims());
  ParallelMemcpy(copy.mutable_data(), array.data(), array.bytes(), pool);
  return copy;
}

}  // namespace shoal::internal
