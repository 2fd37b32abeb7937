// The sections about collectives: their traffic, participants and device groups.
#include <map>
#include <set>

#include "analyze/cost/overlap.h"
#include "analyze/facts/traffic.h"
#include "analyze/facts/wire_bytes.h"
#include "core/ops/op.h"
#include "present/page/page_module.h"

namespace shoal::internal {
namespace {

// Maximum number of device ids listed in total. For further groups, the page stores only the size.
constexpr size_t kMaxListed = 400'000;

void AddCollectives(const PageModule& page, StringTable& strings, PageSection& section) {
  const ModuleCollectives& collectives = page.facts->collectives();
  NodeSplits splits(page.devices_per_node);
  std::map<const Participants*, uint32_t> indices;
  for (const auto& each : page.facts->collectives().participants.all())
    indices.emplace(each.get(), static_cast<uint32_t>(indices.size()));
  struct Row {
    const LogicalCollective& use;
    NodeSplit split;
    Overlap overlap;
  };
  std::vector<Row> rows;
  for (size_t i = 0; i < collectives.all.size(); ++i)
    rows.push_back({collectives.all[i], splits.Of(collectives.all[i]), page.facts->overlaps()[i]});
  section.AddOf("hlo", rows, [&](const Row& row) { return page.ids(*row.use.hlo); });
  section.AddOf("start", rows, [&](const Row& row) { return page.ids(*row.use.start); });
  section.AddOf("done", rows, [&](const Row& row) { return page.ids(*row.use.done); });
  section.AddOf("kind", rows, [&](const Row& row) { return strings(Text(row.use.kind)); });
  section.AddOf("participants", rows, [&](const Row& row) { return indices.at(row.use.participants); });
  section.AddOf("nodes", rows, [&](const Row& row) { return static_cast<uint32_t>(row.split.nodes); });
  section.Add("group", GroupEquivalentCollectives(page.facts->collectives()));
  section.AddOf("times", rows, [](const Row& row) { return row.use.times; });
  section.AddOf("payload", rows, [](const Row& row) { return static_cast<double>(row.use.payload_bytes); });
  section.AddOf("ring", rows, [](const Row& row) { return static_cast<double>(row.use.MaxRingBytes()); });
  section.AddOf("direct", rows, [](const Row& row) { return static_cast<double>(row.use.MaxWireBytes()); });
  section.AddOf("inter_node_ring", rows, [](const Row& row) { return row.split.between_ring; });
  section.AddOf("inter_node_direct", rows, [](const Row& row) { return row.split.between_direct; });
  section.AddOf("overlap", rows,
                [](const Row& row) { return row.use.async() ? static_cast<int32_t>(row.overlap.instructions) : -1; });
  section.AddOf("overlap_flops", rows, [](const Row& row) { return row.overlap.flops; });
}

// The groups and pairs of each entry of the participant table, concatenated.
void AddParticipants(const PageModule& page, StringTable& strings, PageSection& section) {
  std::vector<uint32_t> axis, pattern, size, group_end, member_end, member, pair_end, source, target;
  size_t listed = 0;
  for (const auto& each : page.facts->collectives().participants.all()) {
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

// The bytes that one member of a group sends to another per byte of payload, with direct routing: from the first member
// to another, from another to the first, and between two others. The page computes the traffic matrices from these.
void AddPairRules(const PageModule& page, StringTable& strings, PageSection& section) {
  std::set<std::pair<Opcode, int64_t>> rules;
  for (const LogicalCollective& use : page.facts->collectives().all)
    for (const DeviceGroup& group : use.groups()) rules.insert({use.kind, std::ssize(group)});
  using Rule = std::pair<Opcode, int64_t>;
  section.AddOf("kind", rules, [&](const Rule& rule) { return strings(Text(rule.first)); });
  section.AddOf("members", rules, [](const Rule& rule) { return static_cast<uint32_t>(rule.second); });
  section.AddOf("from_first", rules, [](const Rule& rule) { return PairBytes(rule.first, rule.second, 1, 0, 1); });
  section.AddOf("to_first", rules, [](const Rule& rule) { return PairBytes(rule.first, rule.second, 1, 1, 0); });
  section.AddOf("between", rules, [](const Rule& rule) { return PairBytes(rule.first, rule.second, 1, 1, 2); });
}

}  // namespace

void AddCommSections(const PageModule& page, const std::string& prefix, StringTable& strings, PageSections& sections) {
  AddCollectives(page, strings, sections.Add(prefix + "comm"));
  AddParticipants(page, strings, sections.Add(prefix + "participants"));
  AddPairRules(page, strings, sections.Add(prefix + "pair_rules"));
}

}  // namespace shoal::internal
