#include "present/reports/show_json.h"

#include "analyze/facts/source_lines.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"
#include "present/reports/json.h"

namespace shoal::internal {
namespace {

using ItemKind = SkeletonItem::Kind;

constexpr int kMaxNesting = 200;  // JSON parsers limit the nesting depth
constexpr const char* kKinds[] = {"op", "start", "done", "while", "conditional", "call", "minor", "repeat"};
constexpr const char* kSources[] = {"given", "inferred", "assumed", "unknown"};

class Tree {
 public:
  explicit Tree(const ShownModule& shown) : shown_(shown) {}

  // A block that already appeared is written as its id.
  Json Block(const SkeletonBlock& block, double times, int depth) {
    auto [found, inserted] = ids_.try_emplace(&block, static_cast<int64_t>(ids_.size()));
    Json json = {{"id", found->second}};
    if (!inserted || depth > kMaxNesting) return json;
    json["hidden"] = block.hidden;
    Json& items = json["items"] = Json::array();
    for (const SkeletonItem& item : block.items) items.push_back(Item(item, times, depth));
    return json;
  }

 private:
  Json Item(const SkeletonItem& item, double times, int depth) {
    Json json = {{"kind", kKinds[static_cast<size_t>(item.kind)]}, {"times", times}};
    if (item.kind == ItemKind::kRepeat) {
      json["repeats"] = item.repeats;
      times *= static_cast<double>(item.repeats);
    }
    if (item.hlo != nullptr) AddInstruction(json, item);
    if (item.collective != nullptr) {
      const LogicalCollective& use = *item.collective;
      json["collective"] = {{"kind", Text(use.kind)},
                            {"axis", use.axis()},
                            {"groups", GroupsAsWritten(*use.hlo)},
                            {"payload_bytes", use.payload_bytes}};
    }
    if (item.kind == ItemKind::kLoop) {
      const TripCount& trips = shown_.facts.executions().TripCountOfLoop(*item.hlo);
      json["trip_count"] = {{"count", trips.count}, {"from", kSources[static_cast<size_t>(trips.from)]}};
      if (trips.counter) json["trip_count"].update({{"start", trips.counter->start}, {"step", trips.counter->step}});
      times *= static_cast<double>(trips.count);
    }
    for (size_t i = 0; i < item.blocks.size(); ++i)
      json["blocks"].push_back(Block(*item.blocks[i], times * ProbabilityOf(item, i), depth + 1));
    return json;
  }

  void AddInstruction(Json& json, const SkeletonItem& item) {
    const Instruction& hlo = *item.hlo;
    const Instruction& op = Unwrapped(hlo);
    const FusionWorks& works = shown_.facts.fusion_works();
    json["name"] = hlo.name;
    json["opcode"] = OpcodeTextOf(op);
    json["async"] = item.is_async || item.kind == ItemKind::kStart || item.kind == ItemKind::kDone;
    json["type"] = ToString(ItemShape(item));
    if (IsFusion(op)) json["fusion"] = works.Of(op).label;
    if (IsCustomCall(op)) json["target"] = TargetOf(op);
    if (auto cost = shown_.totals.cost_of.find(&op); cost != shown_.totals.cost_of.end())
      json.update({{"flops", std::max(cost->second.flops, 0.0)}, {"memory_bytes", cost->second.bytes()}});
    const Instruction& source = item.collective != nullptr ? *item.collective->hlo : hlo;
    const Metadata* metadata = source[kMetadata];
    if (metadata == nullptr) return;
    json["op_name"] = item.op_name.empty() ? std::string(metadata->op_name) : item.op_name;
    json["source"] = shown_.facts.sources().Of(source);
    const std::vector<SourceFrame> stack = shown_.facts.sources().StackOf(source);
    for (const SourceFrame& frame : std::span(stack).subspan(stack.size() > 1 ? 0 : stack.size()))
      json["stack"].push_back({{"file", frame.file}, {"line", frame.line}, {"function", frame.function}});
  }

  // The probability of a branch.
  double ProbabilityOf(const SkeletonItem& item, size_t branch) const {
    if (item.kind != ItemKind::kConditional) return 1;
    double total = 0;
    const std::vector<Computation*> branches = CalledComputations(*item.hlo);
    for (const Computation* one : branches) total += shown_.facts.executions().Of(*one);
    return total > 0 ? shown_.facts.executions().Of(*branches[branch]) / total : 0;
  }

  const ShownModule& shown_;
  absl::flat_hash_map<const SkeletonBlock*, int64_t> ids_;
};

}  // namespace

std::string ShowJson(const std::string& file, const ShownModule& shown, const ShownDevices& devices,
                     const std::vector<std::string>& assumptions) {
  Json totals = Json::array();
  for (const KindTotal& kind : shown.totals.kinds)
    totals.push_back({{"kind", kind.kind},
                      {"communication", kind.interest == OpCategory::kCommunication},
                      {"times", kind.times},
                      {"payload_bytes", kind.payload_bytes},
                      {"memory_bytes", kind.memory_bytes},
                      {"flops", kind.flops}});
  Json all = {{"version", kJsonVersion},
              {"file", file},
              {"module", shown.facts.module().name},
              {"devices", {{"count", devices.count}, {"from", devices.from}}},
              {"entry", Tree(shown).Block(shown.skeleton.entry(), 1, 0)},
              {"totals", std::move(totals)},
              {"assumptions", assumptions}};
  return JsonText(all);
}

}  // namespace shoal::internal
