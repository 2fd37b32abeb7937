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
  // The outermost loop is cut; one that has too few rounds to be shared out is taken together with the next.
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
  // The last of the cut loops keeps whole stretches together.
  const StridedLoop last = loops[split - 1];
  const int64_t rows = outer / last.size;
  const int64_t stretch = std::clamp<int64_t>(last.size * rows / tasks + 1, 1, last.size);
  const int64_t stretches = (last.size + stretch - 1) / stretch;
  inner.insert(inner.begin(), 0);
  inner_to.strides.insert(inner_to.strides.begin(), last.out);
  inner_from.strides.insert(inner_from.strides.begin(), last.in);
  pool.Run(rows * stretches, [&](int64_t task) {
    int64_t rest = task / stretches;
    const int64_t first = task % stretches * stretch;
    Strided mine_to = inner_to, mine_from = inner_from;
    mine_to.offset = to.offset + first * last.out;
    mine_from.offset = from.offset + first * last.in;
    for (size_t d = split - 1; d-- > 0;) {
      mine_to.offset += rest % loops[d].size * loops[d].out;
      mine_from.offset += rest % loops[d].size * loops[d].in;
      rest /= loops[d].size;
    }
    Dims mine = inner;
    mine[0] = std::min(stretch, last.size - first);
    CopyStrided(AsInts(mine), element_bytes, out, mine_to, in, mine_from);
  });
}

Array Owned(Array array, ThreadPool& pool) {
  if (array.unique()) return array;
  Array copy(array.type(), array.dims());
  ParallelMemcpy(copy.mutable_data(), array.data(), array.bytes(), pool);
  return copy;
}

}  // namespace shoal::internal
