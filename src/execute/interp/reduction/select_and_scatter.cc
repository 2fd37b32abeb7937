// select-and-scatter: selects an element of each window and combines an update with it.
#include <numeric>

#include "core/ops/window.h"
#include "execute/interp/movement/scatter_updates.h"
#include "kernels/algorithms/window_walk.h"

namespace shoal::internal {
namespace {

// The operand index that each window has selected so far, or -1, and the element at that index.
struct Chosen {
  Array indices;
  Array elements;
};

// Compares the elements at one window position with the current selections. Keeps a selection if select(selection,
// candidate) is true. The first in-bounds element is selected without a comparison.
Status UpdateChosen(const Call& call, const Computation& select, const Array& operand, const Array& operand_indices,
                    const WindowBox& box, Chosen& chosen) {
  const Array candidates = Gathered(operand, box.sizes, box.elements);
  const Array candidate_indices = Gathered(operand_indices, box.sizes, box.elements);
  Array elements = Gathered(chosen.elements, box.sizes, box.results);
  Array indices = Gathered(chosen.indices, box.sizes, box.results);
  Array keeps(ElementType::kPred, box.sizes);
  const LanesOut outs[] = {{ElementType::kPred, keeps.mutable_data()}};
  const LanesIn ins[] = {{elements.type(), elements.data()}, {candidates.type(), candidates.data()}};
  SHOAL_TRY(call.device.RunLanes(call.hlo, select, outs, ins, keeps.count()));

  const int width = operand.element_bytes();
  auto at = indices.Mutable<int64_t>();
  for (size_t i = 0; i < at.size(); ++i) {
    if (at[i] >= 0 && keeps.As<uint8_t>()[i] != 0) continue;
    at[i] = candidate_indices.As<int64_t>()[i];
    const auto offset = static_cast<int64_t>(i) * width;
    std::copy_n(candidates.data() + offset, width, elements.mutable_data() + offset);
  }
  const Strided boxed{0, RowMajorStrides(AsInts(box.sizes))};
  CopyStrided(AsInts(box.sizes), width, chosen.elements.mutable_data(), box.results, elements.data(), boxed);
  CopyStrided(AsInts(box.sizes), sizeof(int64_t), chosen.indices.mutable_data(), box.results, indices.data(), boxed);
  return {};
}

}  // namespace

template <>
Result<Value> Evaluate<Opcode::kSelectAndScatter>(Call& call) {
  using SelectAndScatter = Op<Opcode::kSelectAndScatter>;
  const Array& operand = call.array(0);
  SHOAL_ASSIGN(windows, WindowedOutputDims(call.hlo, call.hlo[kWindow], operand.dims(), {}));
  Array operand_indices(ElementType::kS64, operand.dims());
  auto linear_indices = operand_indices.Mutable<int64_t>();
  std::iota(linear_indices.begin(), linear_indices.end(), 0);

  Chosen chosen{Filled(Array::Scalar<int64_t>(ElementType::kS64, -1), ToDims(windows)),
                Array::Zeros(operand.type(), windows)};
  WindowTapIterator walk(call.hlo[kWindow], operand.dims(), windows);
  while (const WindowBox* box = walk.Next())
    SHOAL_TRY(UpdateChosen(call, *call.hlo[SelectAndScatter::kSelect], operand, operand_indices, *box, chosen));

  Reducer reducer(call, *call.hlo[SelectAndScatter::kScatter]);
  std::vector<Array> results{Filled(Converted(call.array(2), reducer.types[0]), ToDims(operand.dims()))};
  const Array source = Converted(call.array(1), reducer.types[0]);
  const std::byte* const updates[] = {source.data()};
  SHOAL_TRY(FoldAtIndices(reducer, results, chosen.indices.As<int64_t>(), updates));
  return ResultOf(call.hlo, std::move(results));
}

}  // namespace shoal::internal
