#include "compile/program/routine.h"
#include "core/base/strings.h"

namespace shoal::internal {

std::string ToString(const Routine& routine, std::span<const size_t> numbers) {
  std::string out = StrCat("routine of ", routine.state_slots, " slots");
  if (routine.loop != nullptr)
    StrAppend(&out, ", while s", routine.predicate, " of block ", routine.condition, ": block ", routine.body);
  out += "\n";
  for (size_t i = 0; i < routine.slots.size(); ++i)
    StrAppend(&out, "  s", i, " ", Text(routine.slots[i].type), "[", routine.slots[i].count, "]",
              routine.slots[i].constant != nullptr                   ? " constant\n"
              : i < routine.state_slots && !routine.written[i] ? " unchanged\n"
                                                                     : "\n");
  static constexpr const char* kKinds[] = {"kernel", "copy", "while", "branch", "evaluate", "routine"};
  for (size_t b = 0; b < routine.blocks.size(); ++b) {
    StrAppend(&out, "  block ", b, "\n");
    for (const RoutineStatement& statement : routine.blocks[b]) {
      StrAppend(&out, "    ", kKinds[static_cast<size_t>(statement.kind)]);
      if (statement.kind == RoutineStatement::Kind::kEvaluate)
        StrAppend(&out, " ", Text(routine.evaluated[statement.kernel]->opcode), " as number ", statement.kernel, ":");
      for (int slot : statement.slots) StrAppend(&out, " s", slot);
      for (size_t block : statement.blocks) StrAppend(&out, " block ", block);
      if (statement.kind != RoutineStatement::Kind::kKernel)
        out += "\n";
      else if (numbers.empty())
        StrAppend(&out, ": ", ToString(routine.kernels[statement.kernel]));
      else
        StrAppend(&out, ": number ", numbers[statement.kernel], "\n");
    }
  }
  return out;
}

}  // namespace shoal::internal
