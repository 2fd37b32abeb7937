#include "analyze/summary/program_rows.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "analyze/summary/skeleton_fold.h"
#include "analyze/summary/repeats.h"
#include "core/base/strings.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

using RowKind = ProgramRow::Kind;

// Nodes refer to others by number: a text may nest deeper than a stack of ours.
struct Node {
  RowKind kind = RowKind::kOp;
  bool is_minor = false, is_quiet = false;
  int64_t repeats = 1;
  std::string label;
  std::vector<uint32_t> members;
  std::vector<uint32_t> children;
  uint64_t hash = 0;
  int64_t lines = 1;
};
using Nodes = std::vector<uint32_t>;

class RowBuilder {
 public:
  RowBuilder(const Module& module, const ExecutionCounts& executions, const ModuleCollectives& collectives,
             const ModuleCost& cost, const InstructionIds& ids, FusionWorks& works)
      : module_(module), executions_(executions), ids_(ids), works_(works) {
    for (const LogicalCollective& use : collectives.all) {
      starts_[use.start] = &use;
      if (use.async()) dones_[use.done] = &use;
    }
    for (const InstructionCost& one : cost.instructions) timed_.insert(one.hlo);
  }

  std::vector<ProgramRow> Rows() {
    const std::vector<const Computation*>& order = executions_.calls().ReachableFromEntry();
    for (auto computation = order.rbegin(); computation != order.rend(); ++computation)
      if (!IsCostedByCaller(**computation, executions_.calls())) blocks_[*computation] = MakeBlock(**computation);
    return Flattened(BlockOf(module_.entry));
  }

 private:
  Nodes BlockOf(const Computation* computation) {
    auto found = blocks_.find(computation);
    return found == blocks_.end() ? Nodes() : found->second;
  }

  uint32_t Add(Node node) {
    if (node.kind != RowKind::kMinor && node.kind != RowKind::kNoWork)  // what exactly is light makes no difference
      for (uint32_t child : node.children) node.hash = Mixed(node.hash, nodes_[child].hash);
    for (uint32_t child : node.children) node.lines = std::min(node.lines + nodes_[child].lines, kMaxLines);
    nodes_.push_back(std::move(node));
    return static_cast<uint32_t>(nodes_.size() - 1);
  }

  Nodes MakeBlock(const Computation& computation) {
    Nodes block, quiet;
    for (const Instruction* hlo : computation.instructions) {
      const uint32_t node = MakeNode(*hlo);
      (nodes_[node].is_quiet ? quiet : block).push_back(node);
    }
    block = GatherLightOnes(block);
    Fold(block);
    if (!quiet.empty()) block.insert(block.begin(), Gathered(RowKind::kNoWork, quiet));
    return block;
  }

  uint32_t MakeNode(const Instruction& hlo) {
    Node node;
    node.members = {ids_(hlo)};
    const LogicalCollective* use = UseOf(hlo, node.kind);
    AddParts(hlo, node);
    // An async op that is one op inside is that op.
    const bool is_one_op = node.children.empty() || (node.kind == RowKind::kStart && &Unwrapped(hlo) != &hlo);
    const bool by_itself = use == nullptr && is_one_op;
    node.is_quiet = use == nullptr && node.children.empty() && node.kind != RowKind::kDone && !timed_.contains(&hlo);
    node.is_minor = by_itself && (IsLightFusion(hlo) || OpCategoryOf(hlo, works_) == OpCategory::kNone);
    node.hash = Mixed(static_cast<uint64_t>(node.kind), EquivalenceHash(hlo, use, node.children.empty(), module_, works_));
    if (node.kind == RowKind::kLoop)
      if (const TripCount* trips = executions_.FindTrips(hlo))
        node.hash = Mixed(node.hash, static_cast<uint64_t>(trips->count));
    return Add(std::move(node));
  }

  const LogicalCollective* UseOf(const Instruction& hlo, RowKind& kind) const {
    if (auto use = starts_.find(&hlo); use != starts_.end()) {
      if (use->second->async()) kind = RowKind::kStart;
      return use->second;
    }
    if (auto use = dones_.find(&hlo); use != dones_.end()) {
      kind = RowKind::kDone;
      return use->second;
    }
    if (IsAsyncStart(hlo)) kind = RowKind::kStart;
    if (IsAsyncDone(hlo)) kind = RowKind::kDone;
    return nullptr;
  }

