#include "analyze/summary/skeleton_fold.h"

#include <algorithm>

#include "analyze/summary/repeats.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Returns the end of the number that starts at `begin`.
size_t NumberEnd(std::string_view text, size_t begin) {
  while (begin < text.size() && IsDigit(text[begin])) ++begin;
  return begin;
}

bool IsMinorFusion(const SkeletonItem& item, const FusionWorks& works) {
  if (item.hlo == nullptr || item.collective != nullptr || !item.blocks.empty()) return false;
  const Instruction& hlo = Unwrapped(*item.hlo);
  return IsFusion(hlo) && works.Of(hlo).is_minor;
}

std::string_view NameOf(const SkeletonItem& item) {
  if (!item.op_name.empty() || item.hlo == nullptr) return item.op_name;
  return OpNameOf(*item.hlo);
}

// Replaces numbers by wildcards in the op_names of the item and of all items in its blocks, if they differ from `next`,
// the same item in the next period. Copies changed blocks, since blocks are shared. Returns true if any name differs.
bool AddWildcards(SkeletonItem& item, const SkeletonItem& next, std::deque<SkeletonBlock>& blocks, int depth) {
  constexpr int kMaxDepth = 12;
  bool differs = NameOf(item) != NameOf(next);
  if (differs) item.op_name = WithWildcards(NameOf(item), NameOf(next));
  if (depth == kMaxDepth) return differs;
  for (size_t b = 0; b < std::min(item.blocks.size(), next.blocks.size()); ++b) {
    const SkeletonBlock &block = *item.blocks[b], &other = *next.blocks[b];
    if (&block == &other || block.items.size() != other.items.size()) continue;
    SkeletonBlock with_wildcards = block;
    bool any_differs = false;
    for (size_t i = 0; i < block.items.size(); ++i)
      any_differs |= AddWildcards(with_wildcards.items[i], other.items[i], blocks, depth + 1);
    if (!any_differs) continue;
    differs = true;
    item.blocks[b] = &blocks.emplace_back(std::move(with_wildcards));
  }
  return differs;
}

std::vector<SkeletonItem> FirstPeriod(std::span<SkeletonItem> items, const Repeat& repeat,
                                      std::deque<SkeletonBlock>& blocks) {
  std::vector<SkeletonItem> period;
  for (size_t i = repeat.start; i < repeat.start + repeat.period; ++i) {
    AddWildcards(items[i], items[i + repeat.period], blocks, 0);
    period.push_back(std::move(items[i]));
  }
  return period;
}

SkeletonItem FoldRepeat(std::span<SkeletonItem> items, const Repeat& repeat, std::deque<SkeletonBlock>& blocks) {
  SkeletonBlock block;
  block.items = FirstPeriod(items, repeat, blocks);
  FoldRepeats(block.items, blocks);
  Measure(block);
  SkeletonItem item;
  item.kind = SkeletonItem::Kind::kRepeat;
  item.repeats = static_cast<int64_t>(repeat.count);
  item.hash = CombineHash(block.hash, repeat.count);
  item.lines = block.lines + (repeat.period > 1 ? 1 : 0);
  blocks.push_back(std::move(block));
  item.blocks = {&blocks.back()};
  return item;
}

}  // namespace

void FoldRepeats(std::vector<SkeletonItem>& items, std::deque<SkeletonBlock>& blocks) {
  // Folded items may repeat in turn, so run a few passes.
  for (int pass = 0; pass < 4; ++pass) {
    std::vector<uint64_t> hashes;
    std::vector<int64_t> lines;
    for (const SkeletonItem& item : items) {
      hashes.push_back(item.hash);
      lines.push_back(std::min<int64_t>(item.lines, 1000));  // avoids overflow of sums
    }
    const std::vector<Repeat> repeats = FindRepeats(hashes, lines);
    if (repeats.empty()) return;
    std::vector<SkeletonItem> folded;
    size_t next = 0;
    for (const Repeat& repeat : repeats) {
      std::move(items.begin() + next, items.begin() + repeat.start, std::back_inserter(folded));
      folded.push_back(FoldRepeat(items, repeat, blocks));
      next = repeat.end();
    }
    std::move(items.begin() + next, items.end(), std::back_inserter(folded));
    items = std::move(folded);
  }
}

void FoldMinorOps(std::vector<SkeletonItem>& items, std::deque<SkeletonBlock>& blocks, const FusionWorks& works) {
  constexpr size_t kMin = 2;
  std::erase_if(items, [&](const SkeletonItem& item) {
    return item.kind == SkeletonItem::Kind::kDone && IsMinorFusion(item, works);
  });
  std::vector<SkeletonItem> result;
  for (size_t i = 0, end = 0; i < items.size(); i = end) {
    end = i;
    while (end < items.size() && IsMinorFusion(items[end], works)) ++end;
    if (end - i < kMin) {
      end = std::max(end, i + 1);
      std::move(items.begin() + i, items.begin() + end, std::back_inserter(result));
      continue;
    }
    SkeletonBlock& block = blocks.emplace_back();
    std::move(items.begin() + i, items.begin() + end, std::back_inserter(block.items));
    Measure(block);
    SkeletonItem item;
    item.kind = SkeletonItem::Kind::kMinor;
    item.blocks = {&block};
    item.hash = CombineHash(block.hash, 1);
    result.push_back(std::move(item));
  }
  items = std::move(result);
}

void Measure(SkeletonBlock& block) {
  block.hash = CombineHash(0, block.items.size());
  block.lines = 0;
  for (const SkeletonItem& item : block.items) {
    block.hash = CombineHash(block.hash, item.hash);
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
    const size_t end = NumberEnd(text, i), other_end = NumberEnd(other, std::min(j, other.size()));
    const std::string_view number = text.substr(i, end - i);
    const bool is_equal = j <= other.size() && other.substr(j, other_end - j) == number;
    result += is_equal ? number : "*";
    i = end;
    j = other_end;
  }
  return result;
}

uint64_t EquivalenceHash(const Instruction& hlo, const LogicalCollective* collective, bool with_operands,
                         const SourceLines& sources, const FusionWorks& works) {
  uint64_t hash = CombineHash(0, static_cast<uint64_t>(hlo.opcode));
  hash = CombineHash(hash, reinterpret_cast<uintptr_t>(&hlo.shape().bare()));
  if (with_operands)
    for (const Instruction* operand : hlo.operands)
      hash = CombineHash(hash, reinterpret_cast<uintptr_t>(&operand->shape().bare()));
  hash = CombineHash(hash, HashIgnoringNumbers(OpNameOf(hlo)));
  hash = CombineHash(hash, std::hash<std::string>()(sources.Of(hlo)));
  if (collective != nullptr) return CombineHash(hash, reinterpret_cast<uintptr_t>(collective->participants));
  return CombineHash(hash, std::hash<std::string>()(LabelOf(Unwrapped(hlo), works)));
}

uint64_t CombineHash(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15 + (hash << 6) + (hash >> 2);
  hash *= 0xff51afd7ed558ccd;
  return hash ^ (hash >> 32);
}

uint64_t HashIgnoringNumbers(std::string_view text) {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < text.size();) {
    const bool number = IsDigit(text[i]);
    hash = (hash ^ static_cast<uint8_t>(number ? '0' : text[i])) * 1099511628211u;
    i = number ? NumberEnd(text, i) : i + 1;
  }
  return hash;
}

}  // namespace shoal::internal
