// scatter of one operand by an op of its own (add, multiply, minimum, …) or by plain writing, in place. The operand is
// cut into ranges, and each task goes through all windows and folds in those that begin in its range: updates of one
// element come in their order whoever does them, so that any number of threads gives the same bits.
#include <algorithm>
#include <type_traits>
#include <utility>

#include "kernels/index_vectors.h"
#include "kernels/floats.h"
#include "kernels/strided.h"
#include "ops/families.h"
#include "passes/traits.h"
#include "program/library/rows.h"
#include "program/library/starts.h"

namespace shoal {
namespace {

using Scatter = Op<Opcode::kScatter>;

enum class Fold : uint8_t { kAssign, kAdd, kMultiply, kMinimum, kMaximum, kAnd, kOr, kNone };

Fold FoldOf(const Computation& computation) {
  if (computation.parameters.size() == 2 && computation.root == computation.parameters[1]) return Fold::kAssign;
  const Instruction* op = OnlyOpOf(computation);
  if (op == nullptr) return Fold::kNone;
  static constexpr std::pair<Opcode, Fold> kFolds[] = {
      {Opcode::kAdd, Fold::kAdd},         {Opcode::kMultiply, Fold::kMultiply}, {Opcode::kMinimum, Fold::kMinimum},
      {Opcode::kMaximum, Fold::kMaximum}, {Opcode::kAnd, Fold::kAnd},           {Opcode::kOr, Fold::kOr}};
  for (const auto& [opcode, fold] : kFolds)
    if (opcode == op->opcode) return fold;
  return Fold::kNone;
}

// A float of sixteen bits, computed with in f32 and rounded after each step.
template <ElementType type>
struct Narrow {
  uint16_t bits;
  operator float() const {
    float value = 0;
    DecodeFloats(type, reinterpret_cast<const std::byte*>(&bits), &value, 1);
    return value;
  }
  static Narrow Of(float value) {
    Narrow narrow;
    EncodeFloats(type, &value, reinterpret_cast<std::byte*>(&narrow.bits), 1);
    return narrow;
  }
};

template <Fold fold, class T>
T Folded(T a, T b) {
  if constexpr (fold == Fold::kAssign) {
    return b;
  } else if constexpr (std::is_class_v<T>) {
    return T::Of(Folded<fold, float>(a, b));
  } else if constexpr (std::is_floating_point_v<T>) {
    if constexpr (fold == Fold::kAdd) return a + b;
    if constexpr (fold == Fold::kMultiply) return a * b;
    if constexpr (fold == Fold::kMinimum) return a != a || a < b ? a : b;
    if constexpr (fold == Fold::kMaximum) return a != a || a > b ? a : b;
    return b;
  } else {
    using Wide = std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;
    if constexpr (fold == Fold::kAdd) return static_cast<T>(static_cast<Wide>(a) + static_cast<Wide>(b));
    if constexpr (fold == Fold::kMultiply) return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b));
    if constexpr (fold == Fold::kMinimum) return a < b ? a : b;
    if constexpr (fold == Fold::kMaximum) return a > b ? a : b;
    if constexpr (fold == Fold::kAnd) return static_cast<T>(a & b);
    return static_cast<T>(a | b);
  }
}

struct Windows {
  std::vector<int64_t> starts;  // -1: outside, left out; empty where windows are single elements
  Runs runs;                    // of one window in the operand
  bool are_apart = false;       // two windows are the same or have no element in common
  int64_t size() const { return runs.length * static_cast<int64_t>(runs.offsets.size()); }
};

template <Fold fold, class T>
void FoldRange(const Windows& windows, int64_t begin, int64_t end, const T* updates, T* out) {
  const int64_t size = windows.size(), length = windows.runs.length;
  const auto count = static_cast<int64_t>(windows.starts.size());
  const int64_t* starts = windows.starts.data();
  constexpr int64_t kAhead = 16, kLine = 64 / static_cast<int64_t>(sizeof(T));
  for (int64_t b = 0; b < count; ++b) {
    // What lies ahead is fetched: which windows are ours no hardware foresees.
    if (const int64_t ahead = b + kAhead < count ? starts[b + kAhead] : -1; ahead >= begin && ahead < end) {
      for (int64_t i = 0; i < std::min(length, 4 * kLine); i += kLine) {
        __builtin_prefetch(updates + (b + kAhead) * size + i);
        __builtin_prefetch(out + ahead + i, 1);
      }
    }
    const int64_t start = starts[b];
    if (start < begin || start >= end) continue;
    const T* from = updates + b * size;
    for (int64_t offset : windows.runs.offsets) {
      T* to = out + start + offset;
      if (length == 1)
        *to = Folded<fold, T>(*to, *from);
      else
        for (int64_t i = 0; i < length; ++i) to[i] = Folded<fold, T>(to[i], from[i]);
      from += length;
    }
  }
}

