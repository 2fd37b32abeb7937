// Custom calls that sort, scan or select: CUB's sorts and prefix sums, TopK, PartialReduce.
#include <algorithm>

#include "core/ops/backend_config.h"
#include "execute/interp/custom_calls/custom_call.h"
#include "execute/interp/device.h"
#include "kernels/elementwise/element_loops.h"
#include "execute/interp/reduction/sort.h"
#include "kernels/algorithms/topk.h"
#include "kernels/arrays/indexed.h"
#include "kernels/algorithms/sort_keys.h"
#include "kernels/arrays/strided.h"
#include "core/ops/control_flow.h"

namespace shoal::internal {
namespace {

Diag ShapeError(const Call& call) {
  return ExecutionError(call.hlo, StrCat("the custom call \"", call.hlo[Op<Opcode::kCustomCall>::kTarget],
                                         "\" cannot produce ", ToString(call.hlo.shape()), " from its operands"));
}

bool AllArrays(const Call& call) {
  return !call.operands.empty() && std::all_of(call.operands.begin(), call.operands.end(),
                                               [](const Value& operand) { return operand.IsArray(); });
}

// Appends zero-filled scratch results and returns the results as a tuple.
Result<Value> WithScratch(const Call& call, std::vector<Value> results) {
  const Shape& shape = call.hlo.shape();
  if (!shape.IsTuple()) return ShapeError(call);
  for (size_t i = results.size(); i < shape.elements().size(); ++i) results.push_back(ZeroValue(*shape.elements()[i]));
  Value value = Value::Tuple(std::move(results));
  if (!Fits(value, shape)) return ShapeError(call);
  return value;
}

// Keys whose order is that of CUB's radix sort: the order of the bits, except that -0 and +0 are equal.
std::vector<uint64_t> RadixKeys(const Array& array) {
  std::vector<uint64_t> keys = OrderKeys(array, FloatOrder::kTotal);
  if (!IsFloat(array.type())) return keys;
  const uint64_t zero = OrderKeys(Array::Zeros(array.type(), {}), FloatOrder::kTotal)[0];
  for (size_t i = 0; i < keys.size(); ++i)
    if (keys[i] == zero - 1) keys[i] = zero;  // -0 is directly before +0
  return keys;
}

}  // namespace

// cub_sort_keys, cub_sort_pairs: (keys, values) -> (sorted keys, values in key order, scratch). Sorts batch_size parts.
// In files up to 2024, batch_size is missing, and each row is a part.
Result<Value> CubSort(Call& call) {
  const size_t arrays = call.operands.size();
  if (!AllArrays(call)) return ShapeError(call);
  const BackendConfig config = ConfigOf(call);
  const Ints dims = call.array(0).dims();
  const int64_t rows = dims.empty() || dims.back() == 0 ? 1 : call.array(0).count() / dims.back();
  const int64_t batch = std::max<int64_t>(config.Int("batch_size", rows), 1);
  if (arrays > 2 || IsComplex(call.array(0).type()) || call.array(0).count() % batch != 0 ||
      call.array(arrays - 1).count() != call.array(0).count())
    return ShapeError(call);
  std::vector<uint64_t> keys = RadixKeys(call.array(0));
  if (config.Bool("descending"))
    for (uint64_t& key : keys) key = ~key;
  struct Keyed {
    uint64_t key;
    int64_t element;
  };
  std::vector<Keyed> keyed;
  keyed.reserve(keys.size());
  for (uint64_t key : keys) keyed.push_back({key, static_cast<int64_t>(keyed.size())});
  const int64_t row = call.array(0).count() / batch;
  for (int64_t b = 0; b < batch; ++b)
    std::stable_sort(keyed.begin() + b * row, keyed.begin() + (b + 1) * row,
                     [](const Keyed& x, const Keyed& y) { return x.key < y.key; });
  std::vector<int64_t> order;
  order.reserve(keys.size());
  for (const Keyed& element : keyed) order.push_back(element.element);
  std::vector<Value> results;
  for (const Value& operand : call.operands) {
    const Array& in = operand.array();
    Array out(in.type(), in.dims());
    GatherElements(in.element_bytes(), out.mutable_data(), in.data(), order.data(), in.count());
    results.push_back(std::move(out));
  }
  return WithScratch(call, std::move(results));
}

// cub_scan: a -> (prefix sums along the middle dimension of [column_length, row_length, vector_length], scratch)
Result<Value> CubScan(Call& call) {
  constexpr int64_t kSum = 1;
  const BackendConfig config = ConfigOf(call);
  const int64_t vector = config.Int("vector_length", 1), rows = config.Int("row_length"),
                columns = config.Int("column_length", 1);
  if (!AllArrays(call) || vector < 1 || rows < 1 || columns < 1) return ShapeError(call);
  Array out = call.array(0);
  const bool sums = config.Int("kind", kSum) == kSum || config.Text("kind") == "SUM";
  if (!sums || out.count() % vector != 0 || out.count() / vector % rows != 0 || out.count() / vector / rows != columns)
    return ShapeError(call);
  const ElementLoop add = ElementLoopForBinary(Opcode::kAdd, out.type());
  const bool reverse = config.Bool("is_reverse");
  const int64_t bytes = vector * out.element_bytes();
  std::byte* data = out.mutable_data();
  for (int64_t c = 0; c < columns; ++c) {
    for (int64_t step = 1; step < rows; ++step) {
      const int64_t r = reverse ? rows - 1 - step : step;
      std::byte* here = data + (c * rows + r) * bytes;
      const std::byte* in[] = {here + (reverse ? bytes : -bytes), here};
      add.Run(here, in, vector);
    }
  }
  return WithScratch(call, {Value(std::move(out))});
}

// TopK, mhlo.topk: a -> (the first k elements of each row, their indices). The shape of the result determines k.
Result<Value> TopKCall(Call& call) {
  const Shape& shape = call.hlo.shape();
  const bool fits = AllArrays(call) && call.array(0).rank() > 0 && shape.IsTuple() && shape.elements().size() >= 2 &&
                    shape.element(0).IsArray() && shape.element(0).rank() == call.array(0).rank();
  if (!fits || IsComplex(call.array(0).type())) return ShapeError(call);
  const int64_t k = shape.element(0).dims().back();
  if (k < 0 || k > call.array(0).dims().back()) return ShapeError(call);
  TopKParts parts = TopK(call.array(0), k, ConfigOf(call).Bool("largest", true));
  return WithScratch(call, {std::move(parts.values), std::move(parts.indices)});
}

// PartialReduce: (operands, initial values) -> the first elements along reduction_dim, as ordered by the comparator.
// The result's shape determines their number. XLA may approximate them; this implementation is exact.
Result<Value> PartialReduce(Call& call) {
  const BackendConfig config = ConfigOf(call);
  const Computations callees = call.hlo[Op<Opcode::kCustomCall>::kCalledComputations];
  const Shape& shape = call.hlo.shape();
  const size_t count = call.operands.size() / 2;
  const int64_t dim = config.Int("reduction_dim");
  bool fits = AllArrays(call) && count > 0 && callees.size() == 1 && callees[0]->parameters.size() == 2 * count &&
              shape.IsTuple() && shape.elements().size() == count && dim >= 0 && dim < call.array(0).rank();
  for (size_t i = 0; fits && i < count; ++i)
    fits = shape.elements()[i]->IsArray() && shape.elements()[i]->rank() == call.array(0).rank() &&
           std::ranges::equal(call.array(i).dims(), call.array(0).dims()) &&
           callees[0]->parameters[2 * i]->shape().element_type() == call.array(i).type() &&
           shape.elements()[i]->dim(dim) <= call.array(0).dim(dim);
  if (!fits) return ShapeError(call);
  std::vector<Array> operands;
  for (size_t i = 0; i < count; ++i) operands.push_back(call.array(i));
  SHOAL_ASSIGN(sorted, SortedAlong(call.hlo, dim, *callees[0], call.device, std::move(operands)));
  std::vector<Value> results;
  for (const Array& array : sorted) {
    Dims dims = ToDims(array.dims());
    dims[static_cast<size_t>(dim)] = shape.element(0).dim(dim);
    results.push_back(Gathered(array, std::move(dims), {0, RowMajorStrides(array.dims())}));
  }
  return WithScratch(call, std::move(results));
}

}  // namespace shoal::internal
