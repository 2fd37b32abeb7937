// Ops that generate random numbers.
#pragma once

#include "core/ops/attrs.h"
#include "core/ops/rules.h"

namespace shoal::internal {

struct Random : OpBase {
  static constexpr OpClass kClass = OpClass::kRandom;
};

enum class RandomDistribution : uint8_t { kInvalid, kUniform, kNormal };
template <>
struct EnumNames<RandomDistribution> {
  static constexpr std::string_view kNames[] = {"rng_invalid", "rng_uniform", "rng_normal"};
};

// rng: uniform in [operand0, operand1), or normal with mean operand0 and deviation operand1.
template <>
struct Op<Opcode::kRng> : Random {
  static constexpr Attr<RandomDistribution> kDistribution{"distribution"};
  static constexpr std::array kAttrs{Required(kDistribution)};
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static void Cost(const Instruction& hlo, OpCostBuilder& builder);
};

enum class RandomAlgorithm : uint8_t { kDefault, kThreeFry, kPhilox };
template <>
struct EnumNames<RandomAlgorithm> {
  static constexpr std::string_view kNames[] = {"rng_default", "rng_three_fry", "rng_philox"};
};

// rng-bit-generator: (new state, random bits) from the state in operand0.
template <>
struct Op<Opcode::kRngBitGenerator> : Random {
  static constexpr Attr<RandomAlgorithm> kGenerator{"algorithm"};
  static constexpr std::array kAttrs{Required(kGenerator)};
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static void Cost(const Instruction& hlo, OpCostBuilder& builder);
};

// rng-get-and-update-state: returns the device's global state, then adds delta to it.
template <>
struct Op<Opcode::kRngGetAndUpdateState> : Random {
  static constexpr Attr<int64_t> kDelta{"delta"};
  static constexpr std::array kAttrs{Required(kDelta)};
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
};

}  // namespace shoal::internal
