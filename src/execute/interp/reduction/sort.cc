#include "execute/interp/reduction/sort.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "execute/interp/device.h"
#include "kernels/algorithms/merge_sort.h"
#include "kernels/arrays/indexed.h"
#include "kernels/algorithms/sort_keys.h"
#include "kernels/arrays/strided.h"

namespace shoal::internal {
namespace {

// The operands, transposed so that the sort dimension is last.
struct SortRows {
  std::vector<Array> operands;
  int64_t count = 0, size = 0;
};

// A comparator that consists of one comparison of elements of a single operand.
struct SimpleOrder {
  size_t operand = 0;
  bool descending = false;
  FloatOrder floats = FloatOrder::kTotal;
};

std::optional<SimpleOrder> SimpleOrderOf(const Computation& comparator) {
  using Compare = Op<Opcode::kCompare>;
  const Instruction& root = *comparator.root;
  if (root.opcode != Opcode::kCompare || IsComplex(root.operand_shape(0).element_type())) return std::nullopt;
  if (comparator.instructions.size() != comparator.parameters.size() + 1) return std::nullopt;  // others may have effects
  const auto& parameters = comparator.parameters;
  const size_t first =
      static_cast<size_t>(std::find(parameters.begin(), parameters.end(), root.operands[0]) - parameters.begin());
  // The root compares parameters 2k and 2k + 1, in either order.
  if (first >= parameters.size() || root.operands[1] != parameters[first ^ 1]) return std::nullopt;
  const ComparisonDirection direction = root[Compare::kDirection];
  const bool less = direction == ComparisonDirection::kLt;
  if (!less && direction != ComparisonDirection::kGt) return std::nullopt;
  SimpleOrder order;
  order.operand = first / 2;
  order.descending = less != (first % 2 == 0);
  // Without total order, NaNs count as the largest numbers.
  if (root[Compare::kOrder] == ComparisonOrder::kPartial) order.floats = FloatOrder::kNanLast;
  return order;
}

// Sorts by one key per element. If the sort is not stable, elements with equal keys have the order that std::sort
// produces, as in XLA:CPU.
std::vector<int64_t> SortedByKeys(const SortRows& rows, const std::vector<uint64_t>& keys, bool is_stable) {
  struct Keyed {
    uint64_t key;
    int64_t element;
  };
  std::vector<Keyed> row(static_cast<size_t>(rows.size));
  std::vector<int64_t> sorted(keys.size());
  for (int64_t r = 0; r < rows.count; ++r) {
    for (int64_t i = r * rows.size; i < (r + 1) * rows.size; ++i)
      row[static_cast<size_t>(i - r * rows.size)] = {keys[static_cast<size_t>(i)], i};
    auto before = [](const Keyed& a, const Keyed& b) { return a.key < b.key; };
    if (is_stable) {
      std::stable_sort(row.begin(), row.end(), before);
    } else {
      std::sort(row.begin(), row.end(), before);
    }
    std::transform(row.begin(), row.end(), sorted.begin() + r * rows.size, [](const Keyed& k) { return k.element; });
  }
  return sorted;
}

// Applies the comparator to many pairs of elements, identified by number.
class Comparator {
 public:
  Comparator(const Instruction& hlo, const Computation& computation, Device& device, const SortRows& rows)
      : hlo_(hlo), computation_(computation), device_(device), rows_(rows) {
    for (const Instruction* parameter : computation.parameters) {
      bool used = computation.root == parameter;
      for (const Instruction* hlo : computation.instructions)
        used |= std::find(hlo->operands.begin(), hlo->operands.end(), parameter) != hlo->operands.end();
      used_.push_back(used);
    }
    lanes_.resize(used_.size());
  }

