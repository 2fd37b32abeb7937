#include "cli/commands/comm.h"

#include "core/base/strings.h"
#include "core/ir/source_location.h"
#include "core/ops/op.h"
#include "present/reports/assumptions.h"
#include "present/reports/comm_report.h"

namespace shoal::internal {
namespace {

// A larger matrix would not fit into memory.
constexpr int64_t kMaxMatrixDevices = 4096;

// The source line of the collective, or else of the start or fusion that contains it.
std::string SourceLineOf(const LogicalCollective& use, const Module& module) {
  for (const Instruction* hlo : {use.hlo, use.start})
    if (const Metadata* metadata = (*hlo)[kMetadata])
      if (std::string line = FormatSourceLocation(*metadata, module.stack_frames); !line.empty()) return line;
  return "";
}

void FillRows(const ModuleFacts& facts, CommReport& report) {
  NodeSplits splits(report.devices_per_node);
  const std::vector<LogicalCollective>& all = facts.collectives().all;
  for (size_t i = 0; i < all.size(); ++i)
    report.rows.push_back({&all[i], all[i].MaxRingBytes(), all[i].MaxWireBytes(), splits.Of(all[i]),
                           facts.overlaps()[i], SourceLineOf(all[i], facts.module())});
  for (const Computation* computation : facts.executions().calls().ReachableFromEntry())
    for (const Instruction* hlo : computation->instructions)
      if (CallsComputations(*hlo) && CallKindOf(*hlo) == CallKind::kLoop) report.loops.push_back(hlo);
}

}  // namespace

int CommCommand(const CommFlags& flags) {
  Input input = ReadInput(flags.file, {flags.common.strict});
  if (input.module == nullptr) return FailOnInput(input, flags.common);
  const Module& module = *input.module;
  const Result<ExecutionOptions> options = flags.loops.ExecutionOptionsFor({&module});
  if (!options.ok()) return FailOnInput(input, options.diag(), flags.common);
  const ModuleFacts facts(module, {*options, flags.num_replicas, flags.num_partitions, std::nullopt});
  CommReport report{.file = flags.file,
                    .facts = &facts,
                    .devices_per_node = flags.devices_per_node,
                    .rows = {},
                    .loops = {},
                    .assumptions = AssumptionsOf(facts.executions()),
                    .matrix = !flags.matrix.empty(),
                    .top = flags.top};
  const std::vector<std::string>& more = facts.collectives().assumptions;
  report.assumptions.insert(report.assumptions.end(), more.begin(), more.end());
  if (report.matrix && facts.devices().grid.count() > kMaxMatrixDevices) {
    report.matrix = false;
    report.assumptions.push_back(StrCat("no matrix: it is limited to ", kMaxMatrixDevices, " devices"));
  }
  FillRows(facts, report);
  const bool csv = report.matrix && flags.matrix == "csv";
  const std::string text = csv ? CommMatrixCsv(report) : flags.common.json ? CommJson(report) : CommText(report);
  return Finish(input, text, flags.common);
}

}  // namespace shoal::internal
