// Whether an op may write its result over an operand that nobody needs after it.
#pragma once

#include "ir/users.h"

namespace shoal {

// Whose rules for buffers hold.
enum class Backend : uint8_t { kCpu, kGpu, kTpu };
// By what the module's text shows: tiled layouts are a TPU's, and only GPU's modules have its backend_configs and
// calls. A module that shows neither counts as a GPU's unless it is scheduled.
Backend BackendOf(const Module& module);

// A part of an instruction's value.
struct ValuePart {
  const Instruction& hlo;
  ShapeIndex index;
  const Shape& shape;
};

class Overwriting {
 public:
  explicit Overwriting(Backend backend) : backend_(backend) {}
  // `operand.hlo` is an operand of `result.hlo`.
  bool IsAllowed(const ValuePart& operand, const ValuePart& result);

 private:
  std::optional<bool> GpuAllows(const ValuePart& operand, const ValuePart& result);
  bool GpuFusionAllows(const ValuePart& operand, const ValuePart& fusion);
  // All that comes of a fusion's parameter is elementwise.
  bool IsElementwiseFrom(const Instruction& parameter);
  bool FusionAllows(const ValuePart& operand, const Instruction& fusion);

  Backend backend_;
  Users users_;
};

}  // namespace shoal
