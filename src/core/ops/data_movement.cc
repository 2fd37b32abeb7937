#include "core/ops/data_movement.h"

#include "core/ops/families.h"

namespace shoal::internal {

std::span<Instruction* const> MovedOperands(const Instruction& hlo) {
  const std::span<Instruction* const> all(hlo.operands.begin(), hlo.operands.end());
  const auto part = [&](size_t first, size_t count) {
    return all.size() < first + count ? std::span<Instruction* const>() : all.subspan(first, count);
  };
  switch (hlo.opcode) {
    case Opcode::kBitcast:
      return hlo.operand_count() == 1 && hlo.operand_shape(0).element_type() == hlo.shape().element_type() ? all : part(0, 0);
    case Opcode::kBroadcast:
    case Opcode::kCollectiveBroadcast:
    case Opcode::kCollectivePermute:
    case Opcode::kCopy:
    case Opcode::kReshape:
    case Opcode::kReverse:
    case Opcode::kSlice:
    case Opcode::kTranspose:
    case Opcode::kAllGather:
    case Opcode::kAllToAll:
    case Opcode::kConcatenate: return all;
    case Opcode::kDynamicSlice:
    case Opcode::kGather: return part(0, 1);
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kPad: return part(0, 2);
    case Opcode::kSelect: return part(1, 2);
    default: return part(0, 0);
  }
}

}  // namespace shoal::internal
