// Custom calls that compilers insert as annotations. They forward their operand, or convert an array of dynamic size to
// its maximum size or back.
#include <algorithm>

#include "core/ops/control_flow.h"
#include "execute/interp/custom_calls/custom_call.h"
#include "execute/interp/device.h"
#include "kernels/arrays/strided.h"

namespace shoal::internal {
namespace {

std::string_view Target(const Call& call) { return call.hlo[Op<Opcode::kCustomCall>::kTarget]; }

// True if the call has `count` operands and all of them are arrays.
bool HasArrays(const Call& call, size_t count) {
  return call.operands.size() == count && std::all_of(call.operands.begin(), call.operands.end(),
                                                      [](const Value& operand) { return operand.IsArray(); });
}

// Returns the only operand itself, or a tuple of several operands.
Value OperandsAsValue(Call& call) {
  if (call.operands.size() == 1 && (!call.hlo.shape().IsTuple() || call.operands[0].IsTuple()))
    return std::move(call.operands[0]);
  std::vector<Value> parts(std::make_move_iterator(call.operands.begin()),
                           std::make_move_iterator(call.operands.end()));
  return Value::Tuple(std::move(parts));
}

// Returns an array of dimensions `dims` that contains the elements of `in` as far as they fit, and zeros elsewhere.
Array Corner(const Array& in, Dims dims) {
  Dims sizes = dims;
  for (size_t d = 0; d < dims.size(); ++d) sizes[d] = std::min(dims[d], in.dim(static_cast<int64_t>(d)));
  Array out = Array::Zeros(in.type(), AsInts(dims));
  CopyStrided(AsInts(sizes), in.element_bytes(), out.mutable_data(), {0, RowMajorStrides(out.dims())}, in.data(),
              {0, RowMajorStrides(in.dims())});
  return out;
}

}  // namespace

// Sharding, MoveToHost, Pin, …: the result is the operand.
Result<Value> PassThrough(Call& call) {
  Value value = OperandsAsValue(call);
  if (!Fits(value, call.hlo.shape()))
    return ExecutionError(call.hlo, StrCat("the custom call \"", Target(call), "\" must keep its operand's shape, got ",
                                           ToString(call.hlo.shape())));
  return value;
}

// InspectSharding: a message to the compiler. It has no effect at run time.
Result<Value> IgnoreCall(Call& call) { return ZeroValue(call.hlo.shape()); }

// AllocateBuffer, CreateBuffer, __nop: memory that the module writes before it reads it. Returns zeros.
Result<Value> MakeBuffer(Call& call) {
  const Shape& shape = call.hlo.shape();
  return ZeroValue(ArrayIn(shape));
}

// PadToStatic: returns the operand, padded with zeros to its maximum size, and its size in each dimension.
Result<Value> PadToStatic(Call& call) {
  const Shape& shape = call.hlo.shape();
  const bool fits = HasArrays(call, 1) && shape.IsTuple() &&
                    shape.elements().size() == static_cast<size_t>(call.array(0).rank()) + 1 &&
                    shape.element(0).IsArray() && shape.element(0).rank() == call.array(0).rank();
  if (!fits)
    return ExecutionError(call.hlo, StrCat("PadToStatic must return an array and the size of each dimension, got ",
                                           ToString(shape)));
  const Array& in = call.array(0);
  std::vector<Value> parts = {Corner(in, ToDims(shape.element(0).dims()))};
  for (int64_t size : in.dims()) parts.push_back(Array::Scalar(ElementType::kS32, static_cast<int32_t>(size)));
  return Value::Tuple(std::move(parts));
}

// SliceToDynamic: returns the first elements of operand 0 in each dimension i; operand i + 1 is their number.
Result<Value> SliceToDynamic(Call& call) {
  if (!HasArrays(call, call.operands.size()) || call.operands.empty() ||
      call.operands.size() != static_cast<size_t>(call.array(0).rank()) + 1)
    return ExecutionError(call.hlo, StrCat("SliceToDynamic needs an array and a size for each of its dimensions, got ",
                                           call.operands.size(), " operands"));
  const Array& in = call.array(0);
  Dims sizes;
  for (int64_t d = 0; d < in.rank(); ++d) {
    const Array& size = call.array(static_cast<size_t>(d) + 1);
    if (size.count() != 1 || !IsInteger(size.type()))
      return ExecutionError(call.hlo, StrCat("sizes of SliceToDynamic must be integer scalars, got ", ToString(size)));
    sizes.push_back(std::clamp<int64_t>(IntAt(size, 0), 0, in.dim(d)));
  }
  return Value(Corner(in, std::move(sizes)));
}

// GetRngSeed: returns the random seed of the run.
Result<Value> GetRngSeed(Call& call) {
  return Value(Array::Scalar(ElementType::kU64, call.device.settings().random_seed));
}

namespace {

// Fails unless operands and result are integers of equal dimensions, with elements of these widths in bytes.
Status CheckX64(Call& call, size_t operands, int64_t operand_bytes, int64_t result_bytes) {
  const Shape& shape = call.hlo.shape();
  const bool fits = HasArrays(call, operands) && shape.IsArray() && IsInteger(shape.element_type()) &&
                    StorageBytes(shape.element_type()) == result_bytes &&
                    std::all_of(call.operands.begin(), call.operands.end(), [&](const Value& operand) {
                      return operand.array().element_bytes() == operand_bytes &&
                             std::ranges::equal(operand.array().dims(), shape.dims());
                    });
  if (fits) return {};
  return ExecutionError(call.hlo, StrCat(Target(call), " needs 64-bit integers, got ", ToString(shape)));
}

Result<Value> Half(Call& call, int shift) {
  SHOAL_TRY(CheckX64(call, 1, 8, 4));
  const Array& in = call.array(0);
  Array out(call.hlo.shape().element_type(), in.dims());
  for (size_t i = 0; i < static_cast<size_t>(in.count()); ++i)
    out.Mutable<uint32_t>()[i] = static_cast<uint32_t>(in.As<uint64_t>()[i] >> shift);
  return Value(std::move(out));
}

}  // namespace

// X64SplitLow, X64SplitHigh: one half of a 64-bit integer. X64Combine: the integer with the given halves.
Result<Value> X64SplitLow(Call& call) { return Half(call, 0); }
Result<Value> X64SplitHigh(Call& call) { return Half(call, 32); }
Result<Value> X64Combine(Call& call) {
  SHOAL_TRY(CheckX64(call, 2, 4, 8));
  const Array& low = call.array(0);
  const Array& high = call.array(1);
  Array out(call.hlo.shape().element_type(), low.dims());
  for (size_t i = 0; i < static_cast<size_t>(low.count()); ++i)
    out.Mutable<uint64_t>()[i] = low.As<uint32_t>()[i] | static_cast<uint64_t>(high.As<uint32_t>()[i]) << 32;
  return Value(std::move(out));
}

}  // namespace shoal::internal
