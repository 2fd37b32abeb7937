#include "execute/interp/reduction/reducer.h"

#include <algorithm>

namespace shoal::internal {

Reducer::Reducer(const Call& call, const Computation& computation, Role role)
    : hlo(call.hlo), computation(computation), device(call.device) {
  const size_t n = computation.parameters.size() / 2;
  for (size_t i = 0; i < n; ++i) types.push_back(computation.parameters[i]->shape().element_type());
  const LaneFunction* lanes = device.plans().Of(computation).lanes.get();
  if (n == 1 && lanes != nullptr && lanes->binary_op()) {
    const bool is_narrow = IsFloat(types[0]) && BitWidth(types[0]) < 32;
    if (is_narrow && role == Role::kReduction && device.settings().numerics == Numerics::kWide)
      loop = ReductionLoop::Of(*lanes->binary_op(), ElementType::kF32);
    if (loop) types[0] = ElementType::kF32;
    if (!loop) loop = ReductionLoop::Of(*lanes->binary_op(), types[0]);
  }
}

Status Reducer::Step(std::span<Array> accumulators, std::span<const std::byte* const> elements, int64_t n) {
  absl::InlinedVector<LanesOut, 4> outs;
  absl::InlinedVector<LanesIn, 8> ins;
  results_.resize(count());
  for (size_t k = 0; k < count(); ++k) {
    Ints dims = accumulators[k].dims(), old = results_[k].dims();
    const bool fits = results_[k].type() == types[k] && std::equal(dims.begin(), dims.end(), old.begin(), old.end());
    if (!fits) results_[k] = Array(types[k], dims);
    outs.push_back({types[k], results_[k].mutable_data()});
    ins.push_back({types[k], accumulators[k].data()});
  }
  for (size_t k = 0; k < count(); ++k) ins.push_back({types[k], elements[k]});
  SHOAL_TRY(device.RunLanes(hlo, computation, outs, ins, n));
  for (size_t k = 0; k < count(); ++k) std::swap(results_[k], accumulators[k]);
  return {};
}

std::vector<Array> OperandsAs(const Call& call, size_t first, std::span<const ElementType> types) {
  std::vector<Array> arrays;
  for (size_t i = 0; i < types.size(); ++i) {
    const Array& array = call.array(first + i);
    arrays.push_back(array.type() == types[i] ? array : Converted(array, types[i]));
  }
  return arrays;
}

Value ResultOf(const Instruction& hlo, std::vector<Array> arrays) {
  const bool is_tuple = hlo.shape().IsTuple();
  std::vector<Value> values;
  for (size_t i = 0; i < arrays.size(); ++i) {
    const Shape& shape = is_tuple ? hlo.shape().element(static_cast<int64_t>(i)) : hlo.shape();
    const bool fits = arrays[i].type() == shape.element_type();
    values.push_back(fits ? std::move(arrays[i]) : Converted(arrays[i], shape.element_type()));
  }
  return is_tuple ? Value::Tuple(std::move(values)) : std::move(values[0]);
}

Array Filled(const Array& scalar, Dims dims) {
  Strided everywhere{0, Dims(dims.size(), 0)};
  return Gathered(scalar, std::move(dims), everywhere);
}

}  // namespace shoal::internal
