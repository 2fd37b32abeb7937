#include "execute/interp/reduction/reduce_window.h"

#include "core/ops/window.h"
#include "kernels/algorithms/window_walk.h"

namespace shoal::internal {
namespace {

Array WindowsByLoop(const ReductionLoop& loop, const Array& input, const Array& init, WindowTapIterator& walk, Dims dims) {
  Array accumulators = loop.Start(init, std::move(dims));
  const Array elements = loop.Elements(input);
  while (const WindowBox* box = walk.Next())
    loop.Accumulate(AsInts(box->sizes), accumulators, box->results, elements, box->elements);
  return loop.Finish(accumulators);
}

// Folds the elements at one position in the window into the accumulators of the box.
Status FoldBox(Reducer& reducer, std::span<Array> accumulators, std::span<const Array> inputs, const WindowBox& box) {
  std::vector<Array> elements, boxed;
  std::vector<const std::byte*> ins;
  for (size_t k = 0; k < inputs.size(); ++k) {
    elements.push_back(Gathered(inputs[k], box.sizes, box.elements));
    ins.push_back(elements.back().data());
    if (!box.whole) boxed.push_back(Gathered(accumulators[k], box.sizes, box.results));
  }
  if (box.whole) return reducer.Step(accumulators, ins, elements[0].count());
  SHOAL_TRY(reducer.Step(boxed, ins, elements[0].count()));
  for (size_t k = 0; k < boxed.size(); ++k)
    CopyStrided(AsInts(box.sizes), boxed[k].element_bytes(), accumulators[k].mutable_data(), box.results,
                boxed[k].data(), {0, RowMajorStrides(AsInts(box.sizes))});
  return {};
}

}  // namespace

Result<std::vector<Array>> ReduceWindows(Reducer& reducer, std::span<const Array> inputs, std::span<const Array> inits,
                                         const Window* window, Ints result_dims) {
  WindowTapIterator walk(window, inputs[0].dims(), result_dims);
  std::vector<Array> accumulators;
  if (reducer.loop) {
    accumulators.push_back(WindowsByLoop(*reducer.loop, inputs[0], inits[0], walk, ToDims(result_dims)));
    return accumulators;
  }
  for (const Array& init : inits) accumulators.push_back(Filled(init, ToDims(result_dims)));
  while (const WindowBox* box = walk.Next()) SHOAL_TRY(FoldBox(reducer, accumulators, inputs, *box));
  return accumulators;
}

template <>
Result<Value> Evaluate<Opcode::kReduceWindow>(Call& call) {
  Reducer reducer(call, *call.hlo[kToApply], Reducer::Role::kReduction);
  std::vector<Array> inputs = OperandsAs(call, 0, reducer.types);
  const std::vector<Array> inits = OperandsAs(call, reducer.count(), reducer.types);
  // For scalars, XLA treats the initial value as the function's identity.
  if (inputs[0].rank() == 0) return ResultOf(call.hlo, std::move(inputs));
  SHOAL_ASSIGN(result_dims, WindowedOutputDims(call.hlo, call.hlo[kWindow], inputs[0].dims(), {}));
  SHOAL_ASSIGN(results, ReduceWindows(reducer, inputs, inits, call.hlo[kWindow], result_dims));
  return ResultOf(call.hlo, std::move(results));
}

}  // namespace shoal::internal
