#include "kernels/elementwise/element_loops.h"

#include <algorithm>

#include "kernels/arrays/floats.h"
#include "kernels/elementwise/convert_loops.h"
#include "kernels/elementwise/kernel_loops.h"

namespace shoal::internal {
namespace {

constexpr int64_t kBlock = 256;

bool IsNarrowInt(ElementType type) { return IsInteger(type) && BitWidth(type) < 8; }

// For narrow floats: widens the operands to f32, runs the inner loop and rounds the result.
void WidenedLoop(const ElementLoop& kernel, std::byte* out, const std::byte* const* in, int64_t n) {
  float wide[3][kBlock], result[kBlock];
  const std::byte* inner[3];
  const int out_width = StorageBytes(kernel.result);
  for (int64_t start = 0; start < n; start += kBlock) {
    const int64_t count = std::min(kBlock, n - start);
    for (int i = 0; i < kernel.operand_count; ++i) {
      const ElementType type = kernel.operands[i];
      inner[i] = in[i] + start * StorageBytes(type);
      if (!IsNarrowFloat(type)) continue;
      DecodeFloats(type, inner[i], wide[i], count);
      inner[i] = reinterpret_cast<const std::byte*>(wide[i]);
    }
    std::byte* to = out + start * out_width;
    if (!IsNarrowFloat(kernel.result)) {
      kernel.inner(kernel, to, inner, count);
    } else {
      kernel.inner(kernel, reinterpret_cast<std::byte*>(result), inner, count);
      EncodeFloats(kernel.result, result, to, count);
    }
  }
}

// For integers narrower than a byte: computes in eight bits and truncates the result to its width. Bitwise ops see only
// the type's bits.
void NarrowIntLoop(const ElementLoop& kernel, std::byte* out, const std::byte* const* in, int64_t n) {
  uint8_t masked[2][kBlock];
  const std::byte* inner[3] = {};
  const auto mask = static_cast<uint8_t>((1 << BitWidth(kernel.operands[0])) - 1);
  for (int64_t start = 0; start < n; start += kBlock) {
    const int64_t count = std::min(kBlock, n - start);
    for (int i = 0; i < kernel.operand_count; ++i) inner[i] = in[i] + start;
    for (int i = 0; i < kernel.operand_count && kernel.masks_operands; ++i) {
      for (int64_t k = 0; k < count; ++k) masked[i][k] = static_cast<uint8_t>(inner[i][k]) & mask;
      inner[i] = reinterpret_cast<const std::byte*>(masked[i]);
    }
    kernel.inner(kernel, out + start, inner, count);
    if (kernel.counts_zeros)
      for (int64_t k = 0; k < count; ++k)
        out[start + k] = static_cast<std::byte>(static_cast<int>(out[start + k]) - 8 + BitWidth(kernel.operands[0]));
  }
  if (kernel.result != ElementType::kPred) WrapNarrowInts(kernel.result, out, n);
}

// An arithmetic shift copies the most significant of the type's bits, even for unsigned types.
void SignedShiftLoop(const ElementLoop& kernel, std::byte* out, const std::byte* const* in, int64_t n) {
  std::byte extended[kBlock];
  const int unused = 8 - BitWidth(kernel.operands[0]);
  for (int64_t start = 0; start < n; start += kBlock) {
    const int64_t count = std::min(kBlock, n - start);
    for (int64_t k = 0; k < count; ++k) {
      const auto top = static_cast<int8_t>(static_cast<uint8_t>(in[0][start + k]) << unused);
      extended[k] = static_cast<std::byte>(top >> unused);
    }
    const std::byte* const inner[] = {extended, in[1] + start};
    NarrowIntLoop(kernel, out + start, inner, count);
  }
}

// Selects the loop that wraps the inner loop, as the types require.
void Finish(ElementLoop& kernel) {
  bool narrow_float = IsNarrowFloat(kernel.result), narrow_int = false;
  for (int i = 0; i < kernel.operand_count; ++i) {
    narrow_float |= IsNarrowFloat(kernel.operands[i]);
    narrow_int |= IsNarrowInt(kernel.operands[i]);
  }
  kernel.loop = narrow_float ? &WidenedLoop : narrow_int ? &NarrowIntLoop : kernel.inner;
}

template <ComparisonDirection direction, class T>
void CompareLoop(const ElementLoop&, std::byte* out, const std::byte* const* in, int64_t n) {
  Numbers b;
  auto* results = reinterpret_cast<uint8_t*>(out);
  for (int64_t i = 0; i < n; ++i)
    results[i] = Op<Opcode::kCompare>::Apply(b, direction, Load<T>(in[0], i), Load<T>(in[1], i)) ? 1 : 0;
}

// -nan < -inf < … < -0 < 0 < … < inf < nan: the order of the bits as integers, inverted for negative numbers.
template <ComparisonDirection direction, class T>
void TotalOrderLoop(const ElementLoop& kernel, std::byte* out, const std::byte* const* in, int64_t n) {
  if constexpr (!std::is_floating_point_v<T>) {
    CompareLoop<direction, T>(kernel, out, in, n);
  } else {
    using Key = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
    auto key = [](const std::byte* data, int64_t i) {
      const Key bits = Load<Key>(data, i);
      return bits < 0 ? static_cast<Key>(bits ^ std::numeric_limits<Key>::max()) : bits;
    };
    Numbers b;
    auto* results = reinterpret_cast<uint8_t*>(out);
    for (int64_t i = 0; i < n; ++i)
      results[i] = Op<Opcode::kCompare>::Apply(b, direction, key(in[0], i), key(in[1], i)) ? 1 : 0;
  }
}

template <size_t... direction>
ElementLoop::Loop CompareLoopOf(ElementType type, ComparisonDirection requested, bool total,
                           std::index_sequence<direction...>) {
  return WithNativeType(type, [&]<class T>() -> ElementLoop::Loop {
    static constexpr ElementLoop::Loop kLoops[][2] = {{&CompareLoop<static_cast<ComparisonDirection>(direction), T>,
                                                  &TotalOrderLoop<static_cast<ComparisonDirection>(direction), T>}...};
    return kLoops[static_cast<size_t>(requested)][total ? 1 : 0];
  });
}

ElementLoop ElementLoopForCompare(const Instruction& hlo) {
  using Compare = Op<Opcode::kCompare>;
  const ElementType type = hlo.operand_shape(0).element_type();
  ElementLoop kernel{.result = ElementType::kPred, .operands = {type, type}, .operand_count = 2};
  kernel.inner = CompareLoopOf(type, hlo[Compare::kDirection], hlo[Compare::kOrder] == ComparisonOrder::kTotal,
                               std::make_index_sequence<std::size(EnumNames<ComparisonDirection>::kNames)>());
  Finish(kernel);
  return kernel;
}

template <class T>
void ClampLoop(const ElementLoop&, std::byte* out, const std::byte* const* in, int64_t n) {
  if constexpr (!kIsComplex<T>) {
    Numbers b;
    auto* results = reinterpret_cast<Stored<T>*>(out);
    for (int64_t i = 0; i < n; ++i)
      results[i] = Op<Opcode::kClamp>::Apply(b, Load<T>(in[0], i), Load<T>(in[1], i), Load<T>(in[2], i));
  }
}

ElementLoop ElementLoopForClamp(const Instruction& hlo) {
  const ElementType type = hlo.operand_shape(1).element_type();
  ElementLoop kernel{.result = type, .operands = {type, type, type}, .operand_count = 3};
  kernel.inner = WithNativeType(type, []<class T>() -> ElementLoop::Loop { return &ClampLoop<T>; });
  Finish(kernel);
  return kernel;
}

// Selects bits, independent of the element type.
template <class T>
void SelectLoop(const ElementLoop&, std::byte* out, const std::byte* const* in, int64_t n) {
  Numbers b;
  auto* results = reinterpret_cast<T*>(out);
  for (int64_t i = 0; i < n; ++i)
    results[i] = Op<Opcode::kSelect>::Apply(b, Load<bool>(in[0], i), Load<T>(in[1], i), Load<T>(in[2], i));
}

ElementLoop ElementLoopForSelect(const Instruction& hlo) {
  static constexpr ElementLoop::Loop kLoops[] = {&SelectLoop<uint8_t>, &SelectLoop<uint16_t>, &SelectLoop<uint32_t>,
                                            &SelectLoop<uint64_t>, &SelectLoop<std::complex<double>>};
  const ElementType type = hlo.shape().element_type();
  const auto width = static_cast<unsigned>(StorageBytes(type));
  return {.loop = kLoops[std::countr_zero(width)],
          .result = type,
          .operands = {ElementType::kPred, type, type},
          .operand_count = 3};
}

ElementLoop LoopForOp(Opcode op, ElementType operand, ElementType result, size_t arity) {
  ElementLoop kernel{.result = result, .operands = {operand, operand}, .operand_count = static_cast<int8_t>(arity)};
  kernel.masks_operands = op == Opcode::kShiftRightLogical || op == Opcode::kPopulationCount || op == Opcode::kClz;
  kernel.counts_zeros = op == Opcode::kClz;
  kernel.inner = (arity == 1 ? UnaryLoops(op) : BinaryLoops(op))[NativeIndex(operand)];
  if (kernel.inner != nullptr) Finish(kernel);
  if (op == Opcode::kShiftRightArithmetic && kernel.loop == &NarrowIntLoop) kernel.loop = &SignedShiftLoop;
  return kernel;
}

struct SpecialOp {
  Opcode opcode;
  ElementLoop (*make)(const Instruction&);
};
constexpr SpecialOp kSpecialOps[] = {
    {Opcode::kClamp, &ElementLoopForClamp},
    {Opcode::kCompare, &ElementLoopForCompare},
    {Opcode::kConvert,
     [](const Instruction& hlo) {
       return ElementLoopForConvert(hlo.operand_shape(0).element_type(), hlo.shape().element_type());
     }},
    {Opcode::kReducePrecision, &ElementLoopForReducePrecision},
    {Opcode::kSelect, &ElementLoopForSelect},
    {Opcode::kStochasticConvert, &ElementLoopForStochasticConvert},
};

}  // namespace

ElementLoop ElementLoopForBinary(Opcode op, ElementType type) { return LoopForOp(op, type, type, 2); }

ElementLoop ElementLoopFor(const Instruction& hlo) {
  for (const SpecialOp& special : kSpecialOps)
    if (special.opcode == hlo.opcode) return special.make(hlo);
  return LoopForOp(hlo.opcode, hlo.operand_shape(0).element_type(), hlo.shape().element_type(), hlo.operand_count());
}

Array Converted(const Array& array, ElementType type) {
  if (array.type() == type) return array;
  Array out(type, array.dims());
  const std::byte* in = array.data();
  ElementLoopForConvert(array.type(), type).Run(out.mutable_data(), &in, array.count());
  return out;
}

}  // namespace shoal::internal
