#include "present/reports/comm_report.h"

#include "analyze/facts/source_lines.h"
#include "core/base/strings.h"
#include "core/base/units.h"
#include "core/ops/op.h"
#include "core/ops/padded_gather.h"
#include "present/reports/assumptions.h"

namespace shoal::internal {
namespace {

// A larger matrix would not fit into memory.
constexpr int64_t kMaxMatrixDevices = 4096;

// The source line of the collective, or else of the start or fusion that contains it.
std::string SourceLineOf(const LogicalCollective& use, const SourceLines& sources) {
  std::string line = sources.Of(*use.hlo);
  return line.empty() ? sources.Of(*use.start) : line;
}

// A sentence about all-reduces that only gather; empty if there are none. They move twice the bytes of an all-gather: the
// reduction is half of an all-reduce.
std::string PaddedGathers(const ModuleFacts& facts) {
  const LogicalCollective* first = nullptr;
  int64_t count = 0;
  double bytes = 0;
  for (const LogicalCollective& use : facts.collectives().all) {
    if (!IsPaddedAllGather(*use.hlo)) continue;
    if (count++ == 0) first = &use;
    bytes += use.times * static_cast<double>(use.MaxRingBytes());
  }
  if (count == 0) return "";
  return StrCat(Pluralize(count, "all-reduce"), count == 1 ? " is an all-gather (" : " are all-gathers (",
                first->hlo->name, count == 1 ? "" : " and others",
                "): only the device's own part of the operand is not zero; an all-gather would receive ",
                FormatBytes(bytes / 2), " less per step");
}

void FillRows(const ModuleFacts& facts, CommReport& report) {
  NodeSplits splits(report.devices_per_node);
  const std::vector<LogicalCollective>& all = facts.collectives().all;
  for (size_t i = 0; i < all.size(); ++i)
    report.rows.push_back({&all[i], all[i].MaxRingBytes(), all[i].MaxWireBytes(), splits.Of(all[i]),
                           facts.overlaps()[i], SourceLineOf(all[i], facts.sources())});
  report.loops = facts.executions().Loops();
}

// The figure per step that orders the rows, the largest first.
double SortValue(const CommRow& row, std::string_view key) {
  if (key == "count") return row.use->times;
  const int64_t bytes = key == "payload" ? row.use->payload_bytes : key == "ring" ? row.ring_bytes : row.direct_bytes;
  return row.use->times * static_cast<double>(bytes);
}

void SortRows(std::vector<CommRow>& rows, std::string_view key) {
  if (key == "order") return;
  std::stable_sort(rows.begin(), rows.end(), [&](const CommRow& a, const CommRow& b) {
    return key == "name" ? a.use->hlo->name < b.use->hlo->name : SortValue(a, key) > SortValue(b, key);
  });
}

}  // namespace

CommReport CommReportOf(const ModuleFacts& facts, const std::string& file, const CommOptions& options) {
  CommReport report{.file = file,
                    .facts = &facts,
                    .devices_per_node = options.devices_per_node,
                    .rows = {},
                    .loops = {},
                    .assumptions = AssumptionsOf(facts),
                    .matrix = options.matrix,
                    .sort = options.sort,
                    .top = options.top};
  const std::vector<std::string>& more = facts.collectives().assumptions;
  report.assumptions.insert(report.assumptions.end(), more.begin(), more.end());
  if (std::string note = PaddedGathers(facts); !note.empty()) report.assumptions.push_back(std::move(note));
  if (report.matrix && facts.devices().grid.count() > kMaxMatrixDevices) {
    report.matrix = false;
    report.assumptions.push_back(StrCat("no matrix: it is limited to ", kMaxMatrixDevices, " devices"));
  }
  FillRows(facts, report);
  SortRows(report.rows, report.sort);
  return report;
}

}  // namespace shoal::internal
