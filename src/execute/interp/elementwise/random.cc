// Random numbers. rng-bit-generator and rng-get-and-update-state are bit-identical to XLA. rng uses the seed of the
// run, because HLO does not define its numbers.
#include "core/ops/random.h"
#include "execute/interp/device.h"
#include "kernels/algorithms/random_bits.h"
#include "kernels/algorithms/random_numbers.h"

namespace shoal::internal {
namespace {

// Creates a new stream of 64-bit words for one execution of rng on one device.
std::vector<uint64_t> DrawWords(Device& device, int64_t count) {
  uint64_t state[3] = {device.settings().random_seed, 0,
                       device.rng_calls++ << 20 ^ static_cast<uint64_t>(device.id()) << 1 ^ 1u};
  Array bits(ElementType::kU64, Dims{count});
  DrawPhilox(state, bits);
  std::span<const uint64_t> words = bits.As<uint64_t>();
  return {words.begin(), words.end()};
}

}  // namespace

// rng: uniform in [operand 0, operand 1), or normal with mean operand 0 and standard deviation operand 1.
template <>
Result<Value> Evaluate<Opcode::kRng>(Call& call) {
  const Shape& shape = call.hlo.shape();
  const ElementType type = shape.element_type();
  const bool normal = IsFloat(type) && call.hlo[Op<Opcode::kRng>::kDistribution] == RandomDistribution::kNormal;
  const std::vector<uint64_t> words = DrawWords(call.device, ElementCount(shape.dims()) + (normal ? 1 : 0));
  if (!IsFloat(type)) return Value(UniformIntegers(words, type, shape.dims(), call.array(0), call.array(1)));
  auto& draw = normal ? NormalFloats : UniformFloats;
  return Value(draw(words, type, shape.dims(), NumberAt(call.array(0), 0), NumberAt(call.array(1), 0)));
}

// rng-bit-generator: computes (new state, random bits) from the state in operand 0.
template <>
Result<Value> Evaluate<Opcode::kRngBitGenerator>(Call& call) {
  const bool threefry = call.hlo[Op<Opcode::kRngBitGenerator>::kGenerator] == RandomAlgorithm::kThreeFry;
  const Shape& shape = call.hlo.shape();
  const bool has_bits = !shape.IsTuple() || (shape.elements().size() == 2 && shape.element(1).IsArray());
  if (!has_bits || !call.operands[0].IsArray())
    return ExecutionError(call.hlo, StrCat("must map a state to random bits, got ", ToString(shape), " from ",
                                           ToString(call.hlo.operand_shape(0))));
  const Shape& bits_shape = shape.IsTuple() ? shape.element(1) : shape;
  Array state = std::move(call.operands[0].array());
  if (state.type() != ElementType::kU64 || state.rank() != 1 || state.count() < 2 || state.count() > (threefry ? 2 : 3))
    return ExecutionError(call.hlo,
                   StrCat("the state must be u64[2]", threefry ? "" : " or u64[3]", ", got ", ToString(state)));
  if (!IsInteger(bits_shape.element_type()) && !IsFloat(bits_shape.element_type()))
    return ExecutionError(call.hlo, StrCat("random bits must be integers or floats, got ", ToString(bits_shape)));
  Array bits(bits_shape.element_type(), bits_shape.dims());
  std::span<uint64_t> words = state.Mutable<uint64_t>();
  if (threefry)
    DrawThreeFry(words.first<2>(), bits);
  else
    DrawPhilox(words, bits);
  if (!shape.IsTuple()) return Value(std::move(bits));
  return Value::Tuple({std::move(state), std::move(bits)});
}

// rng-get-and-update-state: returns this instruction's state on this device, then adds delta to it.
template <>
Result<Value> Evaluate<Opcode::kRngGetAndUpdateState>(Call& call) {
  constexpr unsigned __int128 kFirst = 0x7012395;  // the initial state in XLA's CPU and GPU runtimes
  unsigned __int128& state = call.device.rng_states.try_emplace(&call.hlo, kFirst).first->second;
  Array words(ElementType::kU64, Dims{2});
  words.Mutable<uint64_t>()[0] = static_cast<uint64_t>(state);
  words.Mutable<uint64_t>()[1] = static_cast<uint64_t>(state >> 64);
  state += static_cast<unsigned __int128>(static_cast<__int128>(call.hlo[Op<Opcode::kRngGetAndUpdateState>::kDelta]));
  return Value(std::move(words));
}

}  // namespace shoal::internal
