#include "analyze/summary/skeleton.h"

#include <algorithm>

#include "analyze/summary/skeleton_fold.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"

namespace shoal::internal {

using ItemKind = SkeletonItem::Kind;

std::string_view OpNameOf(const Instruction& hlo) {
  const Metadata* metadata = hlo[kMetadata];
  if (metadata == nullptr) return {};
  const std::string_view name = metadata->op_name;
  const size_t bracket = name.find('[');
  const bool has_parameters =
      bracket != std::string_view::npos && name.back() == ']' && name.find('=', bracket) != std::string_view::npos;
  return has_parameters ? name.substr(0, bracket) : name;
}

class Skeleton::Builder {
 public:
  Builder(Skeleton& skeleton, const ModuleFacts& facts, const SkeletonOptions& options)
      : skeleton_(skeleton), module_(facts.module()), sources_(facts.sources()), executions_(facts.executions()), works_(facts.fusion_works()),
        options_(options) {
    empty_block_ = &skeleton_.blocks_.emplace_back();
    for (const LogicalCollective& collective : facts.collectives().all) {
      starts_[collective.start] = &collective;
      if (collective.async()) dones_[collective.done] = &collective;
    }
  }

  void Build() {
    const std::vector<const Computation*>& order = executions_.calls().ReachableFromEntry();
    // Visit callees first, so that the block of a callee exists before its callers use it, unless calls form a cycle.
    for (auto computation = order.rbegin(); computation != order.rend(); ++computation)
      if (HasBlock(**computation)) blocks_[*computation] = &MakeBlock(**computation);
    skeleton_.entry_ = BlockOf(module_.entry);
  }

 private:
  // True for computations that get a block. Fused computations get a block on request, per-element functions never.
  bool HasBlock(const Computation& computation) const {
    const auto callers = executions_.calls().CallersOf(computation);
    return callers.empty() || std::any_of(callers.begin(), callers.end(), [&](const Instruction* caller) {
             return CallKindOf(*caller) != CallKind::kElements && (!IsFused(*caller) || options_.inside_fusions);
           });
  }
  static bool IsFused(const Instruction& caller) { return IsFusion(caller); }
  bool IsInsideFusion(const Computation& computation) const {
    const auto callers = executions_.calls().CallersOf(computation);
    return !callers.empty() && IsFused(*callers[0]);
  }

  const SkeletonBlock* BlockOf(const Computation* computation) {
    auto found = blocks_.find(computation);
    return found != blocks_.end() ? found->second : empty_block_;
  }

  const SkeletonBlock& MakeBlock(const Computation& computation) {
    SkeletonBlock block;
    const bool inside_fusion = IsInsideFusion(computation);
    for (const Instruction* hlo : computation.instructions) AddTo(block, *hlo, inside_fusion);
    for (SkeletonItem& item : block.items) Complete(item);
    if (options_.ops == ShownOps::kImportant && !inside_fusion)
      FoldMinorOps(block.items, skeleton_.blocks_, works_);
    FoldRepeats(block.items, skeleton_.blocks_);
    Measure(block);
    skeleton_.blocks_.push_back(std::move(block));
    return skeleton_.blocks_.back();
  }

  void AddTo(SkeletonBlock& block, const Instruction& hlo, bool inside_fusion) {
    SkeletonItem item;
    item.hlo = &hlo;
    bool is_shown = IsShown(hlo, inside_fusion);
    if (auto collective = starts_.find(&hlo); collective != starts_.end()) {
      item.collective = collective->second;
      item.kind = collective->second->async() ? ItemKind::kStart : ItemKind::kOp;
      is_shown = options_.ops != ShownOps::kComputation;
    } else if (collective = dones_.find(&hlo); collective != dones_.end()) {
      item.collective = collective->second;
      item.kind = ItemKind::kDone;
      is_shown = options_.ops != ShownOps::kComputation;
      if (is_shown && MergeIntoStart(block, *collective->second->start)) return;
    } else {
      AddBlocks(item);
      if (item.blocks.empty() && IsAsyncStart(hlo)) item.kind = ItemKind::kStart;
      if (item.blocks.empty() && IsAsyncDone(hlo)) item.kind = ItemKind::kDone;
      if (is_shown && item.kind == ItemKind::kDone && !hlo.operands.empty() && MergeIntoStart(block, *hlo.operands[0])) return;
      if (!item.blocks.empty()) is_shown = AreBlocksShown(item);
      if (is_shown && item.kind == ItemKind::kCall && CanInline(item)) item = item.blocks[0]->items[0];
    }
    if (is_shown)
      block.items.push_back(std::move(item));
    else
      block.hidden += Hidden(hlo, item);
  }

