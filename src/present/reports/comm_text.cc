#include <algorithm>
#include <cmath>

#include "core/base/printable.h"
#include "core/base/settings.h"
#include "core/base/strings.h"
#include "core/base/units.h"
#include "core/ir/sizes.h"
#include "core/ops/op.h"
#include "present/reports/comm_totals.h"
#include "present/reports/table.h"

namespace shoal::internal {
namespace {

// With more devices than this, the matrix has a row per node.
constexpr int64_t kMaxColumns = 32;

std::string Nodes(const NodeSplit& split) { return split.inside() ? "intra-node" : StrCat(split.nodes, " nodes"); }

std::string OverlapText(const CommRow& row) {
  if (!row.use->async()) return "sync";
  if (row.overlap.nothing()) return "async, no overlap";
  const std::string flops = FormatSi(row.overlap.flops);
  return StrCat("async, ", Pluralize(row.overlap.instructions, "op"), ", ", flops,
                flops.find(' ') == std::string::npos ? " flop" : "flop",
                row.overlap.crosses_iteration ? ", into next iteration" : "");
}

std::vector<std::string> Row(const CommRow& row) {
  const LogicalCollective& use = *row.use;
  return {std::string(use.start->name),
          std::string(Text(use.kind)),
          FormatSi(use.times),
          FormatBytes(static_cast<double>(use.payload_bytes)),
          FormatBytes(use.times * static_cast<double>(row.ring_bytes)),
          FormatBytes(use.times * static_cast<double>(row.direct_bytes)),
          use.axis(),
          Nodes(row.split),
          OverlapText(row),
          row.line};
}

// The first rows of a sorted report, otherwise the rows with the most traffic, in execution order.
std::vector<const CommRow*> TopRows(const CommReport& report) {
  std::vector<const CommRow*> rows;
  for (const CommRow& row : report.rows) rows.push_back(&row);
  if (report.top == 0 || std::ssize(rows) <= report.top) return rows;
  auto bytes = [](const CommRow* row) { return row->use->times * static_cast<double>(row->direct_bytes); };
  if (report.sort == "order")
    std::stable_sort(rows.begin(), rows.end(), [&](auto* a, auto* b) { return bytes(a) > bytes(b); });
  rows.resize(static_cast<size_t>(report.top));
  std::sort(rows.begin(), rows.end());
  return rows;
}

std::string Ledger(const CommReport& report, const TextStyle& style) {
  Table table({{"collective", ElideMode::kMiddle, 3, 14},
               Column("kind").Droppable(),  // most names contain it
               ">count",
               ">payload",
               ">ring/step",
               ">direct/step",
               {"axis", ElideMode::kRight, 4, 16},
               "nodes",
               Column("overlaps", ElideMode::kRight, 1, 8).Droppable(),
               {"source", ElideMode::kPath, 2}});
  const std::vector<const CommRow*> rows = TopRows(report);
  for (const CommRow* row : rows) table.Add(Row(*row));
  std::string text = table.ToText(style);
  if (rows.size() < report.rows.size())
    StrAppend(&text, "(", report.rows.size() - rows.size(), report.sort == "order" ? " more with less traffic" : " more",
              "; ", Setting("top=0"), " shows all)\n");
  return text;
}

std::vector<std::string> TotalRow(const CommTotal& total) {
  return {total.name,           StrCat(total.collectives), FormatSi(total.times),
          FormatBytes(total.payload), FormatBytes(total.ring),         FormatBytes(total.direct)};
}

// Traffic between nodes, summed over all devices. The other tables are per device.
std::string InterNodeTable(const CommReport& report, const TextStyle& style) {
  if (report.facts->devices().grid.count() <= report.devices_per_node) return "";
  Table table({"between nodes, all devices", ">ring", ">direct"});
  CommTotal all;
  for (const CommTotal& total : CommTotals(report, CommKey::kKind)) {
    all.Add(total);
    if (total.between_ring > 0 || total.between_direct > 0)
      table.Add({total.name, FormatBytes(total.between_ring), FormatBytes(total.between_direct)});
  }
  table.Add({"total", FormatBytes(all.between_ring), FormatBytes(all.between_direct)});
  return StrCat("\n", table.ToText(style));
}

std::string Totals(const CommReport& report, CommKey key, const char* title, bool sum, const TextStyle& style) {
  Table table({Column(title, key == CommKey::kLine ? ElideMode::kPath : ElideMode::kRight, 1, 16), Column(">collectives").Droppable(),
               ">count", ">payload", ">ring", ">direct"});
  CommTotal all, rest;
  const std::vector<CommTotal> totals = CommTotals(report, key);
  for (size_t i = 0; i < totals.size(); ++i) {
    all.Add(totals[i]);
    const bool shown = report.top == 0 || static_cast<int64_t>(i) < report.top;
    if (shown) table.Add(TotalRow(totals[i]));
    if (!shown) rest.Add(totals[i]);
  }
  all.name = "total";
  rest.name = StrCat("(", std::ssize(totals) - report.top, " more)");
  if (rest.collectives > 0) table.Add(TotalRow(rest));
  if (sum) table.Add(TotalRow(all));
  return table.ToText(style);
}

std::string Matrix(const CommReport& report, const TextStyle& style) {
  const int64_t devices = report.facts->devices().grid.count();
  const bool by_node = devices > kMaxColumns;
  TrafficMatrix matrix = MatrixOf(report.facts->collectives(), devices, by_node ? report.devices_per_node : 1);
  const int64_t shown = std::min(matrix.size, kMaxColumns);
  std::vector<Column> columns{by_node ? "node to node" : "from \\ to"};
  for (int64_t to = 0; to < shown; ++to) columns.emplace_back(StrCat(">", to));
  Table table(std::move(columns));
  for (int64_t from = 0; from < shown; ++from) {
    std::vector<std::string> cells{StrCat(from)};
    for (int64_t to = 0; to < shown; ++to) cells.push_back(matrix.At(from, to) == 0 ? "-" : FormatBytes(matrix.At(from, to)));
    table.Add(std::move(cells));
  }
  std::string text = table.ToText(style);
  if (shown < matrix.size) StrAppend(&text, "(", matrix.size - shown, " more; ", Setting("matrix=csv"), " prints all)\n");
  return text;
}

}  // namespace

std::string CommText(const CommReport& report, const TextStyle& style) {
  const int64_t devices = report.facts->devices().grid.count();
  const int64_t nodes = CeilDiv(devices, report.devices_per_node);
  std::string text =
      StrCat(EscapeName(report.file), ": ", report.facts->devices().from, "; ", Pluralize(nodes, "node"), " of ", report.devices_per_node);
  if (report.facts->collectives().mesh->Axes().size() > 1) StrAppend(&text, "; mesh ", report.facts->collectives().mesh->ToText());
  text += "\n";
  if (report.rows.empty()) text += "no collectives\n";
  if (!report.rows.empty()) {
    StrAppend(&text, "\n", Ledger(report, style), "\n", Totals(report, CommKey::kKind, "kind", true, style), "\n",
              Totals(report, CommKey::kAxis, "axis", false, style));
    const bool lines = std::any_of(report.rows.begin(), report.rows.end(), [](auto& row) { return !row.line.empty(); });
    if (lines) StrAppend(&text, "\n", Totals(report, CommKey::kLine, "source", false, style));
    text += InterNodeTable(report, style);
    if (report.matrix) StrAppend(&text, "\n", Matrix(report, style));
  }
  StrAppend(&text, report.assumptions.empty() ? "" : "\n", NotesText(report.assumptions));
  return WrapToWidth(text, style);
}

std::string CommMatrixCsv(const CommReport& report) {
  const int64_t devices = report.facts->devices().grid.count();
  TrafficMatrix matrix = MatrixOf(report.facts->collectives(), devices);
  std::string text = "from";
  for (int64_t to = 0; to < devices; ++to) StrAppend(&text, ",", to);
  for (int64_t from = 0; from < devices; ++from) {
    StrAppend(&text, "\n", from);
    for (int64_t to = 0; to < devices; ++to)
      StrAppend(&text, ",", static_cast<int64_t>(std::llround(matrix.At(from, to))));
  }
  return text + "\n";
}

}  // namespace shoal::internal
