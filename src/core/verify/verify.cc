#include "core/verify/verify.h"

#include "core/verify/checks.h"

namespace shoal::internal {
namespace {

// What is checked. A rule's id begins with its family's name, but for rules of single ops, which are named
// after them.
struct Family {
  std::string_view name;
  void (*check)(VerifierContext&);
  std::string_view what;
};
constexpr Family kFamilies[] = {
    {"shape", CheckInstructions, "each op's own rules; the declared shape is the one that follows from them"},
    {"layout", CheckLayouts, "layouts fit their shapes"},
    {"entry", CheckEntry, "entry_computation_layout is that of the entry computation"},
    {"thread", CheckThreads, "control flow and fusions stay on their thread"},
    {"fused", CheckFusions, "fused computations belong to one fusion and are used whole"},
    {"schedule", CheckSchedule, "in a scheduled module, what is used comes before its users"},
    {"async", CheckAsync, "whatever is started is done, once"},
    {"alias", CheckAliases, "input_output_alias and buffer_donor name arrays that can share memory"},
    {"channel", CheckChannels, "both ends of a transfer agree"},
    {"groups", CheckGroups, "replica groups and source-target pairs name each device once"},
    {"sharding", CheckShardings, "shardings fit their shapes and the module's devices"},
    {"buffer", CheckBuffers, "b(…) is used where it may be, and written once"},
};

}  // namespace

void Verify(Module& module, Diags& diags) {
  VerifierContext inspection(module);
  for (const Family& family : kFamilies) family.check(inspection);
  inspection.MoveTo(diags);
}

}  // namespace shoal::internal
