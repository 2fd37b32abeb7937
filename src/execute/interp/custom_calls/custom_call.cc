#include "execute/interp/custom_calls/custom_call.h"

#include <algorithm>
#include <cstring>

#include "core/base/settings.h"
#include "core/ops/control_flow.h"
#include "core/ops/custom_calls.h"
#include "execute/interp/device.h"
#include "kernels/arrays/floats.h"

namespace shoal::internal {
namespace {

using CustomCall = Op<Opcode::kCustomCall>;

Array GeneratedArray(std::string_view name, uint64_t leaf, const Shape& shape) {
  uint64_t hash = 0xcbf29ce484222325u + leaf;
  for (char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  Array array(shape.element_type(), shape.dims());
  const bool is_float = IsFloat(array.type()) || IsComplex(array.type());
  std::byte* out = array.mutable_data();
  for (int64_t i = 0; i < array.count(); ++i, out += array.element_bytes()) {
    const uint64_t mixed = (hash ^ (static_cast<uint64_t>(i) * 0x9e3779b97f4a7c15u)) * 0xd6e8feb86659fd93u;
    const double number = static_cast<double>(mixed >> 40) * 0x1p-24 - 0.5;  // in [-0.5, 0.5)
    if (array.type() == ElementType::kC64) {
      reinterpret_cast<float*>(out)[0] = static_cast<float>(number);
      reinterpret_cast<float*>(out)[1] = 0;
    } else if (array.type() == ElementType::kC128) {
      reinterpret_cast<double*>(out)[0] = number;
      reinterpret_cast<double*>(out)[1] = 0;
    } else if (is_float) {
      EncodeDoubles(array.type(), &number, out, 1);
    } else {
      std::memset(out, 0, static_cast<size_t>(array.element_bytes()));
      *out = static_cast<std::byte>((mixed >> 60) & 1u);
    }
  }
  return array;
}

std::string UnsupportedCall(const Instruction& hlo) {
  const std::string_view target = hlo[CustomCall::kTarget];
  const std::string hint = NextStep("to generate placeholder results", kSameCommand, {Setting("stub_custom_calls")});
  if (!HasTrait(hlo, kHostCallback)) return StrCat("unknown custom call \"", target, "\"", hint);
  return StrCat("custom call \"", target, "\" calls a function of the Python process that compiled the module, which shoal cannot run",
                hint);
}

}  // namespace

Value GeneratedValue(std::string_view name, uint64_t& leaf, const Shape& shape) {
  if (shape.IsBuffer()) return GeneratedValue(name, leaf, shape.element(0));
  if (shape.IsArray()) return GeneratedArray(name, leaf++, shape);
  if (!shape.IsTuple()) return Value();
  std::vector<Value> parts;
  for (const Shape* part : shape.elements()) parts.push_back(GeneratedValue(name, leaf, *part));
  return Value::Tuple(std::move(parts));
}

bool Fits(const Value& value, const Shape& shape) {
  if (value.IsPending()) return true;  // the done op checks the value
  if (shape.IsBuffer()) return Fits(value, shape.element(0));
  if (shape.IsTuple())
    return value.IsTuple() && value.elements().size() == shape.elements().size() &&
           std::equal(value.elements().begin(), value.elements().end(), shape.elements().begin(),
                      [](const Value& part, const Shape* declared) { return Fits(part, *declared); });
  if (!shape.IsArray()) return value.IsToken();
  if (!value.IsArray() || value.array().type() != shape.element_type() || value.array().rank() != shape.rank())
    return false;
  for (int d = 0; d < shape.rank(); ++d) {
    const int64_t size = value.array().dim(d);
    if (shape.is_dynamic(d) ? size > shape.dim(d) : size != shape.dim(d)) return false;
  }
  return true;
}

// custom-call: calls the function in the table row of the target.
template <>
Result<Value> Evaluate<Opcode::kCustomCall>(Call& call) {
  const std::string_view target = call.hlo[CustomCall::kTarget];
  if (const CustomCallRow* row = FindCustomCall(target)) return row->evaluate(call);
  const bool has_no_result = call.hlo.shape().LeafCount() == 0 && !call.hlo[CustomCall::kHasSideEffect];
  if (!call.device.settings().stub_custom_calls && (!has_no_result || HasTrait(call.hlo, kHostCallback)))
    return ExecutionError(call.hlo, UnsupportedCall(call.hlo));
  if (!has_no_result) ++call.device.stubs.try_emplace(target, Stub{&call.hlo, 0}).first->second.count;
  uint64_t leaf = 0;
  return GeneratedValue(call.hlo.name, leaf, call.hlo.shape());
}

}  // namespace shoal::internal
