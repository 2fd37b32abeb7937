// reduce-window in which each window extends back to the start of a dimension, or forward to its end: a prefix scan.
#include <algorithm>

#include "compile/library/rows.h"
#include "core/ops/reduce.h"
#include "kernels/arrays/floats.h"
#include "transform/loops/loop_ops.h"

namespace shoal::internal {
namespace {

// The array as [outer, size, inner]. `reverse`: windows extend forward to the end.
struct Scan {
  int64_t outer = 1, size = 1, inner = 1;
  bool reverse = false;
};

bool IsTrivial(const WindowDim& dim) {
  return dim.size == 1 && dim.stride == 1 && dim.pad_low == 0 && dim.pad_high == 0 && dim.base_dilation == 1;
}

std::optional<Scan> ScanOf(const Instruction& hlo) {
  const Window* window = hlo[kWindow];
  if (window == nullptr) return std::nullopt;
  const Shape& shape = hlo.operand_shape(0);
  std::optional<Scan> scan;
  int64_t inner = 1;
  for (int64_t d = shape.rank() - 1; d >= 0; --d) {
    const WindowDim& dim = window->dims[static_cast<size_t>(d)];
    const int64_t size = shape.dim(d);
    if (IsTrivial(dim)) {
      inner *= size;
      continue;
    }
    const bool plain = dim.size == size && dim.stride == 1 && dim.base_dilation == 1 && dim.window_dilation == 1;
    const bool back = dim.pad_low == size - 1 && dim.pad_high == 0, on = dim.pad_low == 0 && dim.pad_high == size - 1;
    if (scan || !plain || !(back || on)) return std::nullopt;
    scan = Scan{1, size, inner, on && !back};
  }
  if (scan) scan->outer = shape.ElementCount().value_or(0) / (scan->size * scan->inner);
  return scan;
}

template <Opcode op, class T>
T CombineElements(T a, T b) {
  if constexpr (op == Opcode::kAdd) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
    else
      return a + b;
  } else if constexpr (op == Opcode::kMultiply) {
    // Multiply in 64 bits: 16-bit operands would be promoted to int, whose overflow is undefined.
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    else
      return a * b;
  } else if constexpr (op == Opcode::kMaximum) {
    if constexpr (std::is_floating_point_v<T>)
      if (a != a || b != b) return a != a ? a : b;
    return a < b ? b : a;
  } else {
    if constexpr (std::is_floating_point_v<T>)
      if (a != a || b != b) return a != a ? a : b;
    return b < a ? b : a;
  }
}

// Sums and products of f32 accumulate in f64.
template <Opcode op, class T>
using SumOf = std::conditional_t<std::is_same_v<T, float> && (op == Opcode::kAdd || op == Opcode::kMultiply), double, T>;

// A part of the columns of one outer index, and of the steps along them.
struct ScanPart {
  int64_t begin = 0, end = 1;   // columns
  int64_t first = 0, last = 1;  // steps
};

int64_t RowAt(const Scan& scan, int64_t step) { return (scan.reverse ? scan.size - 1 - step : step) * scan.inner; }

// Scans a part from `sums`, which has a sum for each column.
template <Opcode op, class T>
void ScanColumns(const Scan& scan, const T* in, T* out, const ScanPart& part, SumOf<op, T>* sums) {
  if (part.end - part.begin == 1) {
    SumOf<op, T> sum = sums[0];
    for (int64_t step = part.first; step < part.last; ++step) {
      const int64_t at = RowAt(scan, step) + part.begin;
      sum = CombineElements<op, SumOf<op, T>>(sum, in[at]);
      out[at] = static_cast<T>(sum);
    }
    return;
  }
  for (int64_t step = part.first; step < part.last; ++step) {
    const int64_t row = RowAt(scan, step);
    for (int64_t j = part.begin; j < part.end; ++j) {
      SumOf<op, T>& sum = sums[j - part.begin];
      sum = CombineElements<op, SumOf<op, T>>(sum, in[row + j]);
      out[row + j] = static_cast<T>(sum);
    }
  }
}

// Combines the steps of a part into `sums`. Those of a single column are combined in several lanes.
template <Opcode op, class T>
void FoldColumns(const Scan& scan, const T* in, const ScanPart& part, SumOf<op, T>* sums) {
  using Sum = SumOf<op, T>;
  const int64_t width = part.end - part.begin, lanes = width == 1 ? 8 : 1;
  Sum of_lanes[8];
  Sum* to = width == 1 ? of_lanes : sums;
  int64_t step = part.first;
  for (int64_t i = 0; i < lanes; ++i, ++step)
    for (int64_t j = 0; j < width; ++j) to[i + j] = in[RowAt(scan, step) + part.begin + j];
  for (; step + lanes <= part.last; step += lanes)
    for (int64_t i = 0; i < lanes; ++i)
      for (int64_t j = 0; j < width; ++j)
        to[i + j] = CombineElements<op, Sum>(to[i + j], in[RowAt(scan, step + i) + part.begin + j]);
  if (width > 1) return;
  for (; step < part.last; ++step) to[0] = CombineElements<op, Sum>(to[0], in[RowAt(scan, step) + part.begin]);
  sums[0] = of_lanes[0];
  for (int64_t i = 1; i < lanes; ++i) sums[0] = CombineElements<op, Sum>(sums[0], of_lanes[i]);
}

// Scans floats of at most 16 bits and accumulates in f32. XLA:CPU adds tiles of sixteen and then their sums.
// Accumulating in f32 is closer to that than rounding at each step.
template <Opcode op>
void ScanNarrowColumns(const Scan& scan, ElementType type, const std::byte* in, std::byte* out, float init, int64_t begin, int64_t end) {
  constexpr int64_t kBlock = 256;  // elements: columns, or a part of a single column
  const int64_t bytes = StorageBytes(type), width = end - begin;
  const int64_t steps = scan.inner == 1 ? kBlock : 1;
  float numbers[kBlock], sums[kBlock];
  std::fill_n(sums, width, init);
  for (int64_t done = 0; done < scan.size; done += steps) {
    const int64_t count = std::min(steps, scan.size - done), first = scan.reverse ? scan.size - done - count : done;
    const int64_t at = (first * scan.inner + begin) * bytes;
    DecodeFloats(type, in + at, numbers, count * width);
    for (int64_t k = 0; k < count; ++k) {
      float* row = numbers + (scan.reverse ? count - 1 - k : k) * width;
      for (int64_t j = 0; j < width; ++j) row[j] = sums[j] = CombineElements<op, float>(sums[j], row[j]);
    }
    EncodeFloats(type, numbers, out + at, count * width);
  }
}

constexpr int64_t kColumns = 256;  // of a task

// Calls task(o, begin, end) for columns [begin, end) of outer index o.
template <class Task>
void ForColumns(const Scan& scan, ThreadPool& pool, const Task& task) {
  const int64_t blocks = (scan.inner + kColumns - 1) / kColumns;
  const int64_t each = std::max<int64_t>(1, scan.size * std::min(kColumns, scan.inner));
  ForBlocks(pool, scan.outer * blocks, std::max<int64_t>(1, (1 << 14) / each), [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t)
      task(t / blocks, t % blocks * kColumns, std::min(scan.inner, t % blocks * kColumns + kColumns));
  });
}

