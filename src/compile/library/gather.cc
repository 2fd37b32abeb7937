// Implements gather. If the last dimension of the result is a slice dimension, copies contiguous runs of the slices. If
// it is a batch dimension, copies element by element in the order of the result.
#include <algorithm>
#include <vector>
#include <cstring>

#include "compile/library/rows.h"
#include "compile/library/starts.h"
#include "core/ops/gather_scatter.h"
#include "kernels/arrays/index_vectors.h"
#include "kernels/arrays/strided.h"

namespace shoal::internal {
namespace {

constexpr int64_t kTaskBytes = int64_t{1} << 16;

// The slice sizes and the strides in operand (`from`) and result (`to`).
struct Slices {
  Dims sizes, from, to;         // for the kept slice dimensions, in the order of the result
  Dims batch_sizes, batch_to;   // for the batch dimensions of the result
  Dims max_starts;                    // the largest start in each dimension of the operand
};

Slices SlicesOf(const Instruction& hlo, Ints operand, Ints result) {
  const Ints sizes = hlo[GatherOp::kSliceSizes], offset_dims = hlo[GatherOp::kOffsetDims];
  const Dims strides = RowMajorStrides(operand), result_strides = RowMajorStrides(result);
  const auto rank = static_cast<int>(operand.size());
  const Dims kept = DimsWithout(rank, hlo[GatherOp::kCollapsedSliceDims], hlo[GatherOp::kOperandBatchingDims]);
  Slices slices;
  for (size_t d = 0; d < operand.size(); ++d) slices.max_starts.push_back(operand[d] - sizes[d]);
  for (size_t i = 0; i < kept.size(); ++i) {
    const auto d = static_cast<size_t>(kept[i]);
    slices.sizes.push_back(sizes[d]);
    slices.from.push_back(strides[d]);
    slices.to.push_back(result_strides[static_cast<size_t>(offset_dims[i])]);
  }
  for (int64_t d : DimsWithout(static_cast<int>(result.size()), offset_dims, {})) {
    slices.batch_sizes.push_back(result[static_cast<size_t>(d)]);
    slices.batch_to.push_back(result_strides[static_cast<size_t>(d)]);
  }
  return slices;
}

// Offset in the result of each batch index, in row-major order. `at` is empty if the offsets are 0, step, 2 * step, ….
struct BatchOffsets {
  int64_t step = 1;
  std::vector<int64_t> at;

  explicit BatchOffsets(const Slices& slices) {
    const auto loops = MergedLoops(AsInts(slices.batch_sizes), AsInts(slices.batch_to), AsInts(slices.batch_to));
    step = loops[0].out;
    if (loops.size() > 1) at = BoxOffsets(AsInts(slices.batch_sizes), AsInts(slices.batch_to));
  }
  int64_t operator()(int64_t b) const { return at.empty() ? b * step : at[static_cast<size_t>(b)]; }
};

template <class T>
class Gatherer {
 public:
  Gatherer(const Slices& slices, std::span<const int64_t> starts, const T* in, T* out)
      : slices_(slices), starts_(starts), batch_offsets_(slices), in_(in), out_(out) {}

  // Copies slice by slice, each in contiguous runs.
  void BySlices(ThreadPool& pool) const {
    const Runs from = RunsOf(AsInts(slices_.sizes), AsInts(slices_.from));
    const Runs to = RunsOf(AsInts(slices_.sizes), AsInts(slices_.to));
    const int64_t bytes = ElementCount(AsInts(slices_.sizes)) * static_cast<int64_t>(sizeof(T));
    const bool as_runs = from.length == to.length;
    const auto count = static_cast<int64_t>(starts_.size());
    const Strided from_box{0, slices_.from}, to_box{0, slices_.to};
    ForBlocks(pool, count, std::max<int64_t>(1, kTaskBytes / std::max<int64_t>(bytes, 8)), [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        T* out = out_ + batch_offsets_(b);
        const T* in = in_ + starts_[static_cast<size_t>(b)];
        if (b + kAhead < end) Fetch(in_ + starts_[static_cast<size_t>(b + kAhead)], bytes);
        if (as_runs) {
          for (size_t r = 0; r < from.offsets.size(); ++r)
            std::memcpy(out + to.offsets[r], in + from.offsets[r], static_cast<size_t>(from.length) * sizeof(T));
        } else {
          CopyStrided(AsInts(slices_.sizes), sizeof(T), reinterpret_cast<std::byte*>(out), to_box,
                      reinterpret_cast<const std::byte*>(in), from_box);
        }
      }
    });
  }

