// topk: one pass over each row with a heap of the best elements.
#include <algorithm>
#include <vector>

#include "compile/library/rows.h"
#include "core/ops/reduce.h"
#include "kernels/algorithms/sort_keys.h"
#include "kernels/arrays/indexed.h"

namespace shoal::internal {
namespace {

// An element of a row. Larger keys are better; of equal keys, the smaller index.
struct RankedElement {
  uint64_t key = 0;
  uint32_t index = 0;
  bool operator>(const RankedElement& other) const { return key != other.key ? key > other.key : index < other.index; }
};

// Computes integer keys of one row; larger keys come first in the result. f32 keys are computed here, vectorized; other
// types use OrderKeys.
class RowKeys {
 public:
  RowKeys(const Array& operand, bool largest) : operand_(operand), flip_(largest ? 0 : ~uint64_t{0}) {}

  const std::vector<uint64_t>& Of(int64_t row, int64_t size) {
    const int width = operand_.element_bytes();
    const std::byte* data = operand_.data() + row * size * width;
    if (operand_.type() == ElementType::kF32) {
      keys_.resize(static_cast<size_t>(size));
      const auto* bits = reinterpret_cast<const int32_t*>(data);
      for (int64_t i = 0; i < size; ++i) {
        const int32_t ordered = bits[i] ^ ((bits[i] >> 31) & 0x7fffffff);
        keys_[static_cast<size_t>(i)] = (static_cast<uint32_t>(ordered) ^ 0x80000000u) ^ flip_;
      }
      return keys_;
    }
    const Array part(operand_.type(), Dims{size}, Buffer::Borrow(data, static_cast<size_t>(size * width)));
    keys_ = OrderKeys(part, FloatOrder::kTotal);
    for (uint64_t& key : keys_) key ^= flip_;
    return keys_;
  }

 private:
  const Array& operand_;
  uint64_t flip_;
  std::vector<uint64_t> keys_;
};

// Selects the k best elements, best first.
void SelectBest(const std::vector<uint64_t>& keys, size_t k, std::vector<RankedElement>& best) {
  best.clear();
  const auto worst_on_top = [](const RankedElement& a, const RankedElement& b) { return a > b; };
  for (size_t i = 0; i < k; ++i) best.push_back({keys[i], static_cast<uint32_t>(i)});
  std::make_heap(best.begin(), best.end(), worst_on_top);
  for (size_t i = k; i < keys.size(); ++i) {
    if (keys[i] <= best.front().key) continue;  // the common case
    std::pop_heap(best.begin(), best.end(), worst_on_top);
    best.back() = {keys[i], static_cast<uint32_t>(i)};
    std::push_heap(best.begin(), best.end(), worst_on_top);
  }
  std::sort_heap(best.begin(), best.end(), worst_on_top);
}

Status TopK(const Instruction& hlo, std::span<const Array> operands, std::span<Array> results, ThreadPool& pool) {
  const Array& operand = operands[0];
  const int64_t size = operand.dims().back(), k = results[0].dims().back(), rows = operand.count() / size;
  std::byte* values = results[0].mutable_data();
  auto* indices = results[1].Mutable<int32_t>().data();
  const int width = operand.element_bytes();
  const bool largest = TakesLargest(hlo);
  ForBlocks(pool, rows, std::max<int64_t>(1, (1 << 14) / size), [&](int64_t begin, int64_t end) {
    RowKeys keys(operand, largest);
    std::vector<RankedElement> best;
    std::vector<int64_t> positions(static_cast<size_t>(k));
    for (int64_t row = begin; row < end; ++row) {
      SelectBest(keys.Of(row, size), static_cast<size_t>(k), best);
      for (int64_t i = 0; i < k; ++i) {
        const uint32_t index = best[static_cast<size_t>(i)].index;
        positions[static_cast<size_t>(i)] = index;
        indices[row * k + i] = static_cast<int32_t>(index);
      }
      GatherElements(width, values + row * k * width, operand.data() + row * size * width, positions.data(), k);
    }
  });
  return {};
}

}  // namespace

LibraryFunction TopKFunction(const Instruction& hlo) {
  const Shape& operand = hlo.operand_shape(0);
  if (!hlo.shape().IsTuple() || hlo.shape().elements().size() != 2 || operand.rank() == 0) return nullptr;
  const Shape &values = hlo.shape().element(0), &indices = hlo.shape().element(1);
  if (operand.has_dynamic() || IsComplex(operand.element_type()) || values.element_type() != operand.element_type() ||
      indices.element_type() != ElementType::kS32)
    return nullptr;
  if (operand.ElementCount().value_or(0) <= 0 || values.ElementCount().value_or(0) <= 0) return nullptr;
  return values.dims().back() <= operand.dims().back() && operand.dims().back() <= INT32_MAX ? &TopK : nullptr;
}

}  // namespace shoal::internal