  bool IsLightFusion(const Instruction& hlo) {
    const Instruction& op = Unwrapped(hlo);
    return IsFusion(op) && works_.Of(op).is_minor;
  }

  // The computations that an instruction runs as a whole, under the first one that does.
  void AddParts(const Instruction& hlo, Node& node) {
    if (!CallsComputations(hlo)) return;
    const CallKind call = CallKindOf(hlo);
    const auto add = [&](const Computation* callee) {
      auto found = blocks_.find(callee);
      if (found == blocks_.end() || FirstCallerOf(*callee) != &hlo) return;
      if (call == CallKind::kBranch || (call == CallKind::kLoop && callee != BodyOf(hlo))) {
        Node part;
        part.kind = RowKind::kPart;
        part.label = callee->name;
        part.children = found->second;
        node.children.push_back(Add(std::move(part)));
      } else {
        node.children.insert(node.children.end(), found->second.begin(), found->second.end());
      }
    };
    if (call == CallKind::kLoop) add(BodyOf(hlo));
    for (const Computation* callee : CalledComputations(hlo))
      if (call != CallKind::kLoop || callee != BodyOf(hlo)) add(callee);
    if (call == CallKind::kLoop) node.kind = RowKind::kLoop;
    if (call == CallKind::kBranch) node.kind = RowKind::kConditional;
    if (call == CallKind::kOnce && !node.children.empty() && node.kind == RowKind::kOp) node.kind = RowKind::kCall;
  }

  // A done names the computation of its start, too.
  const Instruction* FirstCallerOf(const Computation& callee) const {
    for (const Instruction* caller : executions_.calls().CallersOf(callee))
      if (!IsAsyncDone(*caller) && executions_.Of(*caller) > 0) return caller;
    return nullptr;
  }

  // "7 dynamic-slice, reduce, …": those of which there are most.
  std::string MostOf(const Nodes& nodes) {
    std::map<std::string, int64_t> kinds;
    for (uint32_t node : nodes) ++kinds[WordsOf(nodes_[node])];
    std::vector<std::pair<std::string, int64_t>> sorted(kinds.begin(), kinds.end());
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    constexpr size_t kMax = 3;
    std::string label;
    for (size_t i = 0; i < sorted.size() && i < kMax; ++i)
      StrAppend(&label, i > 0 ? ", " : "", sorted[i].second > 1 ? StrCat(sorted[i].second, " ") : std::string(),
                sorted[i].first);
    return sorted.size() > kMax ? label + ", …" : label;
  }
  std::string WordsOf(const Node& node) {
    const Instruction& op = Unwrapped(ids_[node.members.front()]);
    return IsFusion(op) ? works_.Of(op).label : LabelOf(op, works_);
  }

  uint32_t Gathered(RowKind kind, const Nodes& nodes) {
    Node node;
    node.kind = kind;
    node.label = StrCat(nodes.size(), kind == RowKind::kMinor ? " light: " : " without work: ", MostOf(nodes));
    node.children = nodes;
    node.hash = static_cast<uint64_t>(kind);
    return Add(std::move(node));
  }

  Nodes GatherLightOnes(const Nodes& block) {
    Nodes gathered;
    for (size_t i = 0, end = 0; i < block.size(); i = end) {
      end = i;
      while (end < block.size() && nodes_[block[end]].is_minor) ++end;
      if (end - i >= 2) {
        gathered.push_back(Gathered(RowKind::kMinor, Nodes(block.begin() + i, block.begin() + end)));
      } else {
        gathered.push_back(block[i]);
        end = i + 1;
      }
    }
    return gathered;
  }