  Status operator()(const int64_t* a, const int64_t* b, uint8_t* before, int64_t n) {
    std::vector<LanesIn> ins;
    for (size_t p = 0; p < used_.size(); ++p) {
      const Array& operand = rows_.operands[p / 2];
      const int width = operand.element_bytes();
      std::vector<std::byte>& lanes = lanes_[p];
      if (lanes.size() < static_cast<size_t>(n * width)) lanes.resize(static_cast<size_t>(n * width));
      if (used_[p]) GatherElements(width, lanes.data(), operand.data(), p % 2 == 0 ? a : b, n);
      ins.push_back({operand.type(), lanes.data()});
    }
    const LanesOut outs[] = {{ElementType::kPred, reinterpret_cast<std::byte*>(before)}};
    return device_.RunLanes(hlo_, computation_, outs, ins, n);
  }

 private:
  const Instruction& hlo_;
  const Computation& computation_;
  Device& device_;
  const SortRows& rows_;
  std::vector<bool> used_;  // parameters that the comparator uses; no others are fetched
  std::vector<std::vector<std::byte>> lanes_;
};

// Computes keys for a general comparator: the rank of each element in sorted order.
Result<std::vector<uint64_t>> Ranks(const std::vector<int64_t>& sorted, Comparator& compare) {
  const size_t n = sorted.size();
  std::vector<uint8_t> before(n, 0);
  SHOAL_TRY(compare(sorted.data(), sorted.data() + 1, before.data() + 1, static_cast<int64_t>(n) - 1));
  std::vector<uint64_t> ranks(n);
  uint64_t rank = 0;
  for (size_t i = 0; i < n; ++i) ranks[static_cast<size_t>(sorted[i])] = rank += before[i];
  return ranks;
}

Result<std::vector<int64_t>> Sorted(const Instruction& hlo, const Computation& comparator, Device& device,
                                    const SortRows& rows, bool is_stable) {
  if (rows.size <= 16) is_stable = true;  // std::sort uses insertion sort for so few elements, which is stable
  if (std::optional<SimpleOrder> order = SimpleOrderOf(comparator)) {
    std::vector<uint64_t> keys = OrderKeys(rows.operands[order->operand], order->floats);
    if (order->descending)
      for (uint64_t& key : keys) key = ~key;
    return SortedByKeys(rows, keys, is_stable);
  }
  Comparator compare(hlo, comparator, device, rows);
  SHOAL_ASSIGN(sorted, MergeSorted(rows.count, rows.size, std::ref(compare)));
  if (is_stable) return std::move(sorted);
  SHOAL_ASSIGN(ranks, Ranks(sorted, compare));
  return SortedByKeys(rows, ranks, false);
}

}  // namespace

Result<std::vector<Array>> SortedAlong(const Instruction& hlo, int64_t dim, const Computation& comparator,
                                       Device& device, std::vector<Array> operands, bool is_stable) {
  if (operands[0].count() == 0 || operands[0].dim(dim) == 1) return operands;
  // Swapping the two dimensions again restores the original order.
  const int rank = operands[0].rank();
  Dims order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<size_t>(dim)], order.back());
  const bool is_last = dim == rank - 1;
  SortRows rows;
  rows.size = operands[0].dim(dim);
  rows.count = operands[0].count() / rows.size;
  for (Array& operand : operands)
    rows.operands.push_back(is_last ? std::move(operand) : Transposed(operand, AsInts(order)));

  SHOAL_ASSIGN(sorted, Sorted(hlo, comparator, device, rows, is_stable));
  std::vector<Array> results;
  for (const Array& operand : rows.operands) {
    Array result(operand.type(), operand.dims());
    GatherElements(result.element_bytes(), result.mutable_data(), operand.data(), sorted.data(), result.count());
    results.push_back(is_last ? std::move(result) : Transposed(result, AsInts(order)));
  }
  return results;
}

template <>
Result<Value> Evaluate<Opcode::kSort>(Call& call) {
  std::vector<Array> operands;
  for (Value& operand : call.operands) operands.push_back(std::move(operand.array()));
  SHOAL_ASSIGN(sorted, SortedAlong(call.hlo, call.hlo[kDimensions][0], *call.hlo[kToApply], call.device, std::move(operands),
                                   call.hlo[kIsStable]));
  if (!call.hlo.shape().IsTuple()) return Value(std::move(sorted[0]));
  return Value::Tuple({sorted.begin(), sorted.end()});
}

}  // namespace shoal::internal
