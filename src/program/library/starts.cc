#include "program/library/starts.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "kernels/strided.h"

namespace shoal {
namespace {

// A dimension of the operand that goes with one of the indices' batch dimensions.
struct Batching {
  int64_t stride = 1, size = 1;    // of the batch dimension, in index vectors
  int64_t element = 0, most = 0;   // of the operand's
};

struct Walk {
  int64_t vector_size = 1;
  std::vector<int64_t> strides, most;  // for each entry of a vector
  std::vector<Batching> batching;
  bool clamps = false;
};

// What does not fit into 64 bits with a sign is as large as can be: an index no slice can start at stays one.
template <class T>
int64_t AsIndex(T value) {
  if constexpr (std::is_same_v<T, uint64_t>)
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(value);
}

template <class T>
void FindStarts(const Walk& walk, const T* vectors, int64_t begin, int64_t end, int64_t* starts) {
  const size_t entries = walk.strides.size();
  if (entries == 1 && walk.batching.empty() && walk.vector_size == 1) {
    const int64_t most = walk.most[0], stride = walk.strides[0], outside = walk.clamps ? 0 : -1;
    for (int64_t b = begin; b < end; ++b) {
      const int64_t index = AsIndex(vectors[b]), inside = std::clamp<int64_t>(index, 0, most);
      starts[b] = index != inside && outside < 0 ? outside : inside * stride;
    }
    return;
  }
  for (int64_t b = begin; b < end; ++b) {
    const T* vector = vectors + b * walk.vector_size;
    int64_t start = 0;
    bool outside = false;
    for (size_t i = 0; i < entries; ++i) {
      const int64_t index = AsIndex(vector[i]), inside = std::clamp<int64_t>(index, 0, walk.most[i]);
      outside |= index != inside;
      start += inside * walk.strides[i];
    }
    for (const Batching& dim : walk.batching) {
      const int64_t index = b / dim.stride % dim.size, inside = std::clamp<int64_t>(index, 0, dim.most);
      outside |= index != inside;
      start += inside * dim.element;
    }
    starts[b] = outside && !walk.clamps ? -1 : start;
  }
}

template <class T>
void FindAll(const Walk& walk, const Array& vectors, std::vector<int64_t>& starts, ThreadPool& pool) {
  const T* data = vectors.As<T>().data();
  ForBlocks(pool, static_cast<int64_t>(starts.size()), 1 << 13,
            [&](int64_t begin, int64_t end) { FindStarts<T>(walk, data, begin, end, starts.data()); });
}

}  // namespace

std::vector<int64_t> StartsOf(const Array& indices, const IndexVectorDims& dims, Ints operand, Ints most, bool clamps,
                              ThreadPool& pool) {
  const Dims batch = DimsWithout(indices.rank(), Ints(&dims.vector_dim, 1), {});
  const Dims element_strides = RowMajorStrides(operand);
  Walk walk;
  walk.clamps = clamps;
  Dims batch_sizes, order = batch;
  for (int64_t d : batch) batch_sizes.push_back(indices.dim(d));
  if (dims.vector_dim < indices.rank()) {
    walk.vector_size = indices.dim(dims.vector_dim);
    order.push_back(dims.vector_dim);
  }
  for (size_t i = 0; i < std::min(dims.map.size(), static_cast<size_t>(walk.vector_size)); ++i) {
    const auto d = static_cast<size_t>(dims.map[i]);
    walk.strides.push_back(element_strides[d]);
    walk.most.push_back(most[d]);
  }
  const Dims batch_strides = RowMajorStrides(AsInts(batch_sizes));
  for (size_t i = 0; i < dims.operand_batching.size(); ++i) {
    const auto d = static_cast<size_t>(dims.operand_batching[i]);
    const auto at = static_cast<size_t>(std::find(batch.begin(), batch.end(), dims.indices_batching[i]) - batch.begin());
    if (at < batch.size()) walk.batching.push_back({batch_strides[at], batch_sizes[at], element_strides[d], most[d]});
  }
  const Array vectors = std::is_sorted(order.begin(), order.end()) ? indices : Transposed(indices, AsInts(order));
  std::vector<int64_t> starts(static_cast<size_t>(ElementCount(AsInts(batch_sizes))));
  const bool is_signed = IsSigned(indices.type());
  switch (indices.element_bytes()) {
    case 1:
      is_signed ? FindAll<int8_t>(walk, vectors, starts, pool) : FindAll<uint8_t>(walk, vectors, starts, pool);
      break;
    case 2:
      is_signed ? FindAll<int16_t>(walk, vectors, starts, pool) : FindAll<uint16_t>(walk, vectors, starts, pool);
      break;
    case 4:
      is_signed ? FindAll<int32_t>(walk, vectors, starts, pool) : FindAll<uint32_t>(walk, vectors, starts, pool);
      break;
    default:
      is_signed ? FindAll<int64_t>(walk, vectors, starts, pool) : FindAll<uint64_t>(walk, vectors, starts, pool);
  }
  return starts;
}

Runs RunsOf(Ints sizes, Ints strides) {
  Runs runs;
  size_t outer = sizes.size();
  // Innermost dimensions that follow each other in memory are one run.
  while (outer > 0 && (sizes[outer - 1] == 1 || strides[outer - 1] == runs.length)) runs.length *= sizes[--outer];
  runs.offsets = BoxOffsets(sizes.first(outer), strides.first(outer));
  return runs;
}

}  // namespace shoal
