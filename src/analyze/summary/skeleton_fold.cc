#include "analyze/summary/skeleton_fold.h"

#include <algorithm>

#include "analyze/summary/repeats.h"
#include "core/ir/source_location.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// After the number that begins at `at`.
size_t AfterNumber(std::string_view text, size_t at) {
  while (at < text.size() && IsDigit(text[at])) ++at;
  return at;
}

bool IsLightFusion(const SkeletonItem& item, FusionWorks& works) {
  if (item.hlo == nullptr || item.collective != nullptr || !item.blocks.empty()) return false;
  const Instruction& hlo = Unwrapped(*item.hlo);
  return IsFusion(hlo) && works.Of(hlo).is_minor;
}

std::string_view NameOf(const SkeletonItem& item) {
  if (!item.op_name.empty() || item.hlo == nullptr) return item.op_name;
  return OpNameOf(*item.hlo);
}

// Puts stars where the item's names, and those in its blocks, differ from those of the same item in the next round.
// Blocks are shared, so that those which change are copied. True if anything differs.
bool AddStars(SkeletonItem& item, const SkeletonItem& again, std::deque<SkeletonBlock>& blocks, int depth) {
  constexpr int kMaxDepth = 12;
  bool differs = NameOf(item) != NameOf(again);
  if (differs) item.op_name = WithWildcards(NameOf(item), NameOf(again));
  if (depth == kMaxDepth) return differs;
  for (size_t b = 0; b < std::min(item.blocks.size(), again.blocks.size()); ++b) {
    const SkeletonBlock &block = *item.blocks[b], &other = *again.blocks[b];
    if (&block == &other || block.items.size() != other.items.size()) continue;
    SkeletonBlock starred = block;
    bool any = false;
    for (size_t i = 0; i < block.items.size(); ++i)
      any |= AddStars(starred.items[i], other.items[i], blocks, depth + 1);
    if (!any) continue;
    differs = true;
    item.blocks[b] = &blocks.emplace_back(std::move(starred));
  }
  return differs;
}

std::vector<SkeletonItem> OneRound(std::span<SkeletonItem> items, const Repeat& repeat,
                                   std::deque<SkeletonBlock>& blocks) {
  std::vector<SkeletonItem> round;
  for (size_t i = repeat.start; i < repeat.start + repeat.period; ++i) {
    AddStars(items[i], items[i + repeat.period], blocks, 0);
    round.push_back(std::move(items[i]));
  }
  return round;
}

SkeletonItem Folded(std::span<SkeletonItem> items, const Repeat& repeat, std::deque<SkeletonBlock>& blocks) {
  SkeletonBlock block;
  block.items = OneRound(items, repeat, blocks);
  FoldRepeats(block.items, blocks);
  Measure(block);
  SkeletonItem item;
  item.kind = SkeletonItem::Kind::kRepeat;
  item.repeats = static_cast<int64_t>(repeat.count);
  item.hash = Mixed(block.hash, repeat.count);
  item.lines = block.lines + (repeat.period > 1 ? 1 : 0);
  blocks.push_back(std::move(block));
  item.blocks = {&blocks.back()};
  return item;
}

}  // namespace

void FoldRepeats(std::vector<SkeletonItem>& items, std::deque<SkeletonBlock>& blocks) {
  // What has been folded may stand in a row again: a few rounds find that.
  for (int round = 0; round < 4; ++round) {
    std::vector<uint64_t> hashes;
    std::vector<int64_t> lines;
    for (const SkeletonItem& item : items) {
      hashes.push_back(item.hash);
      lines.push_back(std::min<int64_t>(item.lines, 1000));  // so that sums stay small
    }
    const std::vector<Repeat> repeats = FindRepeats(hashes, lines);
    if (repeats.empty()) return;
    std::vector<SkeletonItem> folded;
    size_t at = 0;
    for (const Repeat& repeat : repeats) {
      std::move(items.begin() + at, items.begin() + repeat.start, std::back_inserter(folded));
      folded.push_back(Folded(items, repeat, blocks));
      at = repeat.end();
    }
    std::move(items.begin() + at, items.end(), std::back_inserter(folded));
    items = std::move(folded);
  }
}

