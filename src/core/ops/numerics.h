// The rounding of sums, which HLO does not specify.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/ir/module.h"

namespace shoal::internal {

enum class Numerics : uint8_t {
  kXlaCpu,         // like XLA:CPU: reductions of f16 and bf16 round at every step, long ones in stages of 32 elements
  kXlaCpuYnnpack,  // like kXlaCpu; bf16 dots that XLA:CPU did not assign to YNNPACK also round at every step
  kWide,           // like GPU and TPU compilers: reductions of f16 and bf16 are summed in f32 and rounded once
};
inline constexpr std::string_view kNumerics[] = {"xla-cpu", "xla-cpu-ynnpack", "wide"};

inline std::string_view ToString(Numerics numerics) { return kNumerics[static_cast<size_t>(numerics)]; }
std::optional<Numerics> ParseNumerics(std::string_view name);

struct NumericsChoice {
  Numerics numerics = Numerics::kXlaCpu;
  std::string reason;  // "given", "fusion.3 is a YNNPACK fusion"
};

// Infers the numerics from features that identify the module's compiler. Assumes XLA:CPU if there are none.
NumericsChoice InferNumerics(const Module& module);

}  // namespace shoal::internal
