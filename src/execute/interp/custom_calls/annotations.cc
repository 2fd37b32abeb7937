// Custom calls that compilers leave for themselves: they say something about a value and leave it as it is, or change
// between an array of the size it has and one of the size it may have.
#include <algorithm>
#include <cstring>

#include "core/ops/control_flow.h"
#include "execute/interp/custom_calls/custom_call.h"
#include "execute/interp/device.h"
#include "kernels/arrays/strided.h"

namespace shoal::internal {
namespace {

std::string_view Target(const Call& call) { return call.hlo[Op<Opcode::kCustomCall>::kTarget]; }

// `count` operands, all of them arrays.
bool HasArrays(const Call& call, size_t count) {
  return call.operands.size() == count && std::all_of(call.operands.begin(), call.operands.end(),
                                                      [](const Value& operand) { return operand.IsArray(); });
}

// The operand, or a tuple of them where there are several.
Value Same(Call& call) {
  if (call.operands.size() == 1 && (!call.hlo.shape().IsTuple() || call.operands[0].IsTuple()))
    return std::move(call.operands[0]);
  std::vector<Value> parts(std::make_move_iterator(call.operands.begin()),
                           std::make_move_iterator(call.operands.end()));
  return Value::Tuple(std::move(parts));
}

// A copy of the corner [0, sizes) of `in` in the corner of zeros of dimensions `dims`.
Array Corner(const Array& in, Dims dims) {
  Dims sizes = dims;
  for (size_t d = 0; d < dims.size(); ++d) sizes[d] = std::min(dims[d], in.dim(static_cast<int64_t>(d)));
  Array out = Array::Zeros(in.type(), AsInts(dims));
  CopyStrided(AsInts(sizes), in.element_bytes(), out.mutable_data(), {0, RowMajorStrides(out.dims())}, in.data(),
              {0, RowMajorStrides(in.dims())});
  return out;
}

}  // namespace

// Sharding, MoveToHost, Pin, …: result = operand.
Result<Value> PassThrough(Call& call) {
  Value same = Same(call);
  if (!Fits(same, call.hlo.shape()))
    return ExecutionError(call.hlo, StrCat("the custom call \"", Target(call), "\" must give back its operand, got the shape ",
                                    ToString(call.hlo.shape())));
  return same;
}

// InspectSharding, which only the compiler hears.
Result<Value> Nothing(Call& call) { return ZeroValue(call.hlo.shape()); }

// AllocateBuffer, CreateBuffer, __nop: memory that is written before it is read; zeros here.
Result<Value> MakeBuffer(Call& call) {
  const Shape& shape = call.hlo.shape();
  return ZeroValue(shape.IsBuffer() ? shape.element(0) : shape);
}

// PadToStatic: (operand as large as it may become, its size in each dimension). What lies beyond is zero.
Result<Value> PadToStatic(Call& call) {
  const Shape& shape = call.hlo.shape();
  const bool fits = HasArrays(call, 1) && shape.IsTuple() &&
                    shape.elements().size() == static_cast<size_t>(call.array(0).rank()) + 1 &&
                    shape.element(0).IsArray() && shape.element(0).rank() == call.array(0).rank();
  if (!fits)
    return ExecutionError(call.hlo, StrCat("PadToStatic must give an array and the size of each of its dimensions, got ",
                                    ToString(shape)));
  const Array& in = call.array(0);
  std::vector<Value> parts = {Corner(in, ToDims(shape.element(0).dims()))};
  for (int64_t size : in.dims()) parts.push_back(Array::Scalar(ElementType::kS32, static_cast<int32_t>(size)));
  return Value::Tuple(std::move(parts));
}

// SliceToDynamic: the first operand i + 1 elements of operand 0 in each dimension i.
Result<Value> SliceToDynamic(Call& call) {
  if (!HasArrays(call, call.operands.size()) || call.operands.empty() ||
      call.operands.size() != static_cast<size_t>(call.array(0).rank()) + 1)
    return ExecutionError(call.hlo, StrCat("SliceToDynamic must have an array and a size for each of its dimensions, got ",
                                    call.operands.size(), " operands"));
  const Array& in = call.array(0);
  Dims sizes;
  for (int64_t d = 0; d < in.rank(); ++d) {
    const Array& size = call.array(static_cast<size_t>(d) + 1);
    if (size.count() != 1 || !IsInteger(size.type()))
      return ExecutionError(call.hlo, StrCat("SliceToDynamic must have sizes that are integers, got ", ToString(size)));
    sizes.push_back(std::clamp<int64_t>(IntAt(size, 0), 0, in.dim(d)));
  }
  return Value(Corner(in, std::move(sizes)));
}

// GetRngSeed: what the run was seeded with.
Result<Value> GetRngSeed(Call& call) {
  return Value(Array::Scalar(ElementType::kU64, call.device.settings().random_seed));
}

// X64SplitLow, X64SplitHigh, X64Combine: the halves of 64-bit integers.
Result<Value> X64(Call& call) {
  const bool combine = Target(call) == "X64Combine";
  const Shape& shape = call.hlo.shape();
  const bool fits = HasArrays(call, combine ? 2 : 1) && shape.IsArray() && IsInteger(shape.element_type()) &&
                    StorageBytes(shape.element_type()) == (combine ? 8 : 4) &&
                    std::all_of(call.operands.begin(), call.operands.end(), [&](const Value& operand) {
                      return operand.array().element_bytes() == (combine ? 4 : 8) &&
                             std::ranges::equal(operand.array().dims(), shape.dims());
                    });
  if (!fits) return ExecutionError(call.hlo, StrCat(Target(call), " must be of 64-bit integers, got ", ToString(shape)));
  const Array& in = call.array(0);
  Array out(shape.element_type(), in.dims());
  for (size_t i = 0; i < static_cast<size_t>(in.count()); ++i) {
    if (combine)
      out.Mutable<uint64_t>()[i] = in.As<uint32_t>()[i] | static_cast<uint64_t>(call.array(1).As<uint32_t>()[i]) << 32;
    else
      out.Mutable<uint32_t>()[i] =
          static_cast<uint32_t>(in.As<uint64_t>()[i] >> (Target(call) == "X64SplitHigh" ? 32 : 0));
  }
  return Value(std::move(out));
}

}  // namespace shoal::internal