// Windows of one element, [begin, end) of them, in their order.
template <Fold fold, class T>
void FoldElements(const Starts& starts, int64_t begin, int64_t end, const T* updates, T* out) {
  constexpr int64_t kTogether = 512;
  int64_t places[kTogether];
  for (int64_t first = begin; first < end; first += kTogether) {
    const int64_t count = std::min(kTogether, end - first);
    starts.Find(first, first + count, places);
    for (int64_t i = 0; i < count; ++i)
      if (places[i] >= 0) out[places[i]] = Folded<fold, T>(out[places[i]], updates[first + i]);
  }
}

// Sums of whole numbers come to the same in any order: each task has its own, which are added up.
template <class T>
void CountElements(const Starts& starts, const T* updates, int64_t size, T* out, ThreadPool& pool) {
  constexpr int64_t kTasks = 16;
  const int64_t block = (starts.count() + kTasks - 1) / kTasks;
  std::vector<T> sums(static_cast<size_t>(size * kTasks));
  ForBlocks(pool, starts.count(), block, [&](int64_t begin, int64_t end) {
    FoldElements<Fold::kAdd, T>(starts, begin, end, updates, sums.data() + begin / block * size);
  });
  for (int64_t t = 0; t < kTasks; ++t)
    for (int64_t i = 0; i < size; ++i) out[i] = Folded<Fold::kAdd, T>(out[i], sums[static_cast<size_t>(t * size + i)]);
}

template <Fold fold, class T>
void FoldAllElements(const Starts& starts, const Array& updates, Array& result, ThreadPool& pool) {
  T* out = reinterpret_cast<T*>(result.mutable_data());
  const T* from = reinterpret_cast<const T*>(updates.data());
  if constexpr (fold == Fold::kAdd && std::is_integral_v<T>) {
    constexpr int64_t kMostSums = int64_t{1} << 13;
    if (result.count() <= kMostSums && starts.count() > 32 * result.count())
      return CountElements<T>(starts, from, result.count(), out, pool);
  }
  FoldElements<fold, T>(starts, 0, starts.count(), from, out);
}

template <Fold fold, class T>
void FoldAll(const Windows& windows, const Starts& starts, const Array& updates, Array& result, ThreadPool& pool) {
  if (windows.size() == 1) return FoldAllElements<fold, T>(starts, updates, result, pool);
  const int64_t elements = updates.count(), count = result.count();
  // Going through all windows costs something too, and where they are small as much as folding them in.
  const int64_t bytes = windows.size() * static_cast<int64_t>(sizeof(T));
  int64_t ranges = bytes >= 1024 ? 16 : 4;
  if (!windows.are_apart || bytes < 256 || elements < (1 << 14)) ranges = 1;
  const int64_t range = (count + ranges - 1) / ranges;
  T* out = reinterpret_cast<T*>(result.mutable_data());
  const T* from = reinterpret_cast<const T*>(updates.data());
  pool.Run(ranges, [&](int64_t i) {
    FoldRange<fold, T>(windows, i * range, std::min(count, (i + 1) * range), from, out);
  });
}

template <Fold fold>
void FoldTyped(ElementType type, const Windows& windows, const Starts& starts, const Array& updates, Array& result, ThreadPool& pool) {
  auto as = [&](auto element) { FoldAll<fold, decltype(element)>(windows, starts, updates, result, pool); };
  if (type == ElementType::kBf16) return as(Narrow<ElementType::kBf16>{});
  if (type == ElementType::kF16) return as(Narrow<ElementType::kF16>{});
  if (type == ElementType::kF32) return as(float{});
  if (type == ElementType::kF64) return as(double{});
  const bool is_signed = IsSigned(type);
  switch (StorageBytes(type)) {
    case 1:
      return is_signed ? as(int8_t{}) : as(uint8_t{});
    case 2:
      return is_signed ? as(int16_t{}) : as(uint16_t{});
    case 4:
      return is_signed ? as(int32_t{}) : as(uint32_t{});
    default:
      return is_signed ? as(int64_t{}) : as(uint64_t{});
  }
}