  void Fold(Nodes& block) {
    constexpr int kRounds = 4;  // what has been folded may stand in a row again
    for (int round = 0; round < kRounds; ++round) {
      std::vector<uint64_t> hashes;
      std::vector<int64_t> lines;
      for (uint32_t node : block) {
        hashes.push_back(nodes_[node].hash);
        lines.push_back(std::min<int64_t>(nodes_[node].lines, 1000));
      }
      const std::vector<Repeat> repeats = FindRepeats(hashes, lines);
      if (repeats.empty()) return;
      Nodes folded;
      size_t at = 0;
      for (const Repeat& repeat : repeats) {
        folded.insert(folded.end(), block.begin() + at, block.begin() + repeat.start);
        folded.push_back(Folded(block, repeat));
        at = repeat.end();
      }
      folded.insert(folded.end(), block.begin() + at, block.end());
      block = std::move(folded);
    }
  }

  uint32_t Folded(const Nodes& block, const Repeat& repeat) {
    for (size_t i = 0; i < repeat.period; ++i)
      for (size_t round = 1; round < repeat.count; ++round)
        Merge(block[repeat.start + i], block[repeat.start + round * repeat.period + i]);
    Nodes round(block.begin() + repeat.start, block.begin() + repeat.start + repeat.period);
    if (repeat.period == 1) return round[0];
    Fold(round);
    Node node;
    node.kind = RowKind::kRepeat;
    node.repeats = static_cast<int64_t>(repeat.count);
    node.hash = Mixed(static_cast<uint64_t>(RowKind::kRepeat), repeat.count);
    node.children = std::move(round);
    return Add(std::move(node));
  }

  // The node also stands for what `other`, which looks the same, stands for.
  void Merge(uint32_t into, uint32_t other) {
    std::vector<std::pair<uint32_t, uint32_t>> todo = {{into, other}};
    while (!todo.empty()) {
      const auto [a, b] = todo.back();
      todo.pop_back();
      Node &to = nodes_[a], &from = nodes_[b];
      to.members.insert(to.members.end(), from.members.begin(), from.members.end());
      if (AreAlike(to.children, from.children)) {
        for (size_t i = 0; i < to.children.size(); ++i) todo.push_back({to.children[i], from.children[i]});
      } else {
        to.children.insert(to.children.end(), from.children.begin(), from.children.end());
        if (to.kind == RowKind::kMinor || to.kind == RowKind::kNoWork)
          to.label = StrCat(to.children.size(), to.kind == RowKind::kMinor ? " light: " : " without work: ",
                            MostOf(to.children));
      }
    }
  }
  bool AreAlike(const Nodes& a, const Nodes& b) const {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](uint32_t x, uint32_t y) { return nodes_[x].hash == nodes_[y].hash; });
  }

  std::vector<ProgramRow> Flattened(const Nodes& top) {
    std::vector<ProgramRow> rows;
    std::vector<std::pair<uint32_t, int32_t>> todo;  // and the row it stands under; the next one last
    for (auto node = top.rbegin(); node != top.rend(); ++node) todo.push_back({*node, -1});
    while (!todo.empty()) {
      const auto [number, parent] = todo.back();
      todo.pop_back();
      Node& node = nodes_[number];
      const auto row = static_cast<int32_t>(rows.size());
      for (auto child = node.children.rbegin(); child != node.children.rend(); ++child) todo.push_back({*child, row});
      rows.push_back({node.kind, parent, node.repeats, std::move(node.label), std::move(node.members)});
    }
    return rows;
  }

  const Module& module_;
  const ExecutionCounts& executions_;
  const InstructionIds& ids_;
  FusionWorks& works_;
  absl::flat_hash_map<const Instruction*, const LogicalCollective*> starts_, dones_;
  absl::flat_hash_set<const Instruction*> timed_;
  std::unordered_map<const Computation*, Nodes> blocks_;
  std::vector<Node> nodes_;
};

}  // namespace

std::vector<ProgramRow> ProgramRowsOf(const Module& module, const ExecutionCounts& executions,
                                      const ModuleCollectives& collectives, const ModuleCost& cost,
                                      const InstructionIds& ids, FusionWorks& works) {
  if (module.entry == nullptr) return {};
  return RowBuilder(module, executions, collectives, cost, ids, works).Rows();
}

}  // namespace shoal::internal
