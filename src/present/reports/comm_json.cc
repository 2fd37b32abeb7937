#include "core/ops/op.h"
#include "present/reports/comm_totals.h"
#include "present/reports/traffic_json.h"

namespace shoal::internal {
namespace {

// Per-device traffic is listed for at most this many devices.
constexpr int64_t kMaxDevices = 1 << 16;

Json TotalsJson(const CommReport& report, CommKey key) {
  Json all = Json::array();
  for (const CommTotal& total : CommTotals(report, key))
    all.push_back({{"name", total.name},
                   {"collectives", total.collectives},
                   {"times", total.times},
                   {"payload_bytes", total.payload},
                   {"wire_bytes_ring", total.ring},
                   {"wire_bytes_direct", total.direct},
                   {"between_nodes_ring", total.between_ring},
                   {"between_nodes_direct", total.between_direct}});
  return all;
}

Json RowJson(const CommRow& row, int64_t participants) {
  const LogicalCollective& use = *row.use;
  Json overlap;
  if (use.async())
    overlap = {{"instructions", row.overlap.instructions},
               {"flops", row.overlap.flops},
               {"crosses_iteration", row.overlap.crosses_iteration}};
  const Metadata* metadata = (*use.hlo)[kMetadata];
  return {{"name", use.start->name},
          {"kind", Text(use.kind)},
          {"computation", use.start->parent->name},
          {"instruction", use.hlo->name},
          {"times", use.times},
          {"payload_bytes", use.payload_bytes},
          {"wire_bytes_ring", row.ring_bytes},
          {"wire_bytes_direct", row.direct_bytes},
          {"participants", participants},
          {"axis", use.participants->axis},
          {"nodes", row.split.nodes},
          {"between_nodes_ring", row.split.between_ring},
          {"between_nodes_direct", row.split.between_direct},
          {"async", use.async()},
          {"done", use.async() ? Json(use.done->name) : Json()},
          {"overlap", std::move(overlap)},
          {"source", row.line.empty() ? Json() : Json(row.line)},
          {"op_name", metadata == nullptr || metadata->op_name.empty() ? Json() : Json(metadata->op_name)}};
}

// Adds the collectives and their participants; each distinct list of groups appears once.
void AddCollectives(const CommReport& report, Json& all) {
  Json participants = Json::array(), rows = Json::array();
  std::unordered_map<const Participants*, int64_t> indices;
  for (const std::unique_ptr<Participants>& each : report.facts->collectives().participants.all()) {
    indices[each.get()] = std::ssize(participants);
    participants.push_back(
        {{"axis", each->axis}, {"pattern", each->pattern}, {"groups", each->groups}, {"pairs", each->pairs}});
  }
  for (const CommRow& row : report.rows) rows.push_back(RowJson(row, indices.at(row.use->participants)));
  all["collectives"] = std::move(rows);
  all["participants"] = std::move(participants);
}

Json LoopsJson(const CommReport& report) {
  static constexpr const char* kSources[] = {"given", "inferred", "assumed", "unknown"};
  Json loops = Json::array();
  for (const Instruction* loop : report.loops) {
    const TripCount& trips = report.facts->executions().TripCountOfLoop(*loop);
    loops.push_back({{"name", loop->name},
                     {"computation", loop->parent->name},
                     {"times", report.facts->executions().Of(*loop)},
                     {"trip_count", trips.known() ? Json(trips.count) : Json()},
                     {"from", kSources[static_cast<size_t>(trips.from)]}});
  }
  return loops;
}

}  // namespace

std::string CommJson(const CommReport& report) {
  const DeviceGrid& grid = report.facts->devices().grid;
  Json mesh = Json::array();
  for (const DeviceMesh::Axis& axis : report.facts->collectives().mesh->Axes())
    mesh.push_back({{"name", axis.name}, {"size", axis.size}, {"stride", axis.stride}});
  Json all = {{"version", kJsonVersion},
              {"file", report.file},
              {"devices", DevicesJson(report.facts->devices())},
              {"devices_per_node", report.devices_per_node},
              {"mesh", std::move(mesh)}};
  AddCollectives(report, all);
  all["by_kind"] = TotalsJson(report, CommKey::kKind);
  all["by_axis"] = TotalsJson(report, CommKey::kAxis);
  all["by_line"] = TotalsJson(report, CommKey::kLine);
  all["by_device"] = TrafficJson(TrafficByDevice(report.facts->collectives(), std::min(grid.count(), kMaxDevices)));
  all["loops"] = LoopsJson(report);
  if (report.matrix) {
    TrafficMatrix matrix = MatrixOf(report.facts->collectives(), grid.count());
    all["matrix"] = Json::array();
    for (int64_t from = 0; from < matrix.size; ++from)
      all["matrix"].push_back(std::vector(&matrix.At(from, 0), &matrix.At(from, 0) + matrix.size));
  }
  all["assumptions"] = report.assumptions;
  return JsonText(all, 1);
}

}  // namespace shoal::internal