void FoldBy(Fold fold, ElementType type, const Windows& windows, const Starts& starts, const Array& updates, Array& result,
            ThreadPool& pool) {
  switch (fold) {
    case Fold::kAdd:
      return FoldTyped<Fold::kAdd>(type, windows, starts, updates, result, pool);
    case Fold::kMultiply:
      return FoldTyped<Fold::kMultiply>(type, windows, starts, updates, result, pool);
    case Fold::kMinimum:
      return FoldTyped<Fold::kMinimum>(type, windows, starts, updates, result, pool);
    case Fold::kMaximum:
      return FoldTyped<Fold::kMaximum>(type, windows, starts, updates, result, pool);
    case Fold::kAnd:
      return FoldTyped<Fold::kAnd>(type, windows, starts, updates, result, pool);
    case Fold::kOr:
      return FoldTyped<Fold::kOr>(type, windows, starts, updates, result, pool);
    default:
      return FoldTyped<Fold::kAssign>(type, windows, starts, updates, result, pool);
  }
}

// The result begins as the operand.
Status ScatterUpdates(const Instruction& hlo, std::span<const Array> operands, std::span<Array> results,
                      ThreadPool& pool) {
  const Ints window_dims = hlo[Scatter::kUpdateWindowDims], dims = results[0].dims();
  const auto rank = static_cast<int>(dims.size());
  const Dims strides = RowMajorStrides(dims);
  Array updates = operands[2];
  Dims most, sizes, kept_strides;
  for (int64_t size : dims) most.push_back(size - 1);
  Windows windows;
  windows.are_apart = true;
  const Dims kept = DimsWithout(rank, hlo[Scatter::kInsertedWindowDims], hlo[Scatter::kInputBatchingDims]);
  for (size_t i = 0; i < kept.size(); ++i) {
    const auto d = static_cast<size_t>(kept[i]);
    sizes.push_back(updates.dim(window_dims[i]));
    kept_strides.push_back(strides[d]);
    most[d] = dims[d] - sizes.back();
    windows.are_apart &= sizes.back() == 1 || most[d] == 0;
  }
  windows.runs = RunsOf(AsInts(sizes), AsInts(kept_strides));
  const Starts starts(operands[1],
                      {hlo[kIndexVectorDim], hlo[Scatter::kScatterDimsToOperandDims], hlo[Scatter::kInputBatchingDims],
                       hlo[Scatter::kScatterIndicesBatchingDims]},
                      dims, AsInts(most), false);
  if (windows.size() != 1) windows.starts = starts.FindAll(pool);
  const Dims batch = DimsWithout(updates.rank(), window_dims, {});
  Dims order = batch;
  order.insert(order.end(), window_dims.begin(), window_dims.end());
  if (!std::is_sorted(order.begin(), order.end())) updates = Transposed(updates, AsInts(order));
  FoldBy(FoldOf(*hlo[kToApply]), results[0].type(), windows, starts, updates, results[0], pool);
  return {};
}

bool HasFold(Fold fold, ElementType type) {
  if (fold == Fold::kNone || IsComplex(type) || StorageBytes(type) > 8) return false;
  if (fold == Fold::kAssign) return true;
  const bool is_bits = fold == Fold::kAnd || fold == Fold::kOr;
  if (type == ElementType::kPred) return is_bits;
  if (IsFloat(type)) return !is_bits && BitWidth(type) >= 16;
  return BitWidth(type) >= 8;
}

}  // namespace

LibraryFunction ScatterFunction(const Instruction& hlo) {
  if (hlo.operand_count() != 3 || !hlo.shape().IsArray()) return nullptr;
  const ElementType type = hlo.shape().element_type(), indices = hlo.operand_shape(1).element_type();
  const Computation& function = *hlo[kToApply];
  for (const Shape* shape : {&hlo.operand_shape(0), &hlo.operand_shape(2), &function.root->shape()})
    if (shape->has_dynamic() || shape->element_type() != type) return nullptr;
  for (const Instruction* parameter : function.parameters)
    if (parameter->shape().element_type() != type) return nullptr;
  if (hlo.operand_shape(1).has_dynamic() || !IsInteger(indices) || BitWidth(indices) < 8) return nullptr;
  for (const Shape* shape : {&hlo.shape(), &hlo.operand_shape(2)})
    if (shape->ElementCount().value_or(0) <= 0) return nullptr;
  return HasFold(FoldOf(function), type) ? &ScatterUpdates : nullptr;
}

}  // namespace shoal