  // For each element of a slice, copies that element of all slices.
  void ByElements(ThreadPool& pool) const {
    const std::vector<int64_t> from = BoxOffsets(AsInts(slices_.sizes), AsInts(slices_.from));
    const std::vector<int64_t> to = BoxOffsets(AsInts(slices_.sizes), AsInts(slices_.to));
    const auto count = static_cast<int64_t>(starts_.size());
    constexpr int64_t kBlock = kTaskBytes / static_cast<int64_t>(sizeof(T)) / 4;
    const int64_t blocks = (count + kBlock - 1) / kBlock;
    const int64_t elements_per_task = std::max<int64_t>(1, kBlock / std::max<int64_t>(count, 1));
    ForBlocks(pool, static_cast<int64_t>(from.size()) * blocks, elements_per_task, [&](int64_t first, int64_t last) {
      for (int64_t t = first; t < last; ++t) {
        const auto element = static_cast<size_t>(t / blocks);
        const int64_t begin = t % blocks * kBlock, end = std::min(count, begin + kBlock);
        const T* in = in_ + from[element];
        T* out = out_ + to[element];
        if (batch_offsets_.at.empty() && batch_offsets_.step == 1) {
          for (int64_t b = begin; b < end; ++b) out[b] = in[starts_[static_cast<size_t>(b)]];
        } else {
          for (int64_t b = begin; b < end; ++b) out[batch_offsets_(b)] = in[starts_[static_cast<size_t>(b)]];
        }
      }
    });
  }

 private:
  // Slices are at arbitrary offsets, so the next ones are prefetched while this one is copied.
  static constexpr int64_t kAhead = 4;
  static void Fetch(const T* slice, int64_t bytes) {
    constexpr int64_t kLine = 64, kMax = 8 * kLine;
    const auto* at = reinterpret_cast<const char*>(slice);
    for (int64_t i = 0; i < std::min(bytes, kMax); i += kLine) __builtin_prefetch(at + i);
  }

  const Slices& slices_;
  std::span<const int64_t> starts_;
  BatchOffsets batch_offsets_;
  const T* in_;
  T* out_;
};

template <class T>
void GatherAs(const Slices& slices, std::span<const int64_t> starts, const Array& operand, Array& result, ThreadPool& pool) {
  const Gatherer<T> gatherer(slices, starts, operand.As<T>().data(), result.Mutable<T>().data());
  int64_t last_slice = 0, last_batch = 0;  // contiguous elements of the result along slice and batch dimensions
  for (size_t d = 0; d < slices.sizes.size(); ++d)
    if (slices.to[d] == 1) last_slice = std::max(last_slice, slices.sizes[d]);
  for (size_t d = 0; d < slices.batch_sizes.size(); ++d)
    if (slices.batch_to[d] == 1) last_batch = std::max(last_batch, slices.batch_sizes[d]);
  if (last_slice > 1 || last_batch <= 1)
    gatherer.BySlices(pool);
  else
    gatherer.ByElements(pool);
}

struct Wide {  // an element of sixteen bytes
  uint64_t half[2];
};

Status GatherSlices(const Instruction& hlo, std::span<const Array> operands, std::span<Array> results, ThreadPool& pool) {
  const Array& operand = operands[0];
  const Slices slices = SlicesOf(hlo, operand.dims(), results[0].dims());
  const Array starts =
      SliceStarts(operands[1],
             {hlo[kIndexVectorDim], hlo[GatherOp::kStartIndexMap], hlo[GatherOp::kOperandBatchingDims],
              hlo[GatherOp::kStartIndicesBatchingDims]},
             operand.dims(), AsInts(slices.max_starts), true)
          .FindAll(pool);
  switch (operand.element_bytes()) {
    case 1:
      GatherAs<uint8_t>(slices, starts.As<int64_t>(), operand, results[0], pool);
      break;
    case 2:
      GatherAs<uint16_t>(slices, starts.As<int64_t>(), operand, results[0], pool);
      break;
    case 4:
      GatherAs<uint32_t>(slices, starts.As<int64_t>(), operand, results[0], pool);
      break;
    case 8:
      GatherAs<uint64_t>(slices, starts.As<int64_t>(), operand, results[0], pool);
      break;
    default:
      GatherAs<Wide>(slices, starts.As<int64_t>(), operand, results[0], pool);
  }
  return {};
}

}  // namespace

LibraryFunction GatherFunction(const Instruction& hlo) {
  const Shape &operand = hlo.operand_shape(0), &result = hlo.shape();
  if (operand.has_dynamic() || result.has_dynamic() || hlo.operand_shape(1).has_dynamic()) return nullptr;
  if (operand.ElementCount().value_or(0) <= 0 || result.ElementCount().value_or(0) <= 0) return nullptr;
  return operand.element_type() == result.element_type() && IsInteger(hlo.operand_shape(1).element_type()) &&
                 BitWidth(hlo.operand_shape(1).element_type()) >= 8
             ? &GatherSlices
             : nullptr;
}

}  // namespace shoal::internal