  // If the last item is `start`, makes this item represent the whole async op and returns true.
  bool MergeIntoStart(SkeletonBlock& block, const Instruction& start) const {
    if (options_.ops == ShownOps::kAll) return false;
    if (block.items.empty() || block.items.back().kind != ItemKind::kStart || block.items.back().hlo != &start)
      return false;
    block.items.back().kind = ItemKind::kOp;
    block.items.back().is_async = true;
    return true;
  }

  bool IsShown(const Instruction& hlo, bool inside_fusion) {
    if (options_.ops == ShownOps::kAll) return true;
    if (inside_fusion) return Info(hlo.opcode).op_class != OpClass::kStructure;
    const OpCategory category = OpCategoryOf(hlo, works_);
    if (category == OpCategory::kNone) return false;
    if (options_.ops == ShownOps::kCommunication) return category == OpCategory::kCommunication;
    return options_.ops == ShownOps::kImportant || category == OpCategory::kComputation;
  }

  void AddBlocks(SkeletonItem& item) {
    const Instruction& hlo = *item.hlo;
    if (!CallsComputations(hlo)) return;
    if (IsAsyncChain(hlo) && !IsAsyncStart(hlo)) return;
    const CallKind call = CallKindOf(hlo);
    if (call == CallKind::kLoop) {
      item.kind = ItemKind::kLoop;
      item.blocks = {BlockOf(BodyOf(hlo))};
    } else if (call == CallKind::kBranch) {
      item.kind = ItemKind::kConditional;
      for (const Computation* branch : CalledComputations(hlo)) item.blocks.push_back(BlockOf(branch));
    } else if (call == CallKind::kOnce && !IsCustomCall(hlo) &&
               (!IsFused(hlo) || options_.inside_fusions) && &Unwrapped(hlo) == &hlo) {
      item.kind = ItemKind::kCall;
      for (const Computation* callee : CalledComputations(hlo)) item.blocks.push_back(BlockOf(callee));
    }
  }

  bool AreBlocksShown(const SkeletonItem& item) {
    if (options_.ops == ShownOps::kAll) return true;
    if (IsFused(*item.hlo)) return IsShown(*item.hlo, false);
    const bool empty = std::all_of(item.blocks.begin(), item.blocks.end(),
                                   [](const SkeletonBlock* block) { return block->items.empty(); });
    if (!empty) return true;
    return options_.ops == ShownOps::kImportant && item.kind != ItemKind::kCall && HiddenIn(item) > 0;
  }

  // True for a call whose computation has only one item. This item then replaces the call.
  bool CanInline(const SkeletonItem& item) const {
    return options_.ops != ShownOps::kAll && IsCall(*item.hlo) && item.blocks.size() == 1 &&
           item.blocks[0]->items.size() == 1;
  }

  static int64_t HiddenIn(const SkeletonItem& item) {
    int64_t hidden = 0;
    for (const SkeletonBlock* block : item.blocks) hidden = std::min(hidden + block->hidden, kMaxLines);
    return hidden;
  }
  static int64_t Hidden(const Instruction& hlo, const SkeletonItem& item) {
    if (!item.blocks.empty()) return HiddenIn(item);
    return Info(hlo.opcode).op_class == OpClass::kStructure ? 0 : 1;
  }

  // Computes the hash and the number of lines of an item.
  void Complete(SkeletonItem& item) {
    if (item.hash != 0 || item.hlo == nullptr) return;  // inlined from another block
    const Instruction& hlo = *item.hlo;
    uint64_t hash = CombineHash(static_cast<uint64_t>(item.kind),
                                EquivalenceHash(hlo, item.collective, item.blocks.empty(), sources_, works_));
    if (item.kind == ItemKind::kLoop) hash = CombineHash(hash, static_cast<uint64_t>(executions_.TripCountOfLoop(hlo).count));
    item.lines = item.kind == ItemKind::kConditional ? 0 : 1;
    for (const SkeletonBlock* block : item.blocks) {
      hash = CombineHash(hash, block->hash);
      const int64_t heading = item.kind == ItemKind::kConditional ? 1 : 0;
      item.lines = std::min(item.lines + heading + std::max<int64_t>(block->lines, 1), kMaxLines);
    }
    item.hash = hash;
  }

  Skeleton& skeleton_;
  const Module& module_;
  const SourceLines& sources_;
  const ExecutionCounts& executions_;
  const FusionWorks& works_;
  const SkeletonOptions& options_;
  const SkeletonBlock* empty_block_ = nullptr;
  absl::flat_hash_map<const Instruction*, const LogicalCollective*> starts_, dones_;
  absl::flat_hash_map<const Computation*, const SkeletonBlock*> blocks_;
};

Skeleton::Skeleton(const ModuleFacts& facts, const SkeletonOptions& options) {
  Builder(*this, facts, options).Build();
}

}  // namespace shoal::internal
