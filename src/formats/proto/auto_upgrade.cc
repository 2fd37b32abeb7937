#include "formats/proto/auto_upgrade.h"

#include <string_view>

namespace shoal::internal {
namespace {

// Each direction of a comparison was a separate op.
struct OldComparison {
  std::string_view opcode;
  const char* direction;
};
constexpr OldComparison kOldComparisons[] = {
    {"equal-to", "EQ"},     {"not-equal-to", "NE"},          {"greater-than-or-equal-to", "GE"},
    {"greater-than", "GT"}, {"less-than-or-equal-to", "LE"}, {"less-than", "LT"},
};

}  // namespace

void AutoUpgrade(proto::HloInstructionProto& instruction) {
  for (const OldComparison& old : kOldComparisons) {
    if (instruction.opcode() != old.opcode) continue;
    instruction.set_opcode("compare");
    instruction.set_comparison_direction(old.direction);
    break;
  }
  if (instruction.is_cross_program_prefetch() && !instruction.has_cross_program_prefetch_index())
    instruction.set_cross_program_prefetch_index(0);
  if (instruction.all_reduce_id() > 0 && instruction.channel_id() <= 0)
    instruction.set_channel_id(instruction.all_reduce_id());
}

}  // namespace shoal::internal