// The number of parts into which the steps are divided: several for few long columns. It depends only on the sizes.
int64_t StepPartsOf(const Scan& scan) {
  constexpr int64_t kEnough = 16, kMinSteps = int64_t{1} << 12, kMinElements = int64_t{1} << 14;
  const int64_t tasks = scan.outer * ((scan.inner + kColumns - 1) / kColumns);
  if (tasks >= kEnough) return 1;
  return std::max<int64_t>(1, std::min({2 * kEnough / tasks, scan.size / kMinSteps, scan.size * scan.inner / kMinElements}));
}

// Combines the elements of each part, then scans the parts from the sums of those before.
template <Opcode op, class T>
void ScanInParts(const Scan& scan, const T* in, T* out, T init, int64_t parts, ThreadPool& pool) {
  const int64_t plane = scan.size * scan.inner, width = std::min(scan.inner, kColumns), blocks = (scan.inner + width - 1) / width;
  std::vector<SumOf<op, T>> sums(static_cast<size_t>(scan.outer * blocks * parts * width), init);
  const auto run = [&](const auto& task) {
    pool.Run(scan.outer * blocks * parts, [&](int64_t t) {
      const int64_t i = t % parts, block = t / parts % blocks, o = t / parts / blocks;
      const ScanPart part{block * width, std::min(scan.inner, (block + 1) * width), scan.size * i / parts, scan.size * (i + 1) / parts};
      task(o * plane, part, i, sums.data() + t * width);
    });
  };
  // The sums of part i - 1 are stored for part i.
  run([&](int64_t at, const ScanPart& part, int64_t i, SumOf<op, T>* to) {
    if (i + 1 < parts) FoldColumns<op, T>(scan, in + at, part, to + width);
  });
  for (int64_t t = 0; t < std::ssize(sums); t += parts * width) {
    for (int64_t j = 0; j < width; ++j) sums[static_cast<size_t>(t + j)] = init;
    for (int64_t k = width; k < parts * width; ++k) {
      auto& sum = sums[static_cast<size_t>(t + k)];
      sum = CombineElements<op, SumOf<op, T>>(sums[static_cast<size_t>(t + k - width)], sum);
    }
  }
  run([&](int64_t at, const ScanPart& part, int64_t, SumOf<op, T>* from) { ScanColumns<op, T>(scan, in + at, out + at, part, from); });
}