void FoldMinorOps(std::vector<SkeletonItem>& items, std::deque<SkeletonBlock>& blocks, FusionWorks& works) {
  constexpr size_t kMin = 2;
  std::erase_if(items, [&](const SkeletonItem& item) {
    return item.kind == SkeletonItem::Kind::kDone && IsLightFusion(item, works);
  });
  std::vector<SkeletonItem> gathered;
  for (size_t i = 0, end = 0; i < items.size(); i = end) {
    end = i;
    while (end < items.size() && IsLightFusion(items[end], works)) ++end;
    if (end - i < kMin) {
      end = std::max(end, i + 1);
      std::move(items.begin() + i, items.begin() + end, std::back_inserter(gathered));
      continue;
    }
    SkeletonBlock& block = blocks.emplace_back();
    std::move(items.begin() + i, items.begin() + end, std::back_inserter(block.items));
    Measure(block);
    SkeletonItem item;
    item.kind = SkeletonItem::Kind::kMinor;
    item.blocks = {&block};
    item.hash = Mixed(block.hash, 1);
    gathered.push_back(std::move(item));
  }
  items = std::move(gathered);
}

void Measure(SkeletonBlock& block) {
  block.hash = Mixed(0, block.items.size());
  block.lines = 0;
  for (const SkeletonItem& item : block.items) {
    block.hash = Mixed(block.hash, item.hash);
    block.lines = std::min(block.lines + item.lines, kMaxLines);
  }
}

std::string WithWildcards(std::string_view text, std::string_view other) {
  std::string result;
  size_t j = 0;
  for (size_t i = 0; i < text.size();) {
    if (!IsDigit(text[i])) {
      result += text[i++];
      ++j;
      continue;
    }
    const size_t end = AfterNumber(text, i), other_end = AfterNumber(other, std::min(j, other.size()));
    const std::string_view number = text.substr(i, end - i);
    const bool same = j <= other.size() && other.substr(j, other_end - j) == number;
    result += same ? number : "*";
    i = end;
    j = other_end;
  }
  return result;
}

uint64_t EquivalenceHash(const Instruction& hlo, const LogicalCollective* collective, bool with_operands, const Module& module,
                   FusionWorks& works) {
  uint64_t hash = Mixed(0, static_cast<uint64_t>(hlo.opcode));
  hash = Mixed(hash, reinterpret_cast<uintptr_t>(&hlo.shape().bare()));
  if (with_operands)
    for (const Instruction* operand : hlo.operands)
      hash = Mixed(hash, reinterpret_cast<uintptr_t>(&operand->shape().bare()));
  hash = Mixed(hash, HashIgnoringNumbers(OpNameOf(hlo)));
  if (const Metadata* metadata = hlo[kMetadata]; metadata != nullptr)
    hash = Mixed(hash, std::hash<std::string>()(FormatSourceLocation(*metadata, module.stack_frames)));
  if (collective != nullptr) return Mixed(hash, reinterpret_cast<uintptr_t>(collective->participants));
  return Mixed(hash, std::hash<std::string>()(LabelOf(Unwrapped(hlo), works)));
}

uint64_t Mixed(uint64_t hash, uint64_t more) {
  hash ^= more + 0x9e3779b97f4a7c15 + (hash << 6) + (hash >> 2);
  hash *= 0xff51afd7ed558ccd;
  return hash ^ (hash >> 32);
}

uint64_t HashIgnoringNumbers(std::string_view text) {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < text.size();) {
    const bool number = IsDigit(text[i]);
    hash = (hash ^ static_cast<uint8_t>(number ? '0' : text[i])) * 1099511628211u;
    i = number ? AfterNumber(text, i) : i + 1;
  }
  return hash;
}

}  // namespace shoal::internal
