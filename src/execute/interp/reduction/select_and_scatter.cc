// select-and-scatter.
#include <numeric>

#include "core/ops/window.h"
#include "execute/interp/movement/scatter_updates.h"
#include "kernels/algorithms/window_walk.h"

namespace shoal::internal {
namespace {

// The place in the operand that each window has chosen so far, or -1, and the element there.
struct Chosen {
  Array places;
  Array elements;
};

// Lets the elements of one place of the window compete with what the windows have chosen. The chosen element stays if
// select(chosen, candidate); the first that lies on the operand is chosen unasked.
Status Compete(const Call& call, const Computation& select, const Array& operand, const Array& operand_places,
               const WindowBox& box, Chosen& chosen) {
  const Array candidates = Gathered(operand, box.sizes, box.elements);
  const Array candidate_places = Gathered(operand_places, box.sizes, box.elements);
  Array elements = Gathered(chosen.elements, box.sizes, box.results);
  Array places = Gathered(chosen.places, box.sizes, box.results);
  Array stays(ElementType::kPred, box.sizes);
  const LanesOut outs[] = {{ElementType::kPred, stays.mutable_data()}};
  const LanesIn ins[] = {{elements.type(), elements.data()}, {candidates.type(), candidates.data()}};
  SHOAL_TRY(call.device.RunLanes(call.hlo, select, outs, ins, stays.count()));

  const int width = operand.element_bytes();
  auto at = places.Mutable<int64_t>();
  for (size_t i = 0; i < at.size(); ++i) {
    if (at[i] >= 0 && stays.As<uint8_t>()[i] != 0) continue;
    at[i] = candidate_places.As<int64_t>()[i];
    const auto offset = static_cast<int64_t>(i) * width;
    std::copy_n(candidates.data() + offset, width, elements.mutable_data() + offset);
  }
  const Strided boxed{0, RowMajorStrides(AsInts(box.sizes))};
  CopyStrided(AsInts(box.sizes), width, chosen.elements.mutable_data(), box.results, elements.data(), boxed);
  CopyStrided(AsInts(box.sizes), sizeof(int64_t), chosen.places.mutable_data(), box.results, places.data(), boxed);
  return {};
}

}  // namespace

template <>
Result<Value> Evaluate<Opcode::kSelectAndScatter>(Call& call) {
  using SelectAndScatter = Op<Opcode::kSelectAndScatter>;
  const Array& operand = call.array(0);
  SHOAL_ASSIGN(windows, WindowedOutputDims(call.hlo, call.hlo[kWindow], operand.dims(), {}));
  Array operand_places(ElementType::kS64, operand.dims());
  auto all = operand_places.Mutable<int64_t>();
  std::iota(all.begin(), all.end(), 0);

  Chosen chosen{Filled(Array::Scalar<int64_t>(ElementType::kS64, -1), ToDims(windows)),
                Array::Zeros(operand.type(), windows)};
  WindowWalk walk(call.hlo[kWindow], operand.dims(), windows);
  while (const WindowBox* box = walk.Next())
    SHOAL_TRY(Compete(call, *call.hlo[SelectAndScatter::kSelect], operand, operand_places, *box, chosen));

  Reducer reducer(call, *call.hlo[SelectAndScatter::kScatter]);
  std::vector<Array> results{Filled(Converted(call.array(2), reducer.types[0]), ToDims(operand.dims()))};
  const Array source = Converted(call.array(1), reducer.types[0]);
  const std::byte* const updates[] = {source.data()};
  SHOAL_TRY(FoldAt(reducer, results, chosen.places.As<int64_t>(), updates));
  return ResultOf(call.hlo, std::move(results));
}

}  // namespace shoal::internal
