#include "present/reports/comm_totals.h"

#include <algorithm>

#include "core/ops/op.h"

namespace shoal::internal {
namespace {

std::string KeyOf(const CommRow& row, CommKey key) {
  if (key == CommKey::kKind) return std::string(Text(row.use->kind));
  if (key == CommKey::kAxis) return row.use->participants->axis;
  return row.line.empty() ? "(none given)" : row.line;
}

}  // namespace

void CommTotal::Add(const CommRow& row) {
  const LogicalCollective& use = *row.use;
  ++collectives;
  times += use.times;
  payload += use.times * static_cast<double>(use.payload_bytes);
  ring += use.times * static_cast<double>(row.ring_bytes);
  direct += use.times * static_cast<double>(row.direct_bytes);
  between_ring += use.times * row.split.between_ring;
  between_direct += use.times * row.split.between_direct;
}

void CommTotal::Add(const CommTotal& other) {
  collectives += other.collectives;
  times += other.times;
  payload += other.payload;
  ring += other.ring;
  direct += other.direct;
  between_ring += other.between_ring;
  between_direct += other.between_direct;
}

std::vector<CommTotal> CommTotals(const CommReport& report, CommKey key) {
  std::map<std::string, CommTotal> totals;
  for (const CommRow& row : report.rows) totals[KeyOf(row, key)].Add(row);
  std::vector<CommTotal> sorted;
  for (auto& [name, total] : totals) {
    total.name = name;
    sorted.push_back(std::move(total));
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const CommTotal& a, const CommTotal& b) { return a.direct > b.direct; });
  return sorted;
}

}  // namespace shoal::internal
