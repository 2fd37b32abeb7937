// scan: applies a computation step by step along a dimension and carries values from one step to the next.
#include "execute/interp/device.h"
#include "kernels/arrays/strided.h"

namespace shoal::internal {
namespace {

using Scan = Op<Opcode::kScan>;

// The slice at index t of dimension `dim`: its offset, and its dimensions, which exclude `dim`.
struct Slice {
  Dims sizes;
  Strided strided;
};

Slice SliceAt(Ints stack, int64_t dim, int64_t t) {
  const Dims strides = RowMajorStrides(stack);
  Slice slice;
  for (size_t d = 0; d < stack.size(); ++d) {
    if (static_cast<int64_t>(d) == dim) {
      slice.strided.offset = t * strides[d];
      continue;
    }
    slice.sizes.push_back(stack[d]);
    slice.strided.strides.push_back(strides[d]);
  }
  return slice;
}

Dims Stacked(Ints element, int64_t dim, int64_t steps) {
  Dims dims = ToDims(element);
  dims.insert(dims.begin() + dim, steps);
  return dims;
}

// The results of one step as a list: the elements of a tuple, or a single array.
std::vector<Value> PartsOf(Value result) {
  if (result.IsTuple()) return result.elements();
  return {std::move(result)};
}

// Number of steps: the size of the inputs along `dim`, or of the first output's declared shape if there are no inputs.
int64_t StepCount(const Call& call, size_t inputs, int64_t dim) {
  if (inputs > 0) return call.array(0).dim(dim);
  return FirstElement(call.hlo.shape()).dim(dim);
}

// An output of a scan that has zero steps.
Array EmptyOutput(const Shape& declared, int64_t dim, int64_t steps) {
  Dims dims = ToDims(declared.dims());
  dims[static_cast<size_t>(dim)] = steps;
  return Array::Zeros(declared.element_type(), AsInts(dims));
}

}  // namespace

template <>
Result<Value> Evaluate<Opcode::kScan>(Call& call) {
  const auto carries = static_cast<size_t>(call.hlo[Scan::kNumCarries]);
  const size_t inputs = call.operands.size() - carries;
  const int64_t dim = call.hlo[kDimensions][0];
  const int64_t steps = StepCount(call, inputs, dim);
  const Shape& shape = call.hlo.shape();
  const size_t outputs = (shape.IsTuple() ? shape.elements().size() : 1) - carries;

  std::vector<Value> state(call.operands.begin() + static_cast<int64_t>(inputs), call.operands.end());
  std::vector<Array> stacks(outputs);
  for (int64_t step = 0; step < steps; ++step) {
    const int64_t t = call.hlo[Scan::kIsReverse] ? steps - 1 - step : step;
    std::vector<Value> arguments;
    for (size_t i = 0; i < inputs; ++i) {
      Slice slice = SliceAt(call.array(i).dims(), dim, t);
      arguments.push_back(Gathered(call.array(i), slice.sizes, slice.strided));
    }
    for (Value& carry : state) arguments.push_back(std::move(carry));
    SHOAL_ASSIGN(result, call.device.Run(*call.hlo[kToApply], std::move(arguments)));
    call.device.CountIteration();
    std::vector<Value> parts = PartsOf(std::move(result));
    for (size_t i = 0; i < outputs; ++i) {
      const Array& output = parts[i].array();
      if (step == 0) stacks[i] = Array(output.type(), Stacked(output.dims(), dim, steps));
      const Slice slice = SliceAt(stacks[i].dims(), dim, t);
      CopyStrided(output.dims(), output.element_bytes(), stacks[i].mutable_data(), slice.strided, output.data(),
                  {0, RowMajorStrides(output.dims())});
    }
    state.assign(parts.begin() + static_cast<int64_t>(outputs), parts.end());
  }

  std::vector<Value> results;
  for (size_t i = 0; i < outputs; ++i) {
    const Shape& declared = shape.IsTuple() ? shape.element(static_cast<int64_t>(i)) : shape;
    results.push_back(steps == 0 ? EmptyOutput(declared, dim, steps) : std::move(stacks[i]));
  }
  for (Value& carry : state) results.push_back(std::move(carry));
  return shape.IsTuple() ? Value::Tuple(std::move(results)) : std::move(results[0]);
}

}  // namespace shoal::internal
