#include "core/verify/verify.h"

#include "core/verify/checks.h"

namespace shoal::internal {
namespace {

// The families of rules. A rule id begins with the name of its family; the rules of a single op begin with the name of
// the op.
struct Family {
  std::string_view name;
  void (*check)(VerifierContext&);
  std::string_view description;
};
constexpr Family kFamilies[] = {
    {"shape", CheckInstructions, "the rules of each op hold; the declared shape equals the inferred shape"},
    {"layout", CheckLayouts, "layouts are valid for their shapes"},
    {"entry", CheckEntry, "entry_computation_layout matches the entry computation"},
    {"thread", CheckThreads, "control flow and fusions run on the thread of their caller"},
    {"fused", CheckFusions, "a fused computation belongs to one fusion, and each of its instructions is used"},
    {"schedule", CheckSchedule, "in a scheduled module, operands come before their users"},
    {"async", CheckAsync, "every async start has exactly one done"},
    {"alias", CheckAliases, "input_output_alias and buffer_donor name arrays that can share memory"},
    {"channel", CheckChannels, "both ends of a transfer agree"},
    {"groups", CheckGroups, "replica groups and source-target pairs name each device once"},
    {"sharding", CheckShardings, "shardings are valid for their shapes and for the module's devices"},
    {"buffer", CheckBuffers, "buffers b(…) have one writer and are used only by ops that support them"},
};

}  // namespace

void Verify(Module& module, Diags& diags) {
  VerifierContext context(module);
  for (const Family& family : kFamilies) family.check(context);
  context.MoveTo(diags);
}

}  // namespace shoal::internal
