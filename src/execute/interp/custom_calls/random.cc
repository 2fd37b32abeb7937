// Random number custom calls.
#include <algorithm>

#include "execute/interp/custom_calls/custom_call.h"
#include "kernels/algorithms/random_bits.h"

namespace shoal::internal {

// threefry2x32: (key 0, key 1, counter 0, counter 1) -> (bits 0, bits 1), element by element. In older calls, the
// number of elements is an extra first operand.
Result<Value> ThreeFryCall(Call& call) {
  std::span<Value> operands = call.operands;
  if (operands.size() == 5) operands = operands.subspan(1);
  const bool fits = operands.size() == 4 && std::all_of(operands.begin(), operands.end(), [&](const Value& operand) {
                      return operand.IsArray() && operand.array().type() == ElementType::kU32 &&
                             std::ranges::equal(operand.array().dims(), operands[0].array().dims());
                    });
  if (!fits) return ExecutionError(call.hlo, "threefry2x32 needs four u32 operands of equal sizes");
  std::span<const uint32_t> in[4];
  for (size_t i = 0; i < 4; ++i) in[i] = operands[i].array().As<uint32_t>();
  const Ints dims = operands[0].array().dims();
  Array first(ElementType::kU32, dims), second(ElementType::kU32, dims);
  std::span<uint32_t> x = first.Mutable<uint32_t>(), y = second.Mutable<uint32_t>();
  for (size_t i = 0; i < x.size(); ++i) {
    const std::array<uint32_t, 2> bits = ThreeFry({in[0][i], in[1][i]}, {in[2][i], in[3][i]});
    x[i] = bits[0];
    y[i] = bits[1];
  }
  Value value = Value::Tuple({std::move(first), std::move(second)});
  if (!Fits(value, call.hlo.shape()))
    return ExecutionError(call.hlo,
                   StrCat("threefry2x32 must return two arrays like its operands, got ", ToString(call.hlo.shape())));
  return value;
}

}  // namespace shoal::internal
