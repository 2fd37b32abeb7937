// The sections about collectives: each with what it moves, whom it joins, and the groups behind that.
#include <map>
#include <set>

#include "analysis/overlap.h"
#include "analysis/traffic.h"
#include "collectives/wire_bytes.h"
#include "ir/source_place.h"
#include "ops/op.h"
#include "report/page_module.h"

namespace shoal {
namespace {

// So many device ids are listed; what joins more is told by its size alone.
constexpr size_t kMostListed = 400'000;

void AddUses(const PageModule& page, StringTable& strings, PageSection& section) {
  Overlaps overlaps(page.cost, page.executions);
  NodeSplits splits(page.devices_per_node);
  std::map<const Membership*, uint32_t> numbers;
  for (const auto& each : page.collectives.memberships.all())
    numbers.emplace(each.get(), static_cast<uint32_t>(numbers.size()));
  std::vector<uint32_t> hlo, start, done, kind, joins, nodes;
  std::vector<double> times, payload, ring, direct, across_ring, across_direct, overlap_flops;
  std::vector<int32_t> overlap;
  for (const CollectiveUse& use : page.collectives.uses) {
    const NodeSplit split = splits.Of(use);
    const Overlap beside = overlaps.Of(*use.start, *use.done);
    hlo.push_back(page.ids(*use.hlo));
    start.push_back(page.ids(*use.start));
    done.push_back(page.ids(*use.done));
    kind.push_back(strings(Text(use.kind)));
    joins.push_back(numbers.at(use.joins));
    nodes.push_back(static_cast<uint32_t>(split.nodes));
    times.push_back(use.times);
    payload.push_back(static_cast<double>(use.payload_bytes));
    ring.push_back(static_cast<double>(use.MostRingBytes()));
    direct.push_back(static_cast<double>(use.MostWireBytes()));
    across_ring.push_back(split.between_ring);
    across_direct.push_back(split.between_direct);
    overlap.push_back(use.async() ? static_cast<int32_t>(beside.instructions) : -1);
    overlap_flops.push_back(beside.flops);
  }
  section.Add("hlo", hlo);
  section.Add("start", start);
  section.Add("done", done);
  section.Add("kind", kind);
  section.Add("joins", joins);
  section.Add("nodes", nodes);
  section.Add("alike", AlikeCollectives(page.collectives));
  section.Add("times", times);
  section.Add("payload", payload);
  section.Add("ring", ring);
  section.Add("direct", direct);
  section.Add("across_ring", across_ring);
  section.Add("across_direct", across_direct);
  section.Add("overlap", overlap);
  section.Add("overlap_flops", overlap_flops);
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
    if (listed <= kMostListed) {
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
  for (const CollectiveUse& use : page.collectives.uses)
    for (const DeviceGroup& group : use.groups()) wanted.insert({use.kind, std::ssize(group)});
  std::vector<uint32_t> kind, members;
  std::vector<double> from_first, to_first, between;
  for (const auto& [opcode, count] : wanted) {
    kind.push_back(strings(Text(opcode)));
    members.push_back(static_cast<uint32_t>(count));
    from_first.push_back(PairBytes(opcode, count, 1, 0, 1));
    to_first.push_back(PairBytes(opcode, count, 1, 1, 0));
    between.push_back(PairBytes(opcode, count, 1, 1, 2));
  }
  section.Add("kind", kind);
  section.Add("members", members);
  section.Add("from_first", from_first);
  section.Add("to_first", to_first);
  section.Add("between", between);
}

}  // namespace

void AddCommSections(const PageModule& page, const std::string& prefix, StringTable& strings, PageSections& sections) {
  AddUses(page, strings, sections.Add(prefix + "comm"));
  AddJoins(page, strings, sections.Add(prefix + "joins"));
  AddPairRules(page, strings, sections.Add(prefix + "pair_rules"));
}

}  // namespace shoal
