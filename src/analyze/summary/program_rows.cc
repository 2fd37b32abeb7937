#include "analyze/summary/program_rows.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "analyze/cost/cost.h"
#include "analyze/facts/instruction_ids.h"
#include "analyze/facts/logical_collective.h"
#include "analyze/summary/fusion_work.h"
#include "analyze/summary/skeleton_fold.h"
#include "analyze/summary/repeats.h"
#include "core/base/strings.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

using RowKind = ProgramRow::Kind;

// A row of the tree. Nodes refer to their children by index, since a module may nest too deep for recursion.
struct Node {
  RowKind kind = RowKind::kOp;
  bool is_minor = false, has_no_work = false;
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
  explicit RowBuilder(const ModuleFacts& facts)
      : module_(facts.module()), sources_(facts.sources()), executions_(facts.executions()), ids_(facts.ids()), works_(facts.fusion_works()) {
    for (const LogicalCollective& collective : facts.collectives().all) {
      starts_[collective.start] = &collective;
      if (collective.async()) dones_[collective.done] = &collective;
    }
    for (const InstructionCost& instruction : facts.cost().instructions) with_cost_.insert(instruction.hlo);
  }

  std::vector<ProgramRow> Rows() {
    const std::vector<const Computation*>& order = executions_.calls().ReachableFromEntry();
    for (auto computation = order.rbegin(); computation != order.rend(); ++computation)
      if (!IsCostedByCaller(**computation, executions_.calls())) blocks_[*computation] = MakeBlock(**computation);
    return Flatten(BlockOf(module_.entry));
  }

 private:
  Nodes BlockOf(const Computation* computation) {
    auto found = blocks_.find(computation);
    return found == blocks_.end() ? Nodes() : found->second;
  }

  uint32_t Add(Node node) {
    if (node.kind != RowKind::kMinor && node.kind != RowKind::kNoWork)  // all rows of minor ops have equal hashes
      for (uint32_t child : node.children) node.hash = CombineHash(node.hash, nodes_[child].hash);
    for (uint32_t child : node.children) node.lines = std::min(node.lines + nodes_[child].lines, kMaxLines);
    nodes_.push_back(std::move(node));
    return static_cast<uint32_t>(nodes_.size() - 1);
  }

  Nodes MakeBlock(const Computation& computation) {
    Nodes block, without_work;
    for (const Instruction* hlo : computation.instructions) {
      const uint32_t node = MakeNode(*hlo);
      (nodes_[node].has_no_work ? without_work : block).push_back(node);
    }
    block = FoldMinorNodes(block);
    Fold(block);
    if (!without_work.empty()) block.insert(block.begin(), FoldNodes(RowKind::kNoWork, without_work));
    return block;
  }

  uint32_t MakeNode(const Instruction& hlo) {
    Node node;
    node.members = {ids_(hlo)};
    const LogicalCollective* collective = CollectiveAt(hlo, node.kind);
    AddCallees(hlo, node);
    // An async-start that wraps a single op counts as this op.
    const bool is_one_op = node.children.empty() || (node.kind == RowKind::kStart && &Unwrapped(hlo) != &hlo);
    const bool is_plain_op = collective == nullptr && is_one_op;
    node.has_no_work =
        collective == nullptr && node.children.empty() && node.kind != RowKind::kDone && !with_cost_.contains(&hlo);
    node.is_minor = is_plain_op && (IsMinorFusion(hlo) || OpCategoryOf(hlo, works_) == OpCategory::kNone);
    node.hash = CombineHash(static_cast<uint64_t>(node.kind),
                            EquivalenceHash(hlo, collective, node.children.empty(), sources_, works_));
    if (node.kind == RowKind::kLoop)
      if (const TripCount* trips = executions_.FindTripCount(hlo))
        node.hash = CombineHash(node.hash, static_cast<uint64_t>(trips->count));
    return Add(std::move(node));
  }

