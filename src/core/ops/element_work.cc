#include "core/ops/element_work.h"

#include "core/ops/families.h"
#include "core/ops/traits.h"

namespace shoal::internal {

bool HasElementWork(const Instruction& hlo) {
  switch (Info(hlo.opcode).op_class) {
    case OpClass::kElementwise:
    case OpClass::kReduction:
    case OpClass::kContraction:
    case OpClass::kGatherScatter:
      return !IsCopy(hlo);
    case OpClass::kIndexMap:
      return !IsReshape(hlo) && !IsCopy(hlo);
    case OpClass::kControlFlow:
      return IsFusion(hlo);
    default:
      return false;
  }
}

}  // namespace shoal::internal