template <Opcode op, class T>
void ScanAs(const Scan& scan, const Array& in, const Array& init, Array& out, ThreadPool& pool) {
  const T* from = in.As<T>().data();
  T* to = out.Mutable<T>().data();
  const T first = init.As<T>()[0];
  if (const int64_t parts = StepPartsOf(scan); parts > 1) return ScanInParts<op, T>(scan, from, to, first, parts, pool);
  const int64_t plane = scan.size * scan.inner;
  ForColumns(scan, pool, [&](int64_t o, int64_t begin, int64_t end) {
    std::vector<SumOf<op, T>> sums(static_cast<size_t>(end - begin), first);
    ScanColumns<op, T>(scan, from + o * plane, to + o * plane, {begin, end, 0, scan.size}, sums.data());
  });
}

template <Opcode op>
void ScanNarrow(const Scan& scan, const Array& in, const Array& init, Array& out, ThreadPool& pool) {
  const int64_t plane = scan.size * scan.inner * out.element_bytes();
  float first = 0;
  DecodeFloats(out.type(), init.data(), &first, 1);
  std::byte* to = out.mutable_data();
  ForColumns(scan, pool, [&](int64_t o, int64_t begin, int64_t end) {
    ScanNarrowColumns<op>(scan, out.type(), in.data() + o * plane, to + o * plane, first, begin, end);
  });
}

template <Opcode op>
Status ScanTyped(const Scan& scan, std::span<const Array> operands, Array& out, ThreadPool& pool) {
  switch (out.type()) {
    case ElementType::kBf16:
    case ElementType::kF16:
      ScanNarrow<op>(scan, operands[0], operands[1], out, pool);
      break;
    case ElementType::kS8:
      ScanAs<op, int8_t>(scan, operands[0], operands[1], out, pool);
      break;
    case ElementType::kU8:
      ScanAs<op, uint8_t>(scan, operands[0], operands[1], out, pool);
      break;
    case ElementType::kS16:
      ScanAs<op, int16_t>(scan, operands[0], operands[1], out, pool);
      break;
    case ElementType::kU16:
      ScanAs<op, uint16_t>(scan, operands[0], operands[1], out, pool);
      break;
    case ElementType::kF32:
      ScanAs<op, float>(scan, operands[0], operands[1], out, pool);
      break;
    case ElementType::kF64:
      ScanAs<op, double>(scan, operands[0], operands[1], out, pool);
      break;
    case ElementType::kS32:
      ScanAs<op, int32_t>(scan, operands[0], operands[1], out, pool);
      break;
    case ElementType::kU32:
      ScanAs<op, uint32_t>(scan, operands[0], operands[1], out, pool);
      break;
    case ElementType::kS64:
      ScanAs<op, int64_t>(scan, operands[0], operands[1], out, pool);
      break;
    default:
      ScanAs<op, uint64_t>(scan, operands[0], operands[1], out, pool);
  }
  return {};
}

template <Opcode op>
Status PrefixScan(const Instruction& hlo, std::span<const Array> operands, std::span<Array> results, ThreadPool& pool) {
  return ScanTyped<op>(*ScanOf(hlo), operands, results[0], pool);
}

}  // namespace

LibraryFunction PrefixScanFunction(const Instruction& hlo) {
  if (hlo.operand_count() != 2 || !hlo.shape().IsArray() || hlo.shape().ElementCount().value_or(0) <= 0) return nullptr;
  const ElementType type = hlo.shape().element_type();
  if (hlo.operand_shape(0).element_type() != type || hlo.operand_shape(1).element_type() != type) return nullptr;
  static constexpr ElementType kTypes[] = {ElementType::kBf16, ElementType::kF16, ElementType::kF32, ElementType::kF64,
                                           ElementType::kS8,   ElementType::kU8,  ElementType::kS16, ElementType::kU16,
                                           ElementType::kS32,  ElementType::kU32, ElementType::kS64, ElementType::kU64};
  if (std::find(std::begin(kTypes), std::end(kTypes), type) == std::end(kTypes)) return nullptr;
  const Instruction* op = OnlyOpOf(*hlo[kToApply]);
  if (op == nullptr || op->shape().element_type() != type || !ScanOf(hlo)) return nullptr;
  if (op->opcode == Opcode::kAdd) return &PrefixScan<Opcode::kAdd>;
  if (op->opcode == Opcode::kMultiply) return &PrefixScan<Opcode::kMultiply>;
  if (op->opcode == Opcode::kMaximum) return &PrefixScan<Opcode::kMaximum>;
  if (op->opcode == Opcode::kMinimum) return &PrefixScan<Opcode::kMinimum>;
  return nullptr;
}

}  // namespace shoal::internal