  const LogicalCollective* CollectiveAt(const Instruction& hlo, RowKind& kind) const {
    if (auto collective = starts_.find(&hlo); collective != starts_.end()) {
      if (collective->second->async()) kind = RowKind::kStart;
      return collective->second;
    }
    if (auto collective = dones_.find(&hlo); collective != dones_.end()) {
      kind = RowKind::kDone;
      return collective->second;
    }
    if (IsAsyncStart(hlo)) kind = RowKind::kStart;
    if (IsAsyncDone(hlo)) kind = RowKind::kDone;
    return nullptr;
  }

  bool IsMinorFusion(const Instruction& hlo) {
    const Instruction& op = Unwrapped(hlo);
    return IsFusion(op) && works_.Of(op).is_minor;
  }

  // Adds each computation that `hlo` calls as children of `node`, if `hlo` is the first caller.
  void AddCallees(const Instruction& hlo, Node& node) {
    if (!CallsComputations(hlo)) return;
    const CallKind call = CallKindOf(hlo);
    const auto add = [&](const Computation* callee) {
      auto found = blocks_.find(callee);
      if (found == blocks_.end() || FirstCallerOf(*callee) != &hlo) return;
      if (call == CallKind::kBranch || (call == CallKind::kLoop && callee != BodyOf(hlo))) {
        Node callee_row;
        callee_row.kind = RowKind::kPart;
        callee_row.label = callee->name;
        callee_row.children = found->second;
        node.children.push_back(Add(std::move(callee_row)));
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

  // Ignores dones, since a done refers to the same computation as its start.
  const Instruction* FirstCallerOf(const Computation& callee) const {
    for (const Instruction* caller : executions_.calls().CallersOf(callee))
      if (!IsAsyncDone(*caller) && executions_.Of(*caller) > 0) return caller;
    return nullptr;
  }

  // Returns the most frequent kinds of ops as text: "7 dynamic-slice, reduce, …".
  std::string MostFrequent(const Nodes& nodes) {
    std::map<std::string, int64_t> kinds;
    for (uint32_t node : nodes) ++kinds[LabelOfNode(nodes_[node])];
    std::vector<std::pair<std::string, int64_t>> sorted(kinds.begin(), kinds.end());
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    constexpr size_t kMax = 3;
    std::string label;
    for (size_t i = 0; i < sorted.size() && i < kMax; ++i)
      StrAppend(&label, i > 0 ? ", " : "", sorted[i].second > 1 ? StrCat(sorted[i].second, " ") : std::string(),
                sorted[i].first);
    return sorted.size() > kMax ? label + ", …" : label;
  }
  std::string LabelOfNode(const Node& node) {
    const Instruction& op = Unwrapped(ids_[node.members.front()]);
    return IsFusion(op) ? works_.Of(op).label : LabelOf(op, works_);
  }

  uint32_t FoldNodes(RowKind kind, const Nodes& nodes) {
    Node node;
    node.kind = kind;
    node.label = StrCat(nodes.size(), kind == RowKind::kMinor ? " minor: " : " without work: ", MostFrequent(nodes));
    node.children = nodes;
    node.hash = static_cast<uint64_t>(kind);
    return Add(std::move(node));
  }

  Nodes FoldMinorNodes(const Nodes& block) {
    Nodes folded;
    for (size_t i = 0, end = 0; i < block.size(); i = end) {
      end = i;
      while (end < block.size() && nodes_[block[end]].is_minor) ++end;
      if (end - i >= 2) {
        folded.push_back(FoldNodes(RowKind::kMinor, Nodes(block.begin() + i, block.begin() + end)));
      } else {
        folded.push_back(block[i]);
        end = i + 1;
      }
    }
    return folded;
  }

  void Fold(Nodes& block) {
    constexpr int kMaxPasses = 4;  // several passes, since folded rows may repeat in turn
    for (int pass = 0; pass < kMaxPasses; ++pass) {
      std::vector<uint64_t> hashes;
      std::vector<int64_t> lines;
      for (uint32_t node : block) {
        hashes.push_back(nodes_[node].hash);
        lines.push_back(std::min<int64_t>(nodes_[node].lines, 1000));
      }
      const std::vector<Repeat> repeats = FindRepeats(hashes, lines);
      if (repeats.empty()) return;
      Nodes folded;
      size_t next = 0;
      for (const Repeat& repeat : repeats) {
        folded.insert(folded.end(), block.begin() + next, block.begin() + repeat.start);
        folded.push_back(FoldRepeat(block, repeat));
        next = repeat.end();
      }
      folded.insert(folded.end(), block.begin() + next, block.end());
      block = std::move(folded);
    }
  }

  uint32_t FoldRepeat(const Nodes& block, const Repeat& repeat) {
    for (size_t i = 0; i < repeat.period; ++i)
      for (size_t p = 1; p < repeat.count; ++p)
        Merge(block[repeat.start + i], block[repeat.start + p * repeat.period + i]);
    Nodes period(block.begin() + repeat.start, block.begin() + repeat.start + repeat.period);
    if (repeat.period == 1) return period[0];
    Fold(period);
    Node node;
    node.kind = RowKind::kRepeat;
    node.repeats = static_cast<int64_t>(repeat.count);
    node.hash = CombineHash(static_cast<uint64_t>(RowKind::kRepeat), repeat.count);
    node.children = std::move(period);
    return Add(std::move(node));
  }

  // Makes the node `into` also represent the instructions of the equivalent node `other`.
  void Merge(uint32_t into, uint32_t other) {
    std::vector<std::pair<uint32_t, uint32_t>> stack = {{into, other}};
    while (!stack.empty()) {
      const auto [a, b] = stack.back();
      stack.pop_back();
      Node &to = nodes_[a], &from = nodes_[b];
      to.members.insert(to.members.end(), from.members.begin(), from.members.end());
      if (HaveEqualHashes(to.children, from.children)) {
        for (size_t i = 0; i < to.children.size(); ++i) stack.push_back({to.children[i], from.children[i]});
      } else {
        to.children.insert(to.children.end(), from.children.begin(), from.children.end());
        if (to.kind == RowKind::kMinor || to.kind == RowKind::kNoWork)
          to.label = StrCat(to.children.size(), to.kind == RowKind::kMinor ? " minor: " : " without work: ",
                            MostFrequent(to.children));
      }
    }
  }
  bool HaveEqualHashes(const Nodes& a, const Nodes& b) const {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](uint32_t x, uint32_t y) { return nodes_[x].hash == nodes_[y].hash; });
  }

  std::vector<ProgramRow> Flatten(const Nodes& top) {
    std::vector<ProgramRow> rows;
    std::vector<std::pair<uint32_t, int32_t>> stack;  // nodes with parent rows; the last is the next to visit
    for (auto node = top.rbegin(); node != top.rend(); ++node) stack.push_back({*node, -1});
    while (!stack.empty()) {
      const auto [index, parent] = stack.back();
      stack.pop_back();
      Node& node = nodes_[index];
      const auto row = static_cast<int32_t>(rows.size());
      for (auto child = node.children.rbegin(); child != node.children.rend(); ++child) stack.push_back({*child, row});
      rows.push_back({node.kind, parent, node.repeats, std::move(node.label), std::move(node.members)});
    }
    return rows;
  }

  const Module& module_;
  const SourceLines& sources_;
  const ExecutionCounts& executions_;
  const InstructionIds& ids_;
  const FusionWorks& works_;
  absl::flat_hash_map<const Instruction*, const LogicalCollective*> starts_, dones_;
  absl::flat_hash_set<const Instruction*> with_cost_;
  std::unordered_map<const Computation*, Nodes> blocks_;
  std::vector<Node> nodes_;
};

}  // namespace

std::vector<ProgramRow> ProgramRowsOf(const ModuleFacts& facts) {
  if (facts.module().entry == nullptr) return {};
  return RowBuilder(facts).Rows();
}

}  // namespace shoal::internal
