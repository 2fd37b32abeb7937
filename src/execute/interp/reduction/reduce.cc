// reduce and map.
#include <algorithm>

#include "execute/interp/reduction/reduce_window.h"

#include "core/ir/sizes.h"

namespace shoal::internal {
namespace {

// The kept and the folded dimensions of the inputs, both in ascending order.
struct Split {
  Dims kept, folded;
  Dims kept_sizes;
  int64_t results = 1, steps = 1;
};

Split SplitDims(const Array& input, Ints dimensions) {
  Split split;
  for (int64_t d = 0; d < input.rank(); ++d) {
    if (Contains(dimensions, d)) {
      split.folded.push_back(d);
      split.steps *= input.dim(d);
    } else {
      split.kept.push_back(d);
      split.kept_sizes.push_back(input.dim(d));
      split.results *= input.dim(d);
    }
  }
  return split;
}

// Reduces in one pass over the input. The index of an element in the kept dimensions selects its accumulator.
Array ReduceByLoop(const ReductionLoop& loop, const Array& input, const Array& init, const Split& split) {
  Array accumulators = loop.Start(init, split.kept_sizes);
  const Dims kept_strides = RowMajorStrides(AsInts(split.kept_sizes));
  Strided to{0, Dims(static_cast<size_t>(input.rank()), 0)};
  for (size_t i = 0; i < split.kept.size(); ++i) to.strides[static_cast<size_t>(split.kept[i])] = kept_strides[i];
  loop.Accumulate(input.dims(), accumulators, to, loop.Elements(input), {0, RowMajorStrides(input.dims())});
  return loop.Finish(accumulators);
}

// Moves the folded dimensions to the front, so that the elements of a step are contiguous.
Array FoldedDimsFirst(const Array& input, const Split& split) {
  Dims order = split.folded;
  order.insert(order.end(), split.kept.begin(), split.kept.end());
  return std::is_sorted(order.begin(), order.end()) ? input : Transposed(input, AsInts(order));
}

// Computes accumulators = f(accumulators, step) for steps [first, last) of `lanes` elements each.
Status FoldSteps(Reducer& reducer, std::span<Array> accumulators, std::span<const Array> inputs, int64_t first,
                 int64_t last, int64_t lanes) {
  std::vector<const std::byte*> elements(inputs.size());
  for (int64_t step = first; step < last; ++step) {
    for (size_t k = 0; k < inputs.size(); ++k)
      elements[k] = inputs[k].data() + step * lanes * inputs[k].element_bytes();
    SHOAL_TRY(reducer.Step(accumulators, elements, lanes));
  }
  return {};
}

// If there are few results and very many elements, folds adjacent segments in parallel lanes, then the segments'
// results one after the other. Valid for associative functions, which reduce requires. Returns the number of folded
// steps. Does not change the remaining steps of `inputs`.
constexpr int64_t kMinSegmentedSteps = int64_t{1} << 16;
constexpr int64_t kTargetLanes = 1024;

Result<int64_t> FoldSegments(Reducer& reducer, std::span<Array> accumulators, std::span<const Array> inputs,
                             const Split& split) {
  if (split.steps < kMinSegmentedSteps || split.results == 0 || split.results >= kTargetLanes / 4) return 0;
  const int64_t segments = kTargetLanes / split.results;
  const int64_t length = split.steps / segments;
  // Step s of segment t has index t * length + s: [segment, step, result] becomes [step, segment, result].
  std::vector<Array> side_by_side, partial;
  for (const Array& input : inputs) {
    const int64_t results = split.results;
    side_by_side.push_back(Gathered(input, Dims{length, segments, results}, {0, {results, length * results, 1}}));
    partial.push_back(Gathered(side_by_side.back(), Dims{segments, results}, {0, {results, 1}}));
  }
  SHOAL_TRY(FoldSteps(reducer, partial, side_by_side, 1, length, segments * split.results));
  SHOAL_TRY(FoldSteps(reducer, accumulators, partial, 0, segments, split.results));
  return segments * length;
}

// XLA:CPU folds long dimensions in stages: first segments of up to 32 elements, each from the initial value, then their
// results, again from the initial value. This matters if each step rounds or the initial value is not neutral.
constexpr int64_t kSegmentLength = 32;

bool FoldsInStages(const Call& call, const Reducer& reducer, const Array& input, const Array& init) {
  if (reducer.count() != 1 || call.device.settings().numerics == Numerics::kWide) return false;
  if (call.device.plans().Of(*call.hlo.parent).is_loop_fusion) return false;
  if (!reducer.loop) return true;
  if (reducer.loop->ordered()) return true;
  // XLA leaves large sums of these types to a library.
  const bool is_large_sum = input.count() >= 4096 && reducer.loop->op() == Opcode::kAdd &&
                            (input.type() == ElementType::kF32 || input.type() == ElementType::kF64);
  return !is_large_sum && !reducer.loop->IsIdentityElement(init);
}

// Computes one stage for all dimensions. Divides the padding to full segments between the first and the last segment.
Result<Array> FoldStage(Reducer& reducer, const Array& input, const Array& init, Ints dimensions) {
  std::vector<WindowDim> dims;
  std::vector<int64_t> result_dims;
  for (int64_t d = 0; d < input.rank(); ++d) {
    WindowDim dim;
    if (Contains(dimensions, d)) dim.size = dim.stride = std::clamp<int64_t>(input.dim(d), 1, kSegmentLength);
    result_dims.push_back(CeilDiv(input.dim(d), dim.size));
    dim.pad_low = (result_dims.back() * dim.size - input.dim(d)) / 2;
    dims.push_back(dim);
  }
  const Window window{dims};
  SHOAL_ASSIGN(results, ReduceWindows(reducer, {&input, 1}, {&init, 1}, &window, result_dims));
  return std::move(results[0]);
}

bool HasLongDimension(const Array& input, Ints dimensions) {
  return input.count() > 0 &&
         std::any_of(dimensions.begin(), dimensions.end(), [&](int64_t d) { return input.dim(d) > kSegmentLength; });
}

}  // namespace

template <>
Result<Value> Evaluate<Opcode::kReduce>(Call& call) {
  Reducer reducer(call, *call.hlo[kToApply], Reducer::Role::kReduction);
  const size_t n = reducer.count();
  std::vector<Array> inputs = OperandsAs(call, 0, reducer.types);
  const std::vector<Array> inits = OperandsAs(call, n, reducer.types);
  Ints dimensions = call.hlo[kDimensions];
  if (FoldsInStages(call, reducer, inputs[0], inits[0])) {
    while (HasLongDimension(inputs[0], dimensions)) {
      SHOAL_ASSIGN(stage, FoldStage(reducer, inputs[0], inits[0], dimensions));
      inputs[0] = std::move(stage);
    }
  }
  const Split split = SplitDims(inputs[0], dimensions);
  // If only one element is folded, XLA treats the initial value as the function's identity.
  if (split.results > 0 && split.steps == 1 && inputs[0].count() == call.array(0).count()) {
    for (Array& input : inputs) input = input.WithDims(split.kept_sizes);
    return ResultOf(call.hlo, std::move(inputs));
  }
  std::vector<Array> accumulators;
  if (reducer.loop) {
    accumulators.push_back(ReduceByLoop(*reducer.loop, inputs[0], inits[0], split));
    return ResultOf(call.hlo, std::move(accumulators));
  }
  for (size_t i = 0; i < n; ++i) {
    inputs[i] = FoldedDimsFirst(inputs[i], split);
    accumulators.push_back(Filled(inits[i], split.kept_sizes));
  }
  SHOAL_ASSIGN(first, FoldSegments(reducer, accumulators, inputs, split));
  SHOAL_TRY(FoldSteps(reducer, accumulators, inputs, first, split.steps, split.results));
  return ResultOf(call.hlo, std::move(accumulators));
}

template <>
Result<Value> Evaluate<Opcode::kMap>(Call& call) {
  const Computation& to_apply = *call.hlo[kToApply];
  Ints dims;
  for (const Value& operand : call.operands)
    if (operand.array().rank() > 0) dims = operand.array().dims();
  Array result(to_apply.result_shape().element_type(), dims);
  std::vector<Array> inputs;
  std::vector<LanesIn> ins;
  for (const Value& operand : call.operands) {
    const bool is_scalar = operand.array().rank() == 0 && !dims.empty();
    inputs.push_back(is_scalar ? Filled(operand.array(), ToDims(dims)) : operand.array());
    ins.push_back({inputs.back().type(), inputs.back().data()});
  }
  const LanesOut outs[] = {{result.type(), result.mutable_data()}};
  SHOAL_TRY(call.device.RunLanes(call.hlo, to_apply, outs, ins, result.count()));
  return ResultOf(call.hlo, {std::move(result)});
}

}  // namespace shoal::internal
