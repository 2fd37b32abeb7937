// Decides whether an op may write its result over an operand that has no later use.
#pragma once

#include "core/ir/users.h"
#include "core/ops/backend.h"

namespace shoal::internal {

// A part of an instruction's value.
struct ValuePart {
  const Instruction& hlo;
  ShapeIndex index;
  const Shape& shape;
};

class BufferReuse {
 public:
  explicit BufferReuse(Backend backend) : backend_(backend) {}
  // Precondition: `operand.hlo` is an operand of `result.hlo`.
  bool CanReuseOperand(const ValuePart& operand, const ValuePart& result);

 private:
  std::optional<bool> GpuAllows(const ValuePart& operand, const ValuePart& result);
  bool GpuFusionAllows(const ValuePart& operand, const ValuePart& fusion);
  // True if all direct and indirect users of a fusion's parameter are elementwise.
  bool IsElementwiseFrom(const Instruction& parameter);
  bool FusionAllows(const ValuePart& operand, const Instruction& fusion);

  Backend backend_;
  Users users_;
};

}  // namespace shoal::internal
