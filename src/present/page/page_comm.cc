// The sections about collectives: each with what it moves, whom it participants, and the groups behind that.
#include <map>
#include <set>

#include "analyze/cost/overlap.h"
#include "analyze/facts/traffic.h"
#include "analyze/facts/wire_bytes.h"
#include "core/ir/source_location.h"
#include "core/ops/op.h"
#include "present/page/page_module.h"

namespace shoal::internal {
namespace {

// So many device ids are listed; what participants more is told by its size alone.
constexpr size_t kMaxListed = 400'000;

void AddUses(const PageModule& page, StringTable& strings, PageSection& section) {
  Overlaps overlaps(page.cost, page.executions);
  NodeSplits splits(page.devices_per_node);
  std::map<const Participants*, uint32_t> numbers;
  for (const auto& each : page.collectives.memberships.all())
    numbers.emplace(each.get(), static_cast<uint32_t>(numbers.size()));
  struct Row {
    const LogicalCollective& use;
    NodeSplit split;
    Overlap beside;
  };
  std::vector<Row> rows;
  for (const LogicalCollective& use : page.collectives.all)
    rows.push_back({use, splits.Of(use), overlaps.Of(*use.start, *use.done)});
  section.AddOf("hlo", rows, [&](const Row& row) { return page.ids(*row.use.hlo); });
  section.AddOf("start", rows, [&](const Row& row) { return page.ids(*row.use.start); });
  section.AddOf("done", rows, [&](const Row& row) { return page.ids(*row.use.done); });
  section.AddOf("kind", rows, [&](const Row& row) { return strings(Text(row.use.kind)); });
  section.AddOf("participants", rows, [&](const Row& row) { return numbers.at(row.use.participants); });
  section.AddOf("nodes", rows, [&](const Row& row) { return static_cast<uint32_t>(row.split.nodes); });
  section.Add("group", GroupEquivalentCollectives(page.collectives));
  section.AddOf("times", rows, [](const Row& row) { return row.use.times; });
  section.AddOf("payload", rows, [](const Row& row) { return static_cast<double>(row.use.payload_bytes); });
  section.AddOf("ring", rows, [](const Row& row) { return static_cast<double>(row.use.MostRingBytes()); });
  section.AddOf("direct", rows, [](const Row& row) { return static_cast<double>(row.use.MostWireBytes()); });
  section.AddOf("inter_node_ring", rows, [](const Row& row) { return row.split.between_ring; });
  section.AddOf("inter_node_direct", rows, [](const Row& row) { return row.split.between_direct; });
  section.AddOf("overlap", rows,
                [](const Row& row) { return row.use.async() ? static_cast<int32_t>(row.beside.instructions) : -1; });
  section.AddOf("overlap_flops", rows, [](const Row& row) { return row.beside.flops; });
}

// Groups and pairs of each membership, one after the other.
void AddJoins(const PageModule& page, StringTable& strings, PageSection& section) {
  std::vector<uint32_t> axis, pattern, size, group_end, member_end, member, pair_end, source, target;
  size_t listed = 0;
  for (const auto& each : page.collectives.memberships.all()) {
    axis.push_back(strings(each->axis));
    pattern.push_back(strings(each->pattern));
    size.push_back(static_cast<uint32_t>(each->group_size));
    for (const DeviceGroup& group : each->groups) listed += group.size();
    listed += 2 * each->pairs.size();
    if (listed <= kMaxListed) {
      for (const DeviceGroup& group : each->groups) {
        for (int64_t device : group) member.push_back(static_cast<uint32_t>(device));
        member_end.push_back(static_cast<uint32_t>(member.size()));
      }
      for (auto [from, to] : each->pairs) {
        source.push_back(static_cast<uint32_t>(from));
        target.push_back(static_cast<uint32_t>(to));
      }
    }
    group_end.push_back(static_cast<uint32_t>(member_end.size()));
    pair_end.push_back(static_cast<uint32_t>(source.size()));
  }
  section.Add("axis", axis);
  section.Add("pattern", pattern);
  section.Add("size", size);
  section.Add("group_end", group_end);
  section.Add("member_end", member_end);
  section.Add("member", member);
  section.Add("pair_end", pair_end);
  section.Add("source", source);
  section.Add("target", target);
}

// What one member sends to another the direct way, for each byte of payload: from the first of the group, to it, and
// between others. The page makes matrices of these.
void AddPairRules(const PageModule& page, StringTable& strings, PageSection& section) {
  std::set<std::pair<Opcode, int64_t>> wanted;
  for (const LogicalCollective& use : page.collectives.all)
    for (const DeviceGroup& group : use.groups()) wanted.insert({use.kind, std::ssize(group)});
  using Rule = std::pair<Opcode, int64_t>;
  section.AddOf("kind", wanted, [&](const Rule& rule) { return strings(Text(rule.first)); });
  section.AddOf("members", wanted, [](const Rule& rule) { return static_cast<uint32_t>(rule.second); });
  section.AddOf("from_first", wanted, [](const Rule& rule) { return PairBytes(rule.first, rule.second, 1, 0, 1); });
  section.AddOf("to_first", wanted, [](const Rule& rule) { return PairBytes(rule.first, rule.second, 1, 1, 0); });
  section.AddOf("between", wanted, [](const Rule& rule) { return PairBytes(rule.first, rule.second, 1, 1, 2); });
}

}  // namespace

void AddCommSections(const PageModule& page, const std::string& prefix, StringTable& strings, PageSections& sections) {
  AddUses(page, strings, sections.Add(prefix + "comm"));
  AddJoins(page, strings, sections.Add(prefix + "participants"));
  AddPairRules(page, strings, sections.Add(prefix + "pair_rules"));
}

}  // namespace shoal::internal
